"""Rules about readers: positions go up and pass over nothing. Pure.

Between polls a group member may jump, for a rebalance sends it back to the committed offset or on
past another's work; a reader with assigned partitions may not. Inside one poll, or the polls of
one transaction, only a rebalance excuses a jump.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, final

from .events import Moved, Poll
from .index import Index, Log, at
from .rules import Anomaly, Rule

RULES: Final = {
    (False, False): Rule.POLL_SKIP,
    (False, True): Rule.INT_POLL_SKIP,
    (True, False): Rule.NONMONOTONIC_POLL,
    (True, True): Rule.INT_NONMONOTONIC_POLL,
}
"""By whether the reader went back, and whether that was inside one poll or transaction."""


def out_of_order_polls(index: Index, *, allowed: Counter[Rule]) -> Iterator[Anomaly]:
    """Follow each reader's position; jumps that had a reason are counted in *allowed*."""
    walk = _Walk(index)
    readers: dict[str, _Reader] = {}
    for event in index.reads:
        reader = readers.setdefault(event.process, _Reader())
        if isinstance(event, Moved):
            reader.move()
            continue
        for jump in walk.jumps(reader, event):
            if jump.is_excused:
                allowed[jump.rule] += 1
            else:
                yield Anomaly(rule=jump.rule, facts=f"{event.process} {jump}")


@final
@dataclass(slots=True)
class _Reader:
    """Where a reader stands. ``inside`` are the positions of this poll or transaction alone."""

    before: dict[Log, int] = field(default_factory=dict)
    inside: dict[Log, int] = field(default_factory=dict)
    transaction: str | None = None
    has_rebalanced: bool = False

    def move(self) -> None:
        self.before.clear()
        self.inside = {}
        self.transaction = None

    def begin(self, poll: Poll) -> None:
        """A poll begins: does it go on with the transaction of the one before?"""
        if poll.transaction is not None and poll.transaction == self.transaction:
            self.has_rebalanced = self.has_rebalanced or poll.rebalanced
            return
        self.before.update(self.inside)
        self.inside = {}
        self.transaction = poll.transaction
        self.has_rebalanced = poll.rebalanced


@dataclass(frozen=True, slots=True)
class _Jump:
    rule: Rule
    log: Log
    position: int
    offset: int
    skipped: int | None
    """The first offset passed over."""
    is_excused: bool

    def __str__(self) -> str:
        facts = f"came from offset {self.position} to {at(self.log.partition, self.offset)}"
        if self.skipped is None:
            return facts
        return f"{facts} over {self.log.at[self.skipped].value!r} at {self.skipped}"


@final
class _Walk:
    def __init__(self, index: Index) -> None:
        self._index = index
        self._visible = {
            log: [
                offset
                for offset, record in zip(log.offsets, log.records, strict=True)
                if record.is_visible
            ]
            for log in index.logs.values()
        }

    def jumps(self, reader: _Reader, poll: Poll) -> Iterator[_Jump]:
        """Moves the reader through the poll; every step back or over a record."""
        reader.begin(poll)
        inside = reader.inside
        log, position, is_inside = None, -1, False
        for topic, partition_index, offset, _ in poll.records:
            if log is None or log.partition != (topic, partition_index):
                if log is not None:
                    inside[log] = position
                log = self._index.logs[topic, partition_index]
                is_inside = log in inside
                position = inside[log] if is_inside else reader.before.get(log, offset - 1)
            if offset != position + 1:
                is_back = offset <= position
                skipped = None if is_back else self._skipped(poll, log, position, offset)
                if is_back or skipped is not None:
                    rule = RULES[is_back, is_inside]
                    is_excused = reader.has_rebalanced if is_inside else poll.subscribed
                    yield _Jump(rule, log, position, offset, skipped, is_excused)
            position, is_inside = offset, True
        if log is not None:
            inside[log] = position

    def _skipped(self, poll: Poll, log: Log, position: int, offset: int) -> int | None:
        known = self._visible[log] if poll.read_committed else log.offsets
        number = bisect_right(known, position)
        return known[number] if number < len(known) and known[number] < offset else None
