"""Versions by subject, id, content and reference.

Made for tens of thousands of schemas in a few megabytes: versions with the same content share their
definition, and an index holds the version itself, or a dict where several meet under one key.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Generic, NamedTuple, TypeVar

import msgspec

from . import subjects
from .identity import guid_of
from .model import Definition
from .records import Record, SchemaRecord, StoredSchema


class SchemaVersion(msgspec.Struct, frozen=True, gc=False):
    """One version of one subject."""

    subject: str
    version: int
    id: int
    guid: bytes
    definition: Definition
    deleted: bool = False
    timestamp_ms: int = 0
    """Of its record; 0 when unknown."""


class Note(NamedTuple):
    """One line for the log: a record that was not taken as it came."""

    event: str
    facts: Mapping[str, str | int]


class SchemaIndex:
    """Every version there is.

    Invariants, which ``check`` asserts: a subject's versions ascend; all of an id's versions in one
    context have one text; no id is above its context's ``id_max``; live versions with references
    are in ``referencing``, others are not.
    """

    def __init__(self) -> None:
        self._subjects: dict[str, list[SchemaVersion]] = {}
        self._contexts: dict[str, _Context] = {}
        self._references: _Index[tuple[str, int]] = _Index()
        self._id_max: dict[str, int] = {}

    def __eq__(self, other: object) -> bool:
        """The same versions; when they were written does not matter."""
        if not isinstance(other, SchemaIndex):
            return NotImplemented
        return self._facts() == other._facts()

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        count = sum(map(len, self._subjects.values()))
        return f"<SchemaIndex [{len(self._subjects)} subjects, {count} versions]>"

    def versions(self, subject: str) -> Sequence[SchemaVersion]:
        """All versions of the subject, ascending, soft-deleted ones too."""
        return self._subjects.get(subject, ())

    def version(self, subject: str, version: int) -> SchemaVersion | None:
        """That version, soft-deleted or not."""
        held = self._subjects.get(subject, [])
        place = bisect_left(held, version, key=_VERSION)
        return held[place] if place < len(held) and held[place].version == version else None

    def latest(self, subject: str) -> SchemaVersion | None:
        """The highest version that is not deleted."""
        return next((v for v in reversed(self.versions(subject)) if not v.deleted), None)

    def subject_names(self) -> Iterable[str]:
        """Every subject with a version of whatever kind, in no order."""
        return self._subjects.keys()

    def has_subjects(self, scope: str | None, *, deleted: bool = False) -> bool:
        """Is there a version in *scope*: a subject, a context or (None) everywhere?

        *deleted* counts soft-deleted versions.
        """
        return any(
            deleted or not version.deleted
            for subject in self.subjects_in(scope)
            for version in self._subjects[subject]
        )

    def subjects_in(self, scope: str | None) -> list[str]:
        """Subjects of a context, or of all (None), or the subject itself; sorted."""
        if scope is not None and not subjects.is_context(scope):
            return [scope] if scope in self._subjects else []
        return sorted(name for name in self._subjects if _covers(scope, name))

    def with_id(self, context: str, schema_id: int) -> Sequence[SchemaVersion]:
        """Versions that have the id in the context, in the order in which they came."""
        held = self._contexts.get(context)
        return held.by_id.get(schema_id) if held else ()

    def with_guid(self, context: str, guid: bytes) -> Sequence[SchemaVersion]:
        """Versions with exactly this content in the context, in the order in which they came."""
        held = self._contexts.get(context)
        return held.by_guid.get(guid) if held else ()

    def id_max(self, context: str) -> int:
        """The highest id that the context has ever given; 0 before the first."""
        return self._id_max.get(context, 0)

    def id_max_by_context(self) -> Mapping[str, int]:
        """``id_max`` of every context that has given an id."""
        return self._id_max

    def contexts(self) -> Iterable[str]:
        """Contexts with versions, in no order."""
        return self._contexts.keys()

    def referencing(self, subject: str, version: int) -> Sequence[SchemaVersion]:
        """Live versions that reference this one."""
        return self._references.get((subject, version))

    def records(self) -> Iterator[Record]:
        """The fewest records that rebuild the versions."""
        for held in self._subjects.values():
            for one in held:
                stored = StoredSchema(id=one.id, definition=one.definition, deleted=one.deleted)
                yield SchemaRecord(one.subject, one.version, stored)

    def put(
        self, subject: str, version: int, stored: StoredSchema, timestamp_ms: int
    ) -> Note | None:
        """The version is so from now on; a note, and no change, when its id has another text."""
        context = subjects.context_of(subject)
        self.raise_id_max(context, stored.id)
        index = self._contexts.get(context) or _Context(_Index(), _Index())
        other = index.by_id.first(stored.id)  # the others have the same text
        if other is not None and other.definition.text != stored.definition.text:
            facts: dict[str, str | int] = {"subject": subject, "version": version}
            return Note("schema_id_taken", facts | {"id": stored.id, "by": other.subject})
        guid = guid_of(stored.definition)
        alike = index.by_guid.first(guid)
        definition = stored.definition
        if alike is not None and alike.definition == definition:
            definition, guid = alike.definition, alike.guid
        new = SchemaVersion(
            subject=subject,
            version=version,
            id=stored.id,
            guid=guid,
            definition=definition,
            deleted=stored.deleted,
            timestamp_ms=timestamp_ms,
        )
        old = self.version(subject, version)
        if old is None:
            held = self._subjects.setdefault(subject, [])
            held.insert(bisect_left(held, version, key=_VERSION), new)
            self._enter(new)
        else:
            if old.id == new.id and new.deleted:  # a soft delete is not a new registration
                new = msgspec.structs.replace(new, timestamp_ms=old.timestamp_ms)
            self._swap(old, new)
        return None

    def remove(self, subject: str, version: int) -> None:
        """The version is gone for good; nothing when there was none."""
        old = self.version(subject, version)
        if old is None:
            return
        held = self._subjects[subject]
        held.remove(old)
        if not held:
            del self._subjects[subject]
        self._leave(old)

    def delete_up_to(self, subject: str, last: int) -> None:
        """Versions up to *last*, inclusive, are soft-deleted."""
        for one in tuple(self.versions(subject)):
            if one.version <= last and not one.deleted:
                self._swap(one, msgspec.structs.replace(one, deleted=True))

    def clear(self, scope: str | None) -> None:
        """Soft-deleted versions of a subject, a context or (None) all are gone for good."""
        for subject in self.subjects_in(scope):
            for one in tuple(self._subjects[subject]):
                if one.deleted:
                    self.remove(subject, one.version)

    def raise_id_max(self, context: str, schema_id: int) -> None:
        """The context has given *schema_id*, if not to a version that is here."""
        self._id_max[context] = max(schema_id, self.id_max(context))

    def check(self) -> None:
        """Assert the invariants."""
        for subject, held in self._subjects.items():
            assert held, subject
            numbers = [one.version for one in held]
            assert numbers == sorted(set(numbers)), subject
            context = subjects.context_of(subject)
            for one in held:
                assert one.subject == subject
                assert one.id <= self.id_max(context)
                assert one in self.with_id(context, one.id)
                assert one in self.with_guid(context, one.guid)
                assert one.guid == guid_of(one.definition)
                for target in _targets(one):
                    assert (one in self.referencing(*target)) != one.deleted
        for context, index in self._contexts.items():
            for group in index.by_id.groups():
                assert len({one.definition.text for one in group}) == 1
                assert all(one in self.versions(one.subject) for one in group), context

    def _swap(self, old: SchemaVersion, new: SchemaVersion) -> None:
        held = self._subjects[old.subject]
        held[bisect_left(held, old.version, key=_VERSION)] = new
        self._leave(old)
        self._enter(new)

    def _enter(self, one: SchemaVersion) -> None:
        context = subjects.context_of(one.subject)
        index = self._contexts.get(context)
        if index is None:
            index = self._contexts[context] = _Context(_Index(), _Index())
        index.by_id.add(one.id, one)
        index.by_guid.add(one.guid, one)
        if not one.deleted:
            for target in _targets(one):
                self._references.add(target, one)

    def _leave(self, one: SchemaVersion) -> None:
        context = subjects.context_of(one.subject)
        index = self._contexts[context]
        index.by_id.remove(one.id, one)
        index.by_guid.remove(one.guid, one)
        for target in _targets(one):
            self._references.remove(target, one)
        if not index.by_id:
            del self._contexts[context]

    def _facts(self) -> tuple[object, ...]:
        timeless = {
            subject: [msgspec.structs.replace(one, timestamp_ms=0) for one in held]
            for subject, held in self._subjects.items()
        }
        return timeless, self._id_max


_K = TypeVar("_K")
_VERSION = attrgetter("version")


class _Index(Generic[_K]):
    """Versions by a key: alone under most keys, so only where several meet there is a dict."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: dict[_K, SchemaVersion | dict[tuple[str, int], SchemaVersion]] = {}

    def __bool__(self) -> bool:
        return bool(self._held)

    def get(self, key: _K) -> tuple[SchemaVersion, ...]:
        """In the order in which they came."""
        held = self._held.get(key)
        if held is None:
            return ()
        return (held,) if isinstance(held, SchemaVersion) else tuple(held.values())

    def first(self, key: _K) -> SchemaVersion | None:
        """The one that came first."""
        held = self._held.get(key)
        return next(iter(held.values())) if isinstance(held, dict) else held

    def groups(self) -> Iterator[tuple[SchemaVersion, ...]]:
        return map(self.get, self._held)

    def add(self, key: _K, one: SchemaVersion) -> None:
        held = self._held.get(key)
        if held is None:
            self._held[key] = one
        elif isinstance(held, dict):
            held[one.subject, one.version] = one
        else:
            self._held[key] = {(v.subject, v.version): v for v in (held, one)}

    def remove(self, key: _K, one: SchemaVersion) -> None:
        held = self._held.get(key)
        if isinstance(held, dict):
            held.pop((one.subject, one.version), None)
            if len(held) == 1:
                (self._held[key],) = held.values()
        elif held is not None and (held.subject, held.version) == (one.subject, one.version):
            del self._held[key]


class _Context(NamedTuple):
    """Indexes of one context."""

    by_id: _Index[int]
    by_guid: _Index[bytes]


def _targets(one: SchemaVersion) -> Iterator[tuple[str, int]]:
    """What a version references, by full names."""
    for reference in one.definition.references:
        yield subjects.beside(one.subject, reference.subject), reference.version


def _covers(scope: str | None, subject: str) -> bool:
    return scope is None or subjects.context_of(subject) == subjects.context_of(scope)
