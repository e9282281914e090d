"""Is this schema registered already? After Confluent's ``lookUpSchemaUnderSubject``."""

from collections.abc import Iterable
from itertools import islice
from typing import Final

import msgspec

from .. import subjects
from ..contracts import (
    VERSION_PROPERTY,
    canonical_metadata,
    canonical_rule_set,
    merged_metadata,
    merged_rule_set,
    property_of,
    with_version,
    without_version,
)
from ..errors import InvalidSchemaRefused, SchemaNotFound, SubjectNotFound
from ..formats.contract import ParsedSchema
from ..identity import guid_of
from ..index import SchemaVersion
from ..model import Definition, Metadata, Reference, RuleSet, SchemaFormat
from ..parsing import SchemaParser
from ..settings import Config
from ..state import RegistryState
from ..version_numbers import LATEST

MEANINGS_MAX: Final = 100
"""Versions of a subject that are compared by meaning, the newest first; contents always are."""


class LookupRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A schema as a client sends it."""

    text: str
    """Empty: that of the latest version, with the metadata or rules given here."""
    format: SchemaFormat = SchemaFormat.AVRO
    references: tuple[Reference, ...] = ()
    """A version of -1 means the latest."""
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None
    normalize: bool = False
    """The subject's config may ask for it as well."""

    @property
    def definition(self) -> Definition:
        """What is asked for, metadata and rules in their one spelling."""
        return Definition(
            text=self.text,
            format=self.format,
            references=self.references,
            metadata=canonical_metadata(self.metadata),
            rule_set=canonical_rule_set(self.rule_set),
        )


def look_up(
    state: RegistryState,
    parser: SchemaParser,
    subject: str,
    request: LookupRequest,
    *,
    deleted: bool = False,
) -> SchemaVersion:
    """The version of the subject that is this schema; *deleted* finds soft-deleted ones too.

    A bare subject is looked for in the other contexts as well, as Confluent does. Raises
    InvalidSchemaRefused, SubjectNotFound, SchemaNotFound.
    """
    subject = subjects.normalized(subject)
    for name in state.namesakes(subject):
        try:
            found = _find_completed(state, parser, name, request, deleted=deleted)
        except InvalidSchemaRefused:
            if name == subject:
                raise
            continue  # references that this other context does not have
        if found is not None:
            return found
    if not state.schemas.has_subjects(subject, deleted=deleted):
        raise SubjectNotFound(subject)
    raise SchemaNotFound


def find_registered(
    state: RegistryState,
    parser: SchemaParser,
    subject: str,
    request: LookupRequest,
    *,
    schema_id: int = -1,
    version: int = 0,
) -> SchemaVersion | None:
    """The version that a registration would come to without writing anything, or None.

    Any process may ask this of its own state before it takes a registration to the writer; modes
    do not matter. *schema_id* below 0 and *version* 0 mean none given, -1 the latest.
    Raises InvalidSchemaRefused.
    """
    subject = subjects.normalized(subject)
    if state.settings.config_in_scope(subject).completes_schemas or not request.text.strip():
        return None
    latest_only = version == LATEST
    found = _find(
        state,
        parser,
        subject,
        request.definition,
        normalize=normalizes(state, subject, request),
        latest_only=latest_only,
    )
    if found is None or not (schema_id == found.id or (schema_id < 0 and version <= 0)):
        return None
    if version <= 0 or version == found.version:
        return found
    # The same schema may have been imported as several versions.
    other = state.schemas.version(subject, version)
    same = other is not None and not other.deleted and other.guid == found.guid
    return other if same and other is not None and other.id == found.id else None


def normalizes(state: RegistryState, subject: str, request: LookupRequest) -> bool:
    """Does the request, the subject's config or the server ask for normalizing?"""
    configured = state.settings.config_in_scope(subject).normalize
    if configured is None:
        configured = state.settings.defaults.normalize
    return request.normalize or configured


