"""One number for equal JSON, whatever the order of keys: no search for equal parts."""

from collections.abc import Hashable

from .text import Json


class Interner:
    """Numbers for the values of documents that live as long as it does."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._by_object: dict[int, int] = {}  # by id(): a part is walked once

    def number(self, value: Json) -> int:
        """The number of *value*; equal values, and only they, share it. 1 and 1.0 differ."""
        if not isinstance(value, (dict, list)):
            return self._numbered((type(value), value))
        found = self._by_object.get(id(value))
        if found is None:
            found = self._by_object[id(value)] = self._numbered(self._key(value))
        return found

    def _key(self, value: "dict[str, Json] | list[Json]") -> Hashable:
        if isinstance(value, dict):
            return frozenset((key, self.number(member)) for key, member in value.items())
        return tuple(self.number(item) for item in value)

    def _numbered(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))
