"""A history turned round: which records there are, who wrote them, where they lie, who saw them.

Pure. One pass over the events; the rules then walk over records, logs and transactions.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, final

import msgspec

from .events import (
    Aborted,
    Acked,
    Begun,
    Committed,
    Committing,
    Event,
    Moved,
    OffsetsAcked,
    OffsetsFetched,
    OffsetsSent,
    Partition,
    Poll,
    Refused,
    Send,
)
from .rules import Anomaly, Rule


class Outcome(StrEnum):
    """How a transaction ended, as far as its client could know."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    """Its client was told so, or never asked for a commit."""
    UNKNOWN = "unknown"


@final
class Record(msgspec.Struct, eq=False, gc=False):
    """One value: what its producer, the broker and the readers said of it.

    It refers to nothing that leads back to it, for Python's collector does not look into it: a
    history of a million records would have it do nothing else.
    """

    value: str
    is_sent: bool = False
    process: str = ""
    position: int = -1
    """Counts the sends of its process from 0."""
    idempotent: bool = False
    transaction: str | None = None
    outcome: Outcome | None = None
    """Of its transaction; None outside of any."""
    ended_ms: int | None = None
    """When the transaction's client was told of the end."""
    source: str | None = None
    is_refused: bool = False
    acked_partition: Partition | None = None
    acked_offset: int | None = None
    acked_ms: int | None = None
    partition: Partition | None = None
    offset: int = -1
    """Where it was seen first; ``elsewhere`` are the other places."""
    elsewhere: tuple[tuple[Partition, int], ...] = ()
    is_read: bool = False
    is_seen: bool = False
    """Read by a read_committed reader."""

    @property
    def is_promised(self) -> bool:
        """Whether everybody must come to see it."""
        if self.outcome is None:
            return self.acked_partition is not None
        return self.outcome is Outcome.COMMITTED and self.is_sent and not self.is_refused

    @property
    def is_visible(self) -> bool:
        """Whether read_committed readers may not pass it over, where it lies."""
        outcome = self.outcome
        if outcome is None or outcome is Outcome.COMMITTED:
            return True
        return outcome is Outcome.UNKNOWN and self.is_seen

    @property
    def visible_ms(self) -> int | None:
        """When everybody could see it at the latest; None when no clock was read."""
        if self.outcome is None or self.acked_ms is None:
            return self.acked_ms
        return None if self.ended_ms is None else max(self.acked_ms, self.ended_ms)

    def where(self) -> str:
        """All its places, for people."""
        assert self.partition is not None, "it was seen"
        places = sorted([(self.partition, self.offset), *self.elsewhere])
        return ", ".join(at(*place) for place in places)


@final
@dataclass(slots=True, eq=False)
class Log:
    """What was seen of one partition.

    Invariant: ``at[o]`` is the first record seen at offset *o*, in an acknowledgement or a poll.
    """

    partition: Partition
    at: dict[int, Record] = field(default_factory=dict)
    offset_last_seen: int = -1
    """The highest one that a read_committed reader polled."""
    _offsets: list[int] = field(default_factory=list)
    _records: list[Record] = field(default_factory=list)

    @property
    def offsets(self) -> list[int]:
        """All offsets at which something was seen, in order."""
        if len(self._offsets) != len(self.at):
            self._offsets = sorted(self.at)
        return self._offsets

    @property
    def records(self) -> list[Record]:
        """What was seen at those offsets."""
        if len(self._records) != len(self.at):
            self._records = [self.at[offset] for offset in self.offsets]
        return self._records


@final
@dataclass(slots=True, eq=False)
class Transaction:
    """One transaction; ``sends`` and ``reads`` in its client's order."""

    name: str
    sends: list[Record] = field(default_factory=list)
    reads: list[Poll] = field(default_factory=list)
    offsets: list[OffsetsSent] = field(default_factory=list)
    is_commit_asked: bool = False
    is_committed: bool = False
    is_aborted: bool = False
    ended_ms: int | None = None

    @property
    def outcome(self) -> Outcome:
        if self.is_committed:
            return Outcome.COMMITTED
        if self.is_aborted or not self.is_commit_asked:
            return Outcome.ABORTED
        return Outcome.UNKNOWN


@final
@dataclass(slots=True, eq=False)
class PlainCommit:
    """Offsets that a process committed outside of transactions."""

    sent: OffsetsSent
    acked_ms: int | None = None
    """None when nobody was told, or no clock was read."""


