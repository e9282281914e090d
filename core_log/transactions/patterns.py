r"""Patterns that pick transactional ids: a small part of RE2's language, matched in linear time.

Kafka matches with RE2. Python's ``re`` goes back over the text again and again, so that one short
pattern of a stranger can hold up the broker for hours; a second engine of RE2's size is not worth
it for one filter. Understood are characters, ``.``, classes such as ``[a-z_]`` and ``[^0-9]``,
``\d \w \s`` and their opposites, escaped punctuation, ``*``, ``+``, ``?`` after one of these, ``^``
at the beginning, ``$`` at the end, and ``|`` between whole patterns. Groups and counted repetition
are not: they are refused with INVALID_REGULAR_EXPRESSION, as what is broken is. A pattern matches
the whole id, as in Kafka.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias, final

Accepts: TypeAlias = Callable[[str], bool]

_WORD: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_ESCAPES: Final[dict[str, Accepts]] = {
    "d": lambda c: c in "0123456789",
    "D": lambda c: c not in "0123456789",
    "w": lambda c: c in _WORD,
    "W": lambda c: c not in _WORD,
    "s": lambda c: c in "\t\n\f\r ",
    "S": lambda c: c not in "\t\n\f\r ",
}
_NOT_UNDERSTOOD: Final = frozenset("()[]{}*+?^$")


class InvalidPattern(Exception):
    """The pattern is broken or beyond what is understood; ``reason`` and ``position`` say where."""

    def __init__(self, pattern: str, position: int, reason: str) -> None:
        super().__init__(pattern, position, reason)
        self.pattern: Final = pattern
        self.position: Final = position
        self.reason: Final = reason

    def __str__(self) -> str:
        return f"pattern {self.pattern!r}, character {self.position}: {self.reason}"


@dataclass(frozen=True, slots=True)
class _Item:
    """Characters that fit here, whether none may do, and whether several may."""

    accepts: Accepts
    optional: bool
    repeats: bool


@final
class IdPattern:
    """A pattern that was understood. Raises InvalidPattern."""

    def __init__(self, pattern: str) -> None:
        self._alternatives = _Parser(pattern).parse()

    def matches(self, text: str) -> bool:
        """Whether the whole *text* fits, in time proportional to both lengths."""
        return any(_fits(items, text) for items in self._alternatives)


def _fits(items: list[_Item], text: str) -> bool:
    """Walk *text* once with the set of all items that could come next."""
    reached = _through_optional(items, {0})
    for character in text:
        after: set[int] = set()
        for index in reached:
            if index < len(items) and items[index].accepts(character):
                after.add(index + 1)
                if items[index].repeats:
                    after.add(index)
        if not after:
            return False
        reached = _through_optional(items, after)
    return len(items) in reached


def _through_optional(items: list[_Item], start: set[int]) -> set[int]:
    """*start* and every place that is reached from it without a character."""
    reached = set(start)
    for index in start:
        place = index
        while place < len(items) and items[place].optional:
            place += 1
            if place in reached:
                break
            reached.add(place)
    return reached


@final
class _Parser:
    """One pass over a pattern."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def parse(self) -> list[list[_Item]]:
        alternatives = [self._sequence()]
        while self._take("|"):
            alternatives.append(self._sequence())
        return alternatives

    def _sequence(self) -> list[_Item]:
        items: list[_Item] = []
        self._take("^")
        while (character := self._peek()) not in ("", "|"):
            if character == "$":
                self._at += 1
                if self._peek() not in ("", "|"):
                    raise self._invalid("nothing can follow the end")
                break
            items.append(self._item())
        return items

    def _item(self) -> _Item:
        accepts = self._atom()
        optional = repeats = False
        quantifier = self._peek()
        if quantifier in ("*", "+", "?"):
            self._at += 1
            optional, repeats = quantifier in "*?", quantifier in "*+"
            self._take("?")  # lazy or greedy: what fits is the same
        return _Item(accepts, optional, repeats)

    def _atom(self) -> Accepts:
        character = self._next()
        if character == ".":
            return lambda c: c != "\n"
        if character == "[":
            return self._class()
        if character == "\\":
            return self._escape()
        if character in _NOT_UNDERSTOOD:
            raise self._invalid(f"{character!r} is not understood here; escape it if it is meant")
        return lambda c: c == character

    def _class(self) -> Accepts:
        negated = self._take("^")
        single: list[Accepts] = []
        ranges: list[tuple[str, str]] = []
        while not ((single or ranges) and self._take("]")):
            character = self._next()
            if character == "[":
                raise self._invalid("a class within a class is not understood")
            if character == "\\":
                single.append(self._escape())
                continue
            last = character
            if self._peek() == "-" and self._pattern[self._at + 1 : self._at + 2] not in ("]", ""):
                self._at += 1
                last = self._next()
                if last in "\\[" or last < character:
                    raise self._invalid("the range is not understood")
            ranges.append((character, last))

        def accepts(c: str) -> bool:
            within = any(a <= c <= b for a, b in ranges) or any(fits(c) for fits in single)
            return within is not negated

        return accepts

    def _escape(self) -> Accepts:
        character = self._next()
        if character in _ESCAPES:
            return _ESCAPES[character]
        if character in _WORD or not character.isascii():
            raise self._invalid(f"the escape \\{character} is not understood")
        return lambda c: c == character

    def _peek(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _next(self) -> str:
        character = self._peek()
        if not character:
            raise self._invalid("the pattern ends too early")
        self._at += 1
        return character

    def _take(self, character: str) -> bool:
        found = self._peek() == character
        self._at += found
        return found

    def _invalid(self, reason: str) -> InvalidPattern:
        return InvalidPattern(self._pattern, self._at, reason)
