"""Rules about groups' offsets: none from nowhere or from the past, each input used once. Pure.

A history tells either of all commits of a group or of none of its fetches. A group that makes
outputs from inputs (``Send.source``) in transactions makes one output of each input and begins at
offset 0.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias, final

from .events import GroupOffset, OffsetsFetched, Partition
from .index import Index, Outcome, Record, Transaction, at
from .rules import Anomaly, Rule

Place: TypeAlias = tuple[str, Partition]
"""Group and partition."""

EVER: Final = float("inf")


def offsets_out_of_date(index: Index) -> Iterator[Anomaly]:
    """A fetch must find one of the values that may have been current while it was asked."""
    commits = _commits(index)
    for fetch in index.fetches:
        for topic, partition_index, offset in fetch.offsets:
            place = (fetch.group, (topic, partition_index))
            register = commits.get(place, _Register())
            rule = register.breach(fetch, offset)
            if rule is not None:
                facts = f"{fetch.process} was told {offset} for {topic}-{partition_index}"
                yield Anomaly(rule=rule, facts=f"{facts} of group {fetch.group!r}")


@final
@dataclass(slots=True)
class _Register:
    """The commits of one group's offset of one partition."""

    writes: dict[int, list[tuple[float, float, bool]]] = field(default_factory=dict)
    """By offset: when it was asked for, when it was acknowledged or ``EVER``, and whether by a
    transaction."""
    _ends: dict[bool, list[float]] = field(default_factory=dict)
    _starts: dict[bool, list[float]] = field(default_factory=dict)

    def breach(self, fetch: OffsetsFetched, offset: int) -> Rule | None:
        writes = [(-EVER, -EVER, False)] if offset < 0 else self.writes.get(offset, [])
        if not writes:
            return Rule.PHANTOM_OFFSET
        if fetch.asked_ms is None:
            return None
        newest = self._newest_start(fetch.asked_ms, stable=fetch.stable)
        is_current = any(end >= newest for _, end, _ in writes)
        return None if is_current else Rule.STALE_OFFSET

    def _newest_start(self, asked_ms: int, *, stable: bool) -> float:
        """Of the commits acknowledged before then, the latest begun; others are replaced by it.

        A transaction's end is acknowledged before its offsets can be seen by those who do not wait
        for it (*stable*).
        """
        if stable not in self._ends:
            done = sorted(
                (end, start)
                for writes in self.writes.values()
                for start, end, is_transactional in writes
                if end < EVER and (stable or not is_transactional)
            )
            self._ends[stable] = [end for end, _ in done]
            starts, newest = [], -EVER
            for _, start in done:
                newest = max(newest, start)
                starts.append(newest)
            self._starts[stable] = starts
        count = bisect_left(self._ends[stable], asked_ms)
        return self._starts[stable][count - 1] if count else -EVER


def _commits(index: Index) -> dict[Place, _Register]:
    registers: dict[Place, _Register] = {}

    def add(group: str, offsets: tuple[GroupOffset, ...], write: tuple[float, float, bool]) -> None:
        for topic, partition_index, offset in offsets:
            register = registers.setdefault((group, (topic, partition_index)), _Register())
            register.writes.setdefault(offset, []).append(write)

    for commit in index.commits:
        start = -EVER if commit.sent.at_ms is None else commit.sent.at_ms
        end = EVER if commit.acked_ms is None else commit.acked_ms
        add(commit.sent.group, commit.sent.offsets, (start, end, False))
    for transaction in index.transactions.values():
        if transaction.outcome is Outcome.ABORTED:
            continue
        is_known = transaction.is_committed and transaction.ended_ms is not None
        end = float(transaction.ended_ms or 0) if is_known else EVER
        for sent in transaction.offsets:
            start = -EVER if sent.at_ms is None else sent.at_ms
            add(sent.group, sent.offsets, (start, end, True))
    return registers


def not_exactly_once(index: Index, *, caught_up: bool) -> Iterator[Anomaly]:
    """For each group: outputs that can be seen, against inputs below the committed offsets."""
    groups: dict[str, _Processed] = {}
    for transaction in index.transactions.values():
        for group in dict.fromkeys(sent.group for sent in transaction.offsets):
            groups.setdefault(group, _Processed()).add(transaction, group)
    for fetch in index.fetches:
        if fetch.group in groups:
            groups[fetch.group].reach(fetch.offsets)
    for group, processed in groups.items():
        yield from processed.doubled(group, index)
        if caught_up and processed.outputs:
            yield from processed.missing(group, index)


@final
@dataclass(slots=True)
class _Processed:
    """One group's work: outputs by the value of their input, and how far it got."""

    outputs: dict[str, list[Record]] = field(default_factory=dict)
    ends: dict[Partition, int] = field(default_factory=dict)

    def add(self, transaction: Transaction, group: str) -> None:
        is_effective = transaction.is_committed
        for record in transaction.sends:
            if record.source is not None and record.is_seen:
                self.outputs.setdefault(record.source, []).append(record)
                is_effective = True
        if is_effective and transaction.outcome is not Outcome.ABORTED:
            for sent in transaction.offsets:
                if sent.group == group:
                    self.reach(sent.offsets)

    def reach(self, offsets: tuple[GroupOffset, ...]) -> None:
        for topic, partition_index, offset in offsets:
            partition = (topic, partition_index)
            self.ends[partition] = max(self.ends.get(partition, -1), offset)

    def doubled(self, group: str, index: Index) -> Iterator[Anomaly]:
        """A plain producer's input may lie at several places, and is worked on at each."""
        for source, outputs in self.outputs.items():
            if len(outputs) > 1 + len(index.records[source].elsewhere):
                made = ", ".join(f"{output.value!r} at {output.where()}" for output in outputs)
                facts = f"group {group!r} made of {source!r}: {made}"
                yield Anomaly(rule=Rule.PROCESSED_TWICE, facts=facts)

    def missing(self, group: str, index: Index) -> Iterator[Anomaly]:
        for partition, end in self.ends.items():
            log = index.log(partition)
            for offset in log.offsets:
                if offset >= end:
                    break
                record = log.at[offset]
                if record.is_seen and record.value not in self.outputs:
                    facts = (
                        f"group {group!r} is at {end} in {partition[0]}-{partition[1]} and made "
                        f"nothing of {record.value!r} at {at(partition, offset)}"
                    )
                    yield Anomaly(rule=Rule.NOT_PROCESSED, facts=facts)
