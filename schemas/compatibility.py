"""Compatibility levels: which earlier versions are compared, who reads whom, and what is printed.

After Confluent's ``CompatibilityChecker`` and ``SchemaValidatorBuilder``: versions are taken newest
first and the first one that does not fit ends the search; FULL tells what old readers miss before
what new ones miss, and only the latter is followed by the old schema.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from .formats.contract import Format, Incompatibility, ParsedSchema
from .settings import CompatibilityLevel, CompatibilityPolicy

OLD_SCHEMA_CHARS_MAX: Final = 10 * 1024
"""Longer texts are cut in messages, as Confluent cuts them."""

_NEW: Final = "new"
_OLD: Final = "old"
_DIFFERENT_FORMAT: Final = "Incompatible because of different schema type"

_READERS: Final = {
    CompatibilityLevel.NONE: (),
    CompatibilityLevel.BACKWARD: (_NEW,),
    CompatibilityLevel.BACKWARD_TRANSITIVE: (_NEW,),
    CompatibilityLevel.FORWARD: (_OLD,),
    CompatibilityLevel.FORWARD_TRANSITIVE: (_OLD,),
    CompatibilityLevel.FULL: (_OLD, _NEW),
    CompatibilityLevel.FULL_TRANSITIVE: (_OLD, _NEW),
}
"""Which schemas must be able to read the other's data, in the order in which they are asked."""

_TRANSITIVE: Final = frozenset(
    {
        CompatibilityLevel.BACKWARD_TRANSITIVE,
        CompatibilityLevel.FORWARD_TRANSITIVE,
        CompatibilityLevel.FULL_TRANSITIVE,
    }
)


class Earlier(msgspec.Struct, frozen=True):
    """A version that the new schema is compared with."""

    version: int
    schema: ParsedSchema


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One reason against the new schema."""

    version: int
    """The earlier version that it concerns."""
    reader: str
    """Who cannot read: "new" or "old"."""
    incompatibility: Incompatibility | None
    """None: the formats differ, so nobody can."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What comparing came to."""

    findings: tuple[Finding, ...] = ()
    """For people: paths and hints."""
    messages: tuple[str, ...] = ()
    """For the protocol: as Confluent's registry prints them."""

    @property
    def is_compatible(self) -> bool:
        """May the new schema follow the earlier ones?"""
        return not self.messages


def compare(
    new: ParsedSchema,
    earlier: Iterable[Earlier],
    *,
    by: Format,
    level: CompatibilityLevel,
    policy: CompatibilityPolicy | None = None,
) -> Verdict:
    """*new* against *earlier* versions, newest first; only as many are taken as the level needs.

    *by* is the format of *new*.
    """
    readers = _READERS[level]
    if not readers:
        return Verdict()
    for one in earlier:
        verdict = _compare_one(new, one, readers, by, lenient=policy is CompatibilityPolicy.LENIENT)
        if not verdict.is_compatible or level not in _TRANSITIVE:
            return verdict
    return Verdict()


def trailer(level: CompatibilityLevel, *, validate_fields: bool) -> str:
    """The last entry of every list of messages: under which settings they arose."""
    return f"{{validateFields: '{str(validate_fields).lower()}', compatibility: '{level}'}}"


def _compare_one(
    new: ParsedSchema, old: Earlier, readers: tuple[str, ...], by: Format, *, lenient: bool
) -> Verdict:
    if new.format is not old.schema.format:
        finding = Finding(version=old.version, reader=readers[-1], incompatibility=None)
        return Verdict(findings=(finding,), messages=(_DIFFERENT_FORMAT,))
    findings: list[Finding] = []
    messages: list[str] = []
    for reader in readers:
        sides = (new, old.schema) if reader == _NEW else (old.schema, new)
        reasons = by.incompatibilities(reader=sides[0], writer=sides[1], lenient=lenient)
        writer = _OLD if reader == _NEW else _NEW
        messages += [reason.told(reader=reader, writer=writer) for reason in reasons]
        findings += [
            Finding(version=old.version, reader=reader, incompatibility=reason)
            for reason in reasons
        ]
        if reasons and reader == readers[-1]:
            messages += _old_schema(old)
    return Verdict(findings=tuple(findings), messages=tuple(messages))


def _old_schema(old: Earlier) -> list[str]:
    text = old.schema.canonical
    if len(text) <= OLD_SCHEMA_CHARS_MAX:
        shown = f"{{oldSchema: '{text}'}}"
    else:
        shown = f"{{oldSchema: <truncated> '{text[:OLD_SCHEMA_CHARS_MAX]}...'}}"
    return [f"{{oldSchemaVersion: {old.version}}}", shown]
