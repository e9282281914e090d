"""How late and how long: what a run's faults cost its clients. Reported, never an anomaly. Pure."""

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from .events import Poll
from .index import Index, Log


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Many durations in three numbers."""

    count: int
    p99_ms: int
    ms_max: int

    def __str__(self) -> str:
        return f"p99 {self.p99_ms} ms, at most {self.ms_max} ms"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """When things worked; sorted, in milliseconds of the clients' clock."""

    acked_ms: Sequence[int]
    committed_ms: Sequence[int]
    polled_ms: Sequence[int]
    """Polls that gave records."""
    lags: Mapping[str, Spread]
    """By reader: at each poll, how long the oldest record that it had not read yet had been there
    for everybody. A reader's first poll of a partition does not count."""


def spread(durations_ms: Sequence[int]) -> Spread | None:
    """None of no durations."""
    if not durations_ms:
        return None
    ordered = sorted(durations_ms)
    p99 = ordered[ceil(len(ordered) * 0.99) - 1]
    return Spread(count=len(ordered), p99_ms=p99, ms_max=ordered[-1])


def gaps(times_ms: Sequence[int]) -> Spread | None:
    """The spaces between neighbours of a sorted sequence; None below two."""
    return spread([after - before for before, after in itertools.pairwise(times_ms)])


def longest_gap_ms(times_ms: Sequence[int], *, start_ms: int, end_ms: int) -> int | None:
    """The longest space between neighbours that touches [start, end], of a sorted sequence.

    An end without a neighbour counts from or to the fault's own; None of no times.
    """
    if not times_ms:
        return None
    first = max(bisect_left(times_ms, start_ms) - 1, 0)
    last = bisect_right(times_ms, end_ms) + 1
    near = [*times_ms[first:last]]
    if near[-1] < end_ms:
        near.append(end_ms)
    if near[0] > start_ms:
        near.insert(0, start_ms)
    return max((after - before for before, after in itertools.pairwise(near)), default=0)


def timing(index: Index) -> Timing:
    polls = [event for event in index.reads if isinstance(event, Poll)]
    return Timing(
        acked_ms=sorted(
            record.acked_ms for record in index.records.values() if record.acked_ms is not None
        ),
        committed_ms=sorted(
            transaction.ended_ms
            for transaction in index.transactions.values()
            if transaction.is_committed and transaction.ended_ms is not None
        ),
        polled_ms=sorted(poll.at_ms for poll in polls if poll.at_ms is not None and poll.records),
        lags=_lags(index, polls),
    )


def _lags(index: Index, polls: Sequence[Poll]) -> dict[str, Spread]:
    waiting = {log: _oldest_waiting(log) for log in index.logs.values()}
    positions: dict[tuple[str, Log], int] = {}
    lags: dict[str, list[int]] = {}
    for poll in polls:
        if poll.at_ms is None or not poll.read_committed:
            continue
        ends: dict[Log, int] = {}
        log = None
        for topic, partition_index, offset, _ in poll.records:
            if log is None or log.partition != (topic, partition_index):
                log = index.logs[topic, partition_index]
            ends[log] = offset + 1
        for log, end in ends.items():
            position = positions.get((poll.process, log))
            positions[poll.process, log] = end
            if position is not None:
                since_ms = waiting[log][bisect_left(log.offsets, position)]
                lag_ms = 0 if since_ms > poll.at_ms else int(poll.at_ms - since_ms)
                lags.setdefault(poll.process, []).append(lag_ms)
    spreads = {process: spread(found) for process, found in lags.items()}
    return {process: found for process, found in spreads.items() if found is not None}


def _oldest_waiting(log: Log) -> list[float]:
    """For each of the log's offsets, and for its end: since when the first record from there on
    that everybody may see had been there.
    """
    oldest = float("inf")
    backwards = [oldest]
    for record in reversed(log.records):
        if record.is_visible and record.visible_ms is not None:
            oldest = min(oldest, record.visible_ms)
        backwards.append(oldest)
    backwards.reverse()
    return backwards