def completed(config: Config, definition: Definition, previous: SchemaVersion | None) -> Definition:
    """*definition* with metadata and rules from the previous version where it brings none, over
    the config's defaults and under its overrides.
    """
    earlier = previous.definition if previous else None
    metadata = definition.metadata
    if metadata is None and earlier is not None:
        metadata = earlier.metadata
    rule_set = definition.rule_set
    if rule_set is None and earlier is not None:
        rule_set = earlier.rule_set
    metadata = merged_metadata(config.default_metadata, metadata)
    rule_set = merged_rule_set(config.default_rule_set, rule_set)
    return msgspec.structs.replace(
        definition,
        metadata=merged_metadata(metadata, config.override_metadata),
        rule_set=merged_rule_set(rule_set, config.override_rule_set),
    )


def versioned(definition: Definition, version: int, *, is_asked: bool) -> Definition:
    """*definition* whose metadata tell the version, if they do so already or it *is_asked*."""
    if not is_asked and property_of(definition.metadata, VERSION_PROPERTY) is None:
        return definition
    return msgspec.structs.replace(definition, metadata=with_version(definition.metadata, version))


def same_in_meaning(
    state: RegistryState,
    parser: SchemaParser,
    new: Definition,
    parsed: ParsedSchema,
    candidates: Iterable[SchemaVersion],
) -> SchemaVersion | None:
    """The first candidate that may stand for *new*, though their contents are not identical.

    It may when *new* only lacks the version property, when it has inlined what the candidate
    references, or when another registry has stored the same schema in another spelling. The first
    MEANINGS_MAX candidates are asked, for each may have to be parsed.
    """
    for one in islice(candidates, MEANINGS_MAX):
        if _is_same(state, parser, new, parsed, one):
            return one
    return None


def _is_same(
    state: RegistryState,
    parser: SchemaParser,
    new: Definition,
    parsed: ParsedSchema,
    old: SchemaVersion,
) -> bool:
    held = old.definition
    tells_version = property_of(new.metadata, VERSION_PROPERTY) is not None
    metadata = held.metadata if tells_version else without_version(held.metadata)
    if (new.format, new.metadata, new.rule_set) != (held.format, metadata, held.rule_set):
        return False
    if new.references and new.references != held.references:
        return False
    if (new.text, new.references) == (held.text, held.references):
        return True
    rendering = "" if new.references == held.references else "resolved"
    try:
        return parser.stored(state.schemas, old).rendered(rendering) == parsed.canonical
    except InvalidSchemaRefused:
        return False


def _find_completed(
    state: RegistryState,
    parser: SchemaParser,
    subject: str,
    request: LookupRequest,
    *,
    deleted: bool,
) -> SchemaVersion | None:
    """As ``_find``, then once more as a registration would complete the schema."""
    normalize = normalizes(state, subject, request)
    definition = request.definition
    found = _find(state, parser, subject, definition, normalize=normalize, deleted=deleted)
    previous = state.schemas.latest(subject)
    if found is not None or previous is None:
        return found
    full = completed(state.settings.config_in_scope(subject), definition, previous)
    if full == definition:
        return None
    return _find(state, parser, subject, full, normalize=normalize, deleted=deleted)


def _find(
    state: RegistryState,
    parser: SchemaParser,
    subject: str,
    definition: Definition,
    *,
    normalize: bool,
    deleted: bool = False,
    latest_only: bool = False,
) -> SchemaVersion | None:
    if not definition.text.strip():
        return None
    wanted, parsed = parser.canonical(state.schemas, subject, definition, normalize=normalize)
    latest = state.schemas.latest(subject)
    if latest_only:
        candidates = [latest] if latest else []
    else:
        candidates = list(reversed(state.schemas.versions(subject)))
        candidates.sort(key=lambda version: version.deleted)  # live ones first, newest first
    guid = guid_of(wanted)
    shown = [one for one in candidates if deleted or not one.deleted]
    for one in shown:
        if one.guid == guid and one.definition.format is wanted.format:
            return one
    return same_in_meaning(state, parser, wanted, parsed, shown)
