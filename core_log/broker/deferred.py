"""A value that comes later, for one listener, on one thread.

The broker parks thousands of produce and fetch requests at a time. A future of asyncio schedules
each callback through the event loop and carries a context; this one calls its listener at once,
which is what lets a whole loop turn's answers leave in one write per connection.
"""

from collections.abc import Callable
from typing import Final, Generic, TypeVar

T = TypeVar("T")

_PENDING: Final = object()


class Deferred(Generic[T]):
    """Resolved once, heard by one listener; either may come first."""

    __slots__ = ("_listener", "_value")

    def __init__(self) -> None:
        self._value: T | object = _PENDING
        self._listener: Callable[[T], None] | None = None

    @property
    def is_resolved(self) -> bool:
        return self._value is not _PENDING

    def resolve(self, value: T) -> None:
        """Give the value; a second call is a bug of ours."""
        assert self._value is _PENDING, "a deferred value is resolved once"
        self._value = value
        if self._listener is not None:
            self._listener(value)

    def then(self, listener: Callable[[T], None]) -> None:
        """Call *listener* with the value: now if it is there, otherwise when it comes."""
        assert self._listener is None, "a deferred value has one listener"
        self._listener = listener
        if self._value is not _PENDING:
            listener(self._value)  # type: ignore[arg-type]  # not _PENDING, so it is a T

    def map(self, function: "Callable[[T], U]") -> "Deferred[U]":
        """A deferred that holds what *function* makes of this one's value."""
        mapped: Deferred[U] = Deferred()
        self.then(lambda value: mapped.resolve(function(value)))
        return mapped

    def bind(self, function: "Callable[[T], Deferred[U]]") -> "Deferred[U]":
        """A deferred that holds what the one holds that *function* makes of this one's value."""
        bound: Deferred[U] = Deferred()
        self.then(lambda value: function(value).then(bound.resolve))
        return bound


U = TypeVar("U")


def resolved(value: T) -> Deferred[T]:
    """A deferred whose value is there."""
    answer: Deferred[T] = Deferred()
    answer.resolve(value)
    return answer


def gather(parts: "list[Deferred[T]]") -> "Deferred[list[T]]":
    """All values in order, once the last of them has come."""
    result: Deferred[list[T]] = Deferred()
    values: dict[int, T] = {}

    def arrived(index: int, value: T) -> None:
        values[index] = value
        if len(values) == len(parts):
            result.resolve([values[place] for place in range(len(parts))])

    if not parts:
        result.resolve([])
    for index, part in enumerate(parts):
        part.then(lambda value, index=index: arrived(index, value))  # type: ignore[misc]  # binds the loop variable
    return result
