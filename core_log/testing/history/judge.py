"""Judge what clients saw: a history of sends, acknowledgements and polls in, anomalies out.

Pure. The rules are those that Jepsen's Kafka workload made known, as far as they apply without
transactions. A history is whatever the clients wrote down, in each client's own order; the clocks
of different clients need not agree. It should end with a fresh client that read every partition
to its end (``caught_up``): without it nobody can say that a record was never to be seen.

Every value must be sent once only: a value is how a record is recognised. Logs that lose records
on purpose (retention, compaction) do not belong in a history.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import final

from .events import Acked, Event, Partition, Poll, Refused, Send


class Rule(StrEnum):
    """What a history can break. Each member's comment says when."""

    INCONSISTENT_OFFSETS = "inconsistent-offsets"  # one offset held two values
    DUPLICATE = "duplicate"  # an idempotent producer's value lies at two offsets
    LOST_WRITE = "lost-write"  # acknowledged, read by nobody, though later offsets were read
    UNSEEN = "unseen"  # acknowledged, read by nobody, at the end of the log
    REFUSED_READ = "refused-read"  # a refused value was read all the same (Jepsen's G1a)
    PHANTOM = "phantom"  # read, but sent by nobody
    NONMONOTONIC_SEND = "nonmonotonic-send"  # an idempotent producer's records changed places
    POLL_SKIP = "poll-skip"  # a reader with assigned partitions passed over a record
    NONMONOTONIC_POLL = "nonmonotonic-poll"  # ... or went back
    INT_POLL_SKIP = "int-poll-skip"  # a record was passed over inside one poll
    INT_NONMONOTONIC_POLL = "int-nonmonotonic-poll"  # ... or the order went back inside one poll
    SPARSE_OFFSETS = "sparse-offsets"  # an offset below the last one holds nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Anomaly:
    rule: Rule
    facts: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.facts}"


def check(
    history: Iterable[Event], *, caught_up: bool = True, dense: bool = False
) -> list[Anomaly]:
    """Every breach of a rule in *history*, grouped by rule; empty when all is well.

    With *dense*, every offset from 0 to the last one seen must have been read: true for a topic
    that only acknowledged and retried records reached, false where transactions leave markers.
    """
    index = _Index()
    for event in history:
        index.add(event)
    return [
        *index.contradictions,
        *_duplicates(index),
        *_unread(index, caught_up=caught_up),
        *_unexpected(index),
        *_out_of_order_sends(index),
        *_out_of_order_polls(index),
        *(_sparse_offsets(index) if dense else ()),
    ]


@dataclass(frozen=True, slots=True)
class _Sent:
    process: str
    position: int
    """Counts the sends of its process from 0."""
    idempotent: bool


@final
@dataclass(slots=True)
class _Index:
    """The history turned round: who sent a value, where values lie, what was read.

    Invariant: ``values[p][o]`` is the first value seen at offset *o*; ``places[v]`` holds every
    place at which *v* was seen, also where another value had been seen before.
    """

    sent: dict[str, _Sent] = field(default_factory=dict)
    sends_of: dict[str, int] = field(default_factory=dict)
    acked: dict[str, tuple[Partition, int | None]] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    values: dict[Partition, dict[int, str]] = field(default_factory=dict)
    places: dict[str, set[tuple[Partition, int]]] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    last_read: dict[Partition, int] = field(default_factory=dict)
    polls: list[Poll] = field(default_factory=list)
    contradictions: list[Anomaly] = field(default_factory=list)

    def add(self, event: Event) -> None:
        match event:
            case Send():
                position = self.sends_of.get(event.process, 0)
                self.sends_of[event.process] = position + 1
                assert event.value not in self.sent, f"{event.value!r} was sent twice"
                self.sent[event.value] = _Sent(event.process, position, event.idempotent)
            case Acked():
                partition = (event.topic, event.partition)
                self.acked[event.value] = (partition, event.offset)
                if event.offset is not None:
                    self._place(partition, event.offset, event.value)
            case Refused():
                self.refused.add(event.value)
            case Poll():
                self.polls.append(event)
                for topic, partition_index, offset, value in event.records:
                    self._read((topic, partition_index), offset, value)

    def _read(self, partition: Partition, offset: int, value: str) -> None:
        self._place(partition, offset, value)
        self.read.add(value)
        if offset > self.last_read.get(partition, -1):
            self.last_read[partition] = offset

    def _place(self, partition: Partition, offset: int, value: str) -> None:
        first = self.values.setdefault(partition, {}).setdefault(offset, value)
        self.places.setdefault(value, set()).add((partition, offset))
        if first != value:
            facts = f"{_at(partition, offset)} held {first!r} and {value!r}"
            self.contradictions.append(Anomaly(rule=Rule.INCONSISTENT_OFFSETS, facts=facts))


