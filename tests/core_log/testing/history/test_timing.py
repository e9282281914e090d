"""Lag, gaps and percentiles, by hand on small numbers."""

import pytest

from headwater.core_log.testing.history import (
    Aborted,
    Acked,
    Committed,
    Committing,
    Event,
    Poll,
    Send,
    Spread,
    gaps,
    judge,
    longest_gap_ms,
)
from headwater.core_log.testing.history.timing import spread


def written(
    value: str, offset: int, at_ms: int | None, transaction: str | None = None
) -> list[Event]:
    sent = Send(process="p", value=value, idempotent=True, transaction=transaction)
    return [sent, Acked(value=value, topic="t", partition=0, offset=offset, at_ms=at_ms)]


def poll(at_ms: int, *records: tuple[int, str], process: str = "r", dirty: bool = False) -> Poll:
    return Poll(
        process=process,
        records=tuple(("t", 0, offset, value) for offset, value in records),
        subscribed=False,
        read_committed=not dirty,
        at_ms=at_ms,
    )


def lags(*events: Event) -> dict[str, Spread]:
    return dict(judge(events, caught_up=False).timing.lags)


def test_lag_is_the_age_of_the_oldest_record_not_read_yet() -> None:
    """At the second poll, before it gave anything: b had been there for 30 ms, c for 10."""
    found = lags(
        *(*written("a", 0, 10), *written("b", 1, 20), *written("c", 2, 40)),
        *(poll(15, (0, "a")), poll(50, (1, "b"), (2, "c"))),
    )
    assert found == {"r": Spread(count=1, p99_ms=30, ms_max=30)}


def test_a_first_poll_has_no_lag() -> None:
    """Who begins at the beginning of an old log is not late."""
    assert lags(*written("a", 0, 10), poll(5_000, (0, "a"))) == {}


def test_a_transactions_records_are_there_from_its_end_on() -> None:
    end: list[Event] = [Committing(transaction="t"), Committed(transaction="t", at_ms=90)]
    found = lags(
        *written("a", 0, 10),
        *(*written("b", 1, 20, "t"), *end),
        *(poll(15, (0, "a")), poll(100, (1, "b"))),
    )
    assert found["r"].ms_max == 10


def test_aborted_records_keep_nobody_waiting() -> None:
    found = lags(
        *(*written("a", 0, 10), *written("b", 1, 20, "t"), Aborted(transaction="t", at_ms=30)),
        *written("c", 2, 80),
        *(poll(15, (0, "a")), poll(100, (2, "c"))),
    )
    assert found["r"].ms_max == 20


def test_what_came_by_surprise_has_no_lag() -> None:
    """A record polled before its acknowledgement, or one whose time nobody noted."""
    found = lags(
        *(*written("a", 0, 10), *written("b", 1, 120), *written("c", 2, None)),
        *(poll(15, (0, "a")), poll(100, (1, "b")), poll(200, (2, "c"))),
    )
    assert found == {"r": Spread(count=2, p99_ms=0, ms_max=0)}


def test_readers_at_read_uncommitted_have_no_lag() -> None:
    """They see records before they are promised."""
    found = lags(
        *(*written("a", 0, 10), *written("b", 1, 20)),
        *(poll(15, (0, "a"), dirty=True), poll(50, (1, "b"), dirty=True)),
    )
    assert found == {}


@pytest.mark.parametrize(
    ("durations", "expected"),
    [
        ([], None),
        ([7], Spread(count=1, p99_ms=7, ms_max=7)),
        ([*range(1, 101)], Spread(count=100, p99_ms=99, ms_max=100)),
        ([*range(1, 201)], Spread(count=200, p99_ms=198, ms_max=200)),
    ],
)
def test_a_spread_is_three_numbers(durations: list[int], expected: Spread | None) -> None:
    assert spread(durations) == expected


def test_gaps_are_between_neighbours() -> None:
    assert gaps([]) is None
    assert gaps([5]) is None
    assert gaps([5, 6, 16]) == Spread(count=2, p99_ms=10, ms_max=10)


@pytest.mark.parametrize(
    ("start_ms", "end_ms", "expected"),
    [
        (12, 13, 10),  # inside the space from 10 to 20
        (5, 25, 30),  # touches the spaces around it
        (21, 22, 30),
        (60, 65, 15),  # from the last success to the end of the fault
        (-50, 2, 50),  # from the beginning of the fault
    ],
)
def test_the_longest_gap_is_one_that_touches_the_fault(
    start_ms: int, end_ms: int, expected: int
) -> None:
    assert longest_gap_ms([0, 10, 20, 50], start_ms=start_ms, end_ms=end_ms) == expected


def test_without_success_there_is_no_gap_to_tell() -> None:
    assert longest_gap_ms([], start_ms=0, end_ms=10) is None
