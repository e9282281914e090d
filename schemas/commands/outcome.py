"""What a command comes to, and what all commands ask first."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from .. import subjects
from ..errors import InvalidSubject, OperationNotPermitted, ReferenceExists
from ..index import SchemaIndex, SchemaVersion
from ..records import NoopRecord, Record
from ..state import RegistryState

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Answer]):
    """Append *records*, in order and together; then give *answer*."""

    answer: Answer
    records: tuple[Record, ...] = ()


def writable_subject(name: str) -> str:
    """*name* in its one spelling. Raises InvalidSubject."""
    if not subjects.is_valid(name):
        raise InvalidSubject(name)
    return subjects.normalized(name)


def refuse_read_only(state: RegistryState, scope: str | None) -> None:
    """Raises OperationNotPermitted when the mode in scope lets nothing be written."""
    if state.settings.mode_in_scope(scope).is_read_only:
        raise OperationNotPermitted(f"{in_context(scope)} is in read-only mode")


def in_context(scope: str | None) -> str:
    """A subject and its context as refusals name them; the default context has no name."""
    context = subjects.context_name(subjects.context_of(scope or ""))
    return f"Subject {'null' if scope is None else scope} in context {context}"


def refuse_referenced(schemas: SchemaIndex, versions: Iterable[SchemaVersion]) -> None:
    """Raises ReferenceExists for the first version that a live one references."""
    for version in versions:
        if schemas.referencing(version.subject, version.version):
            raise ReferenceExists(version.subject, version.version)


def id_marks(schemas: SchemaIndex, removed: Iterable[SchemaVersion]) -> list[Record]:
    """The record that keeps the highest ids from being given again once *removed* are gone.

    Nothing when versions that stay, or a mark written before, show the highest ids anyhow.
    """
    gone: dict[tuple[str, int], int] = {}
    for version in removed:
        key = (subjects.context_of(version.subject), version.id)
        gone[key] = gone.get(key, 0) + 1
    for (context, schema_id), count in gone.items():
        is_highest = schema_id == schemas.id_max(context)
        if is_highest and len(schemas.with_id(context, schema_id)) == count:
            return [NoopRecord(dict(schemas.id_max_by_context()))]
    return []
