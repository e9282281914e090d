"""The registry as a value: what all records of ``_schemas`` together say.

``replay`` takes them in order; nothing else changes the state. Commands read it and return records,
which come back by replay once the log has them, so every process that reads the log agrees.
"""

from collections.abc import Iterable, Iterator
from typing import assert_never

from . import subjects
from .index import Note, SchemaIndex
from .records import (
    ClearSubjectRecord,
    ConfigRecord,
    ContextRecord,
    DeleteSubjectRecord,
    Encoded,
    ModeRecord,
    NoopRecord,
    Record,
    SchemaRecord,
    Unreadable,
    decode,
    encode,
)
from .scopes import Defaults, SettingsTree


class RegistryState:
    """Versions (``schemas``), settings (``settings``) and contexts."""

    def __init__(self, defaults: Defaults = Defaults()) -> None:  # noqa: B008 - frozen
        self.schemas = SchemaIndex()
        self.settings = SettingsTree(defaults)
        self._declared: set[str] = set()
        self._spellings: dict[bytes, dict[bytes, None]] = {}
        """Other spellings of keys under which the topic holds values, in order."""

    def __eq__(self, other: object) -> bool:
        """The same answers to every question; how keys were spelt is none."""
        if not isinstance(other, RegistryState):
            return NotImplemented
        return (self.schemas, self.settings, self._declared) == (
            other.schemas,
            other.settings,
            other._declared,
        )

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return f"<RegistryState [{self.schemas!r}]>"

    def contexts(self) -> list[str]:
        """The default context, then the others, sorted."""
        named = self._declared | set(self.schemas.contexts())
        return [subjects.DEFAULT_CONTEXT, *sorted(named - {subjects.DEFAULT_CONTEXT})]

    def is_declared(self, context: str) -> bool:
        """Does the topic say that the context exists?"""
        return context in self._declared

    def namesakes(self, subject: str) -> Iterator[str]:
        """The subject; then, if it is a bare name, those of this name in the other contexts."""
        yield subject
        if subjects.context_of(subject) == subjects.DEFAULT_CONTEXT:
            for context in self.contexts()[1:]:
                yield subjects.qualified(context, subject)

    def encoded(self, records: Iterable[Record]) -> list[Encoded]:
        """Records as they are written, tombstones under every spelling that their key has.

        Another registry may have written the key's members in another order, or with more of them.
        Compaction compares bytes, so a tombstone under our spelling alone would leave the old value
        for ever.
        """
        written = []
        for record in records:
            key, value = encode(record)
            written.append((key, value))
            if value is None:
                written += [(spelling, None) for spelling in self._spellings.get(key, ())]
        return written

    def records(self) -> Iterator[Record]:
        """The fewest records that rebuild this state, as a compacted topic would hold them."""
        for scope, config in self.settings.configs().items():
            yield ConfigRecord(scope, config)
        for scope, mode in self.settings.modes().items():
            yield ModeRecord(scope, mode)
        for context in sorted(self._declared):
            yield ContextRecord(context)
        yield from self.schemas.records()
        if marks := self.schemas.id_max_by_context():
            yield NoopRecord(dict(marks))

    def replay_encoded(
        self, key: bytes | None, value: bytes | None, *, timestamp_ms: int = 0
    ) -> Note | None:
        """Take one record of the topic; a note when it was not taken as it came."""
        record = decode(key, value)
        if isinstance(record, Unreadable):
            return Note("record_unreadable", {"reason": record.reason, "key": record.key})
        ours, _ = encode(record)
        if key is not None and key != ours:
            spellings = self._spellings.setdefault(ours, {})
            if value:
                spellings[key] = None
            else:
                spellings.pop(key, None)
        return self.replay(record, timestamp_ms=timestamp_ms)

    def replay(self, record: Record, *, timestamp_ms: int = 0) -> Note | None:
        """Take one record; a note when it contradicts what is known and is left out."""
        match record:
            case SchemaRecord(subject, version, stored):
                if stored is not None:
                    return self.schemas.put(subject, version, stored, timestamp_ms)
                self.schemas.remove(subject, version)
            case ConfigRecord(scope, config):
                self.settings.set_config(scope, config)
            case ModeRecord(scope, mode):
                self.settings.set_mode(scope, mode)
            case DeleteSubjectRecord(subject, last):
                self.schemas.delete_up_to(subject, last)
            case ClearSubjectRecord(scope):
                self.schemas.clear(scope)
            case ContextRecord(context, exists):
                (self._declared.add if exists else self._declared.discard)(context)
            case NoopRecord(id_max):
                for context, mark in id_max.items():
                    self.schemas.raise_id_max(context, mark)
            case _:
                assert_never(record)
        return None

    def check(self) -> None:
        """Assert the invariants."""
        self.schemas.check()
