"""Which changes between two schemas break readers: the pairs to compare, and their fixpoint.

Recursive schemas make pairs of shapes that depend on each other. Every pair counts as compatible
until a change in it breaks readers; then the pairs that relied on it are looked at again. A verdict
only ever turns from compatible to incompatible, so this ends, and it ends at the greatest fixpoint:
the same answer in whatever order the pairs come. No recursion: as deep as references may lead.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeAlias

from ..contract import Incompatibility
from .kinds import TOLERATED_BY_LENIENT, Change
from .patterns import matches
from .shapes import Anything, Nothing, Shape, settled

QUESTIONS_MAX: Final = 500_000
"""Times that one comparison asks for a pair: some seconds of work."""
_MATCH_COST: Final = 20
"""What matching a pattern counts as, in questions."""
TOLD_MAX: Final = 200
"""Incompatibilities in one answer."""
TOLD_DEPTH_MAX: Final = 100
"""Pairs inside pairs that an answer leads through; what lies deeper is told there."""
_REVISITS_MAX: Final = 2_000
"""Times that an answer leads through a pair again, by another path."""


_GIVEN_UP: Final = (
    f"the schemas are too entangled: the comparison gave up after {QUESTIONS_MAX} questions; "
    "split them, or make their unions and patterns fewer"
)


class _TooEntangledError(Exception):
    """More questions than one comparison may ask."""


@dataclass(frozen=True, slots=True)
class Nested:
    """A pair inside a pair: what breaks readers there breaks them here."""

    writer: Shape
    reader: Shape
    path: tuple[str, ...]


Finding: TypeAlias = Change | Nested
Pair: TypeAlias = tuple[Shape, Shape]  # writer, reader


class Ask(Protocol):
    """What a rule may ask beyond its own pair; asking costs, and too much is refused."""

    def __call__(self, writer: Shape, reader: Shape) -> bool:
        """Does *writer* suit *reader*, as far as known now?"""
        ...

    def matches(self, pattern: str, name: str) -> bool:
        """Does *pattern* occur in *name*?"""
        ...


Rule: TypeAlias = Callable[[Shape, Shape, Ask], Iterator[Finding]]


class Comparison:
    """One question: does all that *writer* allows suit *reader*?"""

    def __init__(self, rule: Rule, *, is_lenient: bool) -> None:
        """*rule* finds the changes of one pair, its links followed."""
        self._rule = rule
        self._tolerated = TOLERATED_BY_LENIENT if is_lenient else frozenset[str]()
        self._suits: dict[Pair, bool] = {}
        self._relying: dict[Pair, set[Pair]] = {}
        self._todo: deque[Pair] = deque()
        self._waiting: set[Pair] = set()
        self._questions = 0

    def incompatibilities(self, writer: Shape, reader: Shape) -> list[Incompatibility]:
        """Every change that breaks readers, by the way to it from the roots.

        Two that are too entangled to be compared count as incompatible, and the hint says so.
        """
        try:
            if self.ask(writer, reader):
                self._settle_all()
            return list(self._told(writer, reader))
        except _TooEntangledError:
            told = Change("COMBINED_TYPE_SUBSCHEMAS_CHANGED").told(())
            return [replace(told, hint=_GIVEN_UP)]

    def matches(self, pattern: str, name: str) -> bool:
        """Does *pattern* occur in *name*?"""
        self._pay(_MATCH_COST)
        return matches(pattern, name)

    def ask(self, writer: Shape, reader: Shape, asker: Pair | None = None) -> bool:
        """Does *writer* suit *reader*, as far as known now?

        *asker* is looked at again when that changes.
        """
        self._pay(1)
        pair = settled(writer), settled(reader)
        if isinstance(pair[0], Nothing) or isinstance(pair[1], Anything):
            return True
        if pair not in self._suits:
            self._suits[pair] = True
            self._relying[pair] = set()
            self._put(pair)
        if asker is not None:
            self._relying[pair].add(asker)
        return self._suits[pair]

    def _pay(self, cost: int) -> None:
        self._questions += cost
        if self._questions > QUESTIONS_MAX:
            raise _TooEntangledError

    def _put(self, pair: Pair) -> None:
        if pair not in self._waiting:
            self._waiting.add(pair)
            self._todo.append(pair)

    def _settle_all(self) -> None:
        while self._todo:
            pair = self._todo.popleft()
            self._waiting.discard(pair)
            if self._suits[pair] and any(self._breaks(f, pair) for f in self._findings(pair)):
                self._suits[pair] = False
                for relying in self._relying[pair]:
                    self._put(relying)

    def _findings(self, pair: Pair) -> Iterator[Finding]:
        return self._rule(*pair, _Asker(self, pair))

    def _breaks(self, finding: Finding, pair: Pair) -> bool:
        if isinstance(finding, Change):
            return finding.kind not in self._tolerated
        return not self.ask(finding.writer, finding.reader, pair)

    def _broken(self, pair: Pair) -> list[Finding]:
        """All that breaks readers in *pair*; its verdict needed only one of them."""
        while True:
            broken = [f for f in self._findings(pair) if self._breaks(f, pair)]
            if not self._todo:
                return broken
            self._settle_all()  # pairs that nobody had asked for yet

    def _told(self, writer: Shape, reader: Shape) -> Iterator[Incompatibility]:
        """Depth first, in the order of the rules; a pair inside itself is told once."""
        visited: set[Pair] = set()
        told = revisits = 0
        stack: list[tuple[Finding, _Way]] = [(Nested(writer, reader, ()), _Way((), None, None, 0))]
        while stack and told < TOLD_MAX:
            finding, way = stack.pop()
            if isinstance(finding, Change):
                told += 1
                yield finding.told(way.path)
                continue
            pair = settled(finding.writer), settled(finding.reader)
            # The first visit is always made: each pair that breaks readers has a change below it.
            if pair in visited and (way.passes(pair) or revisits >= _REVISITS_MAX):
                continue
            revisits += pair in visited
            visited.add(pair)
            inside = _Way((*way.path, *finding.path), pair, way, way.depth + 1)
            if inside.depth > TOLD_DEPTH_MAX:
                stack.append((Change("TYPE_CHANGED"), inside))
                continue
            stack.extend((f, inside) for f in reversed(self._broken(pair)))


@dataclass(frozen=True, slots=True)
class _Asker:
    """A pair and whom it asks."""

    comparison: Comparison
    pair: Pair

    def __call__(self, writer: Shape, reader: Shape) -> bool:
        return self.comparison.ask(writer, reader, self.pair)

    def matches(self, pattern: str, name: str) -> bool:
        return self.comparison.matches(pattern, name)


@dataclass(frozen=True, slots=True)
class _Way:
    """How one pair was reached."""

    path: tuple[str, ...]
    pair: Pair | None
    before: "_Way | None"
    depth: int

    def passes(self, pair: Pair) -> bool:
        way: _Way | None = self
        while way is not None:
            if way.pair == pair:
                return True
            way = way.before
        return False
