"""Medians, ratios and goals of the comparison with Kafka."""

from fnmatch import fnmatchcase

import pytest

from headwater.benchmarks.log.machine import Machine
from headwater.benchmarks.log.result import GOALS, Goal, Result, RowResult, table, verdicts
from headwater.benchmarks.log.rows import all_rows

MACHINE = Machine(
    processor="x",
    cores=2,
    memory_gib=24.0,
    kernel="Linux",
    python="3.11",
    java="17",
    librdkafka="2.16",
    load_1min_before=0.0,
)


def row(name: str, metric: str, *, kafka: list[float], ours: list[float]) -> RowResult:
    return RowResult(
        name=name,
        rounds={
            "kafka": [{metric: value} for value in kafka],
            "headwater": [{metric: value} for value in ours],
        },
    )


def result(*rows: RowResult) -> Result:
    return Result(
        taken_at="2026-11-21T00:00:00Z",
        commit="",
        machine=MACHINE,
        options={},
        seconds=1.0,
        rows=list(rows),
    )


def test_a_ratio_is_ours_divided_by_kafkas_of_the_medians() -> None:
    """One slow round does not count."""
    measured = row("r", "mb_s", kafka=[100, 1, 110], ours=[300, 5, 400])
    assert measured.ratio("mb_s") == 3.0


def test_a_row_of_one_system_has_no_ratio() -> None:
    """The table shows the number and leaves the rest open."""
    measured = row("r", "mb_s", kafka=[100], ours=[])
    assert measured.ratio("mb_s") is None
    assert list(table(result(measured)))[2] == "| r | mb_s | 100 | - |  |"


@pytest.mark.parametrize(("ours", "verdict"), [(199.0, "MISSED"), (200.0, "met"), (201.0, "met")])
def test_a_rate_meets_its_goal_from_the_bound_on(ours: float, verdict: str) -> None:
    """At least twice Kafka's rate at 16 KB batches."""
    name = "produce/100B/16K/none/acks=all/lazy"
    (line,) = verdicts(result(row(name, "mb_s", kafka=[100], ours=[ours])))
    assert line.startswith(verdict)


@pytest.mark.parametrize(("ours", "verdict"), [(99.0, "met"), (100.0, "met"), (101.0, "MISSED")])
def test_a_latency_meets_its_goal_up_to_the_bound(ours: float, verdict: str) -> None:
    """No worse than Kafka's p99."""
    (line,) = verdicts(result(row("latency/acks=1/lazy", "p99_us", kafka=[100], ours=[ours])))
    assert line.startswith(verdict)


def test_an_absolute_goal_needs_no_peer() -> None:
    """Time to ready is bounded by itself."""
    lines = list(verdicts(result(row("start/empty", "ready_seconds", kafka=[], ours=[0.6]))))
    assert lines == ["MISSED  start/empty ready_seconds <= 0.5: start/empty 0.60"]


def test_a_missed_goal_names_the_rows_that_miss_it() -> None:
    """One bad row among good ones is enough."""
    good = row("produce/100B/1M/none/acks=1/lazy", "mb_s", kafka=[100], ours=[500])
    bad = row("produce/1024B/1M/none/acks=1/lazy", "mb_s", kafka=[100], ours=[120])
    (line,) = verdicts(result(good, bad))
    assert line.startswith("MISSED")
    assert line.endswith(": produce/1024B/1M/none/acks=1/lazy 1.20")


def test_a_failed_row_is_shown() -> None:
    """A failure is a line of the table, not a hole in it."""
    failed = RowResult(name="r", rounds={}, failure="the client ended\nwith much to say")
    assert list(table(result(failed)))[2] == "| r | failed: the client ended | | | |"


@pytest.mark.parametrize("goal", GOALS, ids=str)
def test_every_goal_speaks_to_some_row(goal: Goal) -> None:
    """A goal whose pattern fits no row would always be silent."""
    assert any(fnmatchcase(each.name, goal.rows) for each in all_rows())


def test_rows_have_names_of_their_own() -> None:
    """A name selects a row on the command line and finds it in a result."""
    names = [each.name for each in all_rows()]
    assert len(set(names)) == len(names)