@final
@dataclass(slots=True, eq=False)
class Index:
    records: dict[str, Record] = field(default_factory=dict)
    logs: dict[Partition, Log] = field(default_factory=dict)
    transactions: dict[str, Transaction] = field(default_factory=dict)
    reads: list[Poll | Moved] = field(default_factory=list)
    """What moves the readers' positions, in each reader's order."""
    commits: list[PlainCommit] = field(default_factory=list)
    fetches: list[OffsetsFetched] = field(default_factory=list)
    contradictions: list[Anomaly] = field(default_factory=list)
    polled_count: int = 0
    _sends_of: dict[str, int] = field(default_factory=dict)
    _newest_commit: dict[tuple[str, str], PlainCommit] = field(default_factory=dict)

    @classmethod
    def of(cls, history: Iterable[Event]) -> "Index":
        index = cls()
        add_by_type: dict[type[Event], Callable[[Any], None]] = {
            Send: index._send,
            Acked: index._acked,
            Poll: index._poll,
            Refused: index._refused,
            Moved: index.reads.append,
            OffsetsSent: index._offsets,
            OffsetsAcked: index._offsets,
            OffsetsFetched: index.fetches.append,
        }
        step = index._step
        for event in history:
            add_by_type.get(type(event), step)(event)
        index._finish()
        return index

    def log(self, partition: Partition) -> Log:
        found = self.logs.get(partition)
        if found is None:
            found = self.logs[partition] = Log(partition)
        return found

    def transaction(self, name: str) -> Transaction:
        found = self.transactions.get(name)
        if found is None:
            found = self.transactions[name] = Transaction(name)
        return found

    def _send(self, event: Send) -> None:
        record = self.records.get(event.value)
        if record is None:
            record = self.records[event.value] = Record(event.value)
        assert not record.is_sent, f"{event.value!r} was sent twice"
        process = event.process
        record.is_sent = True
        record.process = process
        record.position = position = self._sends_of.get(process, 0)
        self._sends_of[process] = position + 1
        record.idempotent = event.idempotent
        record.source = event.source
        name = record.transaction = event.transaction
        if name is not None:
            transaction = self.transactions.get(name) or self.transaction(name)
            transaction.sends.append(record)

    def _acked(self, event: Acked) -> None:
        record = self.records.get(event.value)
        if record is None:
            record = self.records[event.value] = Record(event.value)
        partition = (event.topic, event.partition)
        log = self.logs.get(partition) or self.log(partition)
        record.acked_partition = log.partition
        offset = record.acked_offset = event.offset
        record.acked_ms = event.at_ms
        if offset is not None:
            self._place(record, log, offset)

    def _refused(self, event: Refused) -> None:
        record = self.records.setdefault(event.value, Record(event.value))
        record.is_refused = True

    def _poll(self, event: Poll) -> None:
        self.reads.append(event)
        self.polled_count += len(event.records)
        if event.transaction is not None:
            self.transaction(event.transaction).reads.append(event)
        records = self.records
        read_committed = event.read_committed
        log, partition = None, ("", -1)
        for topic, partition_index, offset, value in event.records:
            if log is None or partition_index != partition[1] or topic != partition[0]:
                log = self.log((topic, partition_index))
                partition = log.partition
            record = records.get(value)
            if record is None:
                record = records[value] = Record(value)
            if record.offset != offset or record.partition != partition:
                self._place(record, log, offset)
            record.is_read = True
            if read_committed:
                record.is_seen = True
                log.offset_last_seen = max(log.offset_last_seen, offset)

    def _offsets(self, event: OffsetsSent | OffsetsAcked) -> None:
        match event:
            case OffsetsSent(transaction=str() as name):
                self.transaction(name).offsets.append(event)
            case OffsetsSent():
                commit = PlainCommit(event)
                self.commits.append(commit)
                self._newest_commit[event.process, event.group] = commit
            case OffsetsAcked():
                commit = self._newest_commit[event.process, event.group]
                commit.acked_ms = event.at_ms

    def _step(self, event: Begun | Committing | Committed | Aborted) -> None:
        transaction = self.transaction(event.transaction)
        match event:
            case Committing():
                transaction.is_commit_asked = True
            case Committed():
                assert not transaction.is_aborted, f"{event.transaction!r} ended in both ways"
                transaction.is_committed, transaction.ended_ms = True, event.at_ms
            case Aborted():
                assert not transaction.is_committed, f"{event.transaction!r} ended in both ways"
                transaction.is_aborted, transaction.ended_ms = True, event.at_ms
            case Begun():
                pass

    def _place(self, record: Record, log: Log, offset: int) -> None:
        """Note that *record* lies there; once for each place."""
        partition = log.partition
        if record.partition is None:
            record.partition, record.offset = partition, offset
        elif record.offset == offset and record.partition == partition:
            return
        else:
            if (partition, offset) in record.elsewhere:
                return
            record.elsewhere = (*record.elsewhere, (partition, offset))
        first = log.at.setdefault(offset, record)
        if first is not record:
            facts = f"{at(partition, offset)} held {first.value!r} and {record.value!r}"
            self.contradictions.append(Anomaly(rule=Rule.INCONSISTENT_OFFSETS, facts=facts))

    def _finish(self) -> None:
        """Tell the records how their transactions ended."""
        for transaction in self.transactions.values():
            outcome, ended_ms = transaction.outcome, transaction.ended_ms
            for record in transaction.sends:
                record.outcome, record.ended_ms = outcome, ended_ms


def at(partition: Partition, offset: int | None) -> str:
    """A place, for people."""
    topic, index = partition
    return f"{topic}-{index}@{'?' if offset is None else offset}"