def _duplicates(index: _Index) -> Iterator[Anomaly]:
    for value, places in index.places.items():
        sent = index.sent.get(value)
        if len(places) > 1 and (sent is None or sent.idempotent):
            where = ", ".join(_at(*place) for place in sorted(places))
            yield Anomaly(rule=Rule.DUPLICATE, facts=f"{value!r} lies at {where}")


def _unread(index: _Index, *, caught_up: bool) -> Iterator[Anomaly]:
    for value, (partition, offset) in index.acked.items():
        if value in index.read:
            continue
        where = _at(partition, offset)
        if offset is not None and offset < index.last_read.get(partition, -1):
            yield Anomaly(rule=Rule.LOST_WRITE, facts=f"{value!r}, acknowledged at {where}")
        elif caught_up:
            yield Anomaly(rule=Rule.UNSEEN, facts=f"{value!r}, acknowledged at {where}")


def _unexpected(index: _Index) -> Iterator[Anomaly]:
    for value in index.read:
        where = ", ".join(_at(*place) for place in sorted(index.places[value]))
        if value not in index.sent:
            yield Anomaly(rule=Rule.PHANTOM, facts=f"{value!r} was read at {where}")
        elif value in index.refused:
            yield Anomaly(rule=Rule.REFUSED_READ, facts=f"{value!r} was read at {where}")


def _out_of_order_sends(index: _Index) -> Iterator[Anomaly]:
    """Walk each partition by offset: the sends of one idempotent producer must only go up."""
    for partition, values in index.values.items():
        newest: dict[str, tuple[int, str]] = {}
        for offset in sorted(values):
            sent = index.sent.get(values[offset])
            if sent is None or not sent.idempotent:
                continue
            position, value = newest.get(sent.process, (-1, ""))
            if sent.position < position:
                facts = f"{sent.process}: {values[offset]!r} at {_at(partition, offset)} is behind"
                yield Anomaly(rule=Rule.NONMONOTONIC_SEND, facts=f"{facts} {value!r}, sent later")
            newest[sent.process] = max((position, value), (sent.position, values[offset]))


def _out_of_order_polls(index: _Index) -> Iterator[Anomaly]:
    """Follow each reader's position; a group member's may jump between polls, never inside one."""
    known = {partition: sorted(values) for partition, values in index.values.items()}
    positions: dict[str, dict[Partition, int]] = {}
    for poll in index.polls:
        before = {} if poll.subscribed else positions.setdefault(poll.process, {})
        inside: dict[Partition, int] = {}
        for topic, partition_index, offset, _ in poll.records:
            partition = (topic, partition_index)
            is_inside = partition in inside
            position = inside[partition] if is_inside else before.get(partition)
            inside[partition] = offset
            if position is None or offset == position + 1 or (is_inside and poll.rebalanced):
                continue
            if offset <= position:
                rule = Rule.INT_NONMONOTONIC_POLL if is_inside else Rule.NONMONOTONIC_POLL
            elif _next_known(known[partition], position) < offset:
                rule = Rule.INT_POLL_SKIP if is_inside else Rule.POLL_SKIP
            else:
                continue
            facts = f"{poll.process} came from offset {position} to {_at(partition, offset)}"
            yield Anomaly(rule=rule, facts=facts)
        before.update(inside)


def _next_known(offsets: list[int], position: int) -> int:
    """The lowest offset above *position* that holds a record; *offsets* has one."""
    return offsets[bisect_right(offsets, position)]


def _sparse_offsets(index: _Index) -> Iterator[Anomaly]:
    for partition, values in index.values.items():
        missing = max(values) + 1 - len(values)
        if missing:
            first = next(offset for offset in range(max(values)) if offset not in values)
            facts = f"{missing} offsets hold nothing, the first is {_at(partition, first)}"
            yield Anomaly(rule=Rule.SPARSE_OFFSETS, facts=facts)


def _at(partition: Partition, offset: int | None) -> str:
    topic, partition_index = partition
    return f"{topic}-{partition_index}@{'?' if offset is None else offset}"
