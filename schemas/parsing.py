"""From a definition to a parsed schema: references found, text understood, results kept.

Not for several threads at once: the cache has one owner.
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from . import subjects
from .errors import InvalidSchemaRefused, InvalidVersion, SchemaTooLarge
from .formats.contract import Format, InvalidSchema, ParsedSchema
from .index import SchemaIndex, SchemaVersion
from .model import Definition, Reference, SchemaFormat
from .version_numbers import LATEST

TEXT_BYTES_MAX: Final = 1_000_000
"""A record of the topic must fit into a broker's default bound of 1 MiB, with room for the rest."""
CACHED_CHARS_MAX: Final = 8_000_000
"""Texts whose parsed form is kept; a parsed schema takes some ten times its text."""
REFERENCES_MAX: Final = 1_000
"""Schemas that one schema may need, directly or not."""
REFERENCE_DEPTH_MAX: Final = 100

_ENTRY_CHARS: Final = 1_000  # what a cache entry costs beside its text


class SchemaParser:
    """Parses definitions with the references that the registry holds."""

    def __init__(
        self,
        formats: Mapping[SchemaFormat, Format],
        *,
        text_bytes_max: int = TEXT_BYTES_MAX,
        cached_chars_max: int = CACHED_CHARS_MAX,
    ) -> None:
        self._formats = formats
        self._text_bytes_max = text_bytes_max
        self._cached_chars_max = cached_chars_max
        self._cache: OrderedDict[tuple[object, ...], ParsedSchema] = OrderedDict()
        self._cached_chars = 0

    def format(self, name: SchemaFormat) -> Format:
        """The format of that name."""
        return self._formats[name]

    def parsed(
        self, schemas: SchemaIndex, subject: str, definition: Definition, *, is_new: bool = False
    ) -> ParsedSchema:
        """*definition* as *subject* would read it; new ones are held to more.

        Raises InvalidSchemaRefused with the format's reason, SchemaTooLarge.
        """
        if len(definition.text.encode()) > self._text_bytes_max:
            raise SchemaTooLarge
        try:
            texts = reference_texts(schemas, subject, definition.references, is_new=is_new)
            return self._parsed(definition.format, definition.text, texts, is_new=is_new)
        except InvalidSchema as error:
            raise InvalidSchemaRefused(
                f"Invalid schema of type {definition.format}, details: {error}"
            ) from error

    def stored(self, schemas: SchemaIndex, version: SchemaVersion) -> ParsedSchema:
        """What a stored version means. Raises InvalidSchemaRefused when it no longer parses."""
        return self.parsed(schemas, version.subject, version.definition)

    def canonical(
        self,
        schemas: SchemaIndex,
        subject: str,
        definition: Definition,
        *,
        normalize: bool = False,
        is_new: bool = False,
    ) -> tuple[Definition, ParsedSchema]:
        """*definition* as it would be stored, and parsed.

        References to the latest version (-1) name that version; normalized ones are sorted, each
        once. Raises as ``parsed``, and InvalidSchemaRefused when there is no text.
        """
        if not definition.text.strip():
            raise InvalidSchemaRefused("Empty schema")
        references = _pinned(schemas, subject, definition.references)
        if normalize:
            references = tuple(sorted(set(references), key=_by_name))
        pinned = replace(definition, references=references)
        parsed = self.parsed(schemas, subject, pinned, is_new=is_new)
        if normalize:
            parsed = parsed.normalized()
        return replace(pinned, text=parsed.canonical), parsed

    def _parsed(
        self, name: SchemaFormat, text: str, texts: Mapping[str, str], *, is_new: bool
    ) -> ParsedSchema:
        key = (name, text, is_new, *texts.items())
        cached = self._cache.get(key)
        if cached is not None:
            self._cache.move_to_end(key)
            return cached
        parsed = self._formats[name].parse(text, texts, is_new=is_new)
        self._cache[key] = parsed
        self._cached_chars += len(text) + _ENTRY_CHARS
        while self._cached_chars > self._cached_chars_max:
            (_, dropped, *_), _ = self._cache.popitem(last=False)
            assert isinstance(dropped, str)
            self._cached_chars -= len(dropped) + _ENTRY_CHARS
        return parsed


def format_named(name: str | None) -> SchemaFormat:
    """The format that ``schemaType`` names. Raises InvalidSchemaRefused."""
    try:
        return SchemaFormat.AVRO if name is None else SchemaFormat(name)
    except ValueError:
        raise InvalidSchemaRefused(f"Invalid schema type {name}") from None


def reference_texts(
    schemas: SchemaIndex, subject: str, references: tuple[Reference, ...], *, is_new: bool
) -> dict[str, str]:
    """The texts that *references* need by name, each after what it needs itself.

    What a name means in one place it means everywhere; the first meaning counts. A new schema may
    not build on deleted ones. Raises InvalidSchema when one is missing or there are too many.
    """
    texts: dict[str, str] = {}
    seen: set[str] = set()

    def collect(parent: str, wanted: tuple[Reference, ...], depth: int) -> None:
        if wanted and depth > REFERENCE_DEPTH_MAX:
            raise InvalidSchema(f"References are more than {REFERENCE_DEPTH_MAX} levels deep")
        for reference in wanted:
            if reference.name in seen:
                continue
            seen.add(reference.name)
            if len(seen) > REFERENCES_MAX:
                raise InvalidSchema(f"More than {REFERENCES_MAX} schemas are referenced")
            found = _referenced(schemas, parent, reference, deleted=not is_new)
            collect(found.subject, found.definition.references, depth + 1)
            texts[reference.name] = found.definition.text

    collect(subject, references, 1)
    return texts


def _referenced(
    schemas: SchemaIndex, parent: str, reference: Reference, *, deleted: bool
) -> SchemaVersion:
    target = subjects.beside(parent, reference.subject)
    if reference.version == LATEST:
        found = schemas.latest(target)
    else:
        found = schemas.version(target, reference.version)
    if found is None or (found.deleted and not deleted):
        raise InvalidSchema(
            f'No schema reference found for subject "{target}" and version {reference.version}'
        )
    return found


def _pinned(
    schemas: SchemaIndex, subject: str, references: tuple[Reference, ...]
) -> tuple[Reference, ...]:
    """*references* with the latest version as a number, where there is one."""
    pinned = []
    for reference in references:
        if reference.version < 1 and reference.version != LATEST:
            raise InvalidVersion(reference.version)
        latest = None
        if reference.version == LATEST:
            latest = schemas.latest(subjects.beside(subject, reference.subject))
        pinned.append(replace(reference, version=latest.version) if latest else reference)
    return tuple(pinned)


def _by_name(reference: Reference) -> tuple[str, str, int]:
    return reference.name, reference.subject, reference.version
