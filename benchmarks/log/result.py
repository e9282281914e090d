"""What a run found: JSON with the machine, a table, and the goals held against it. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from statistics import median
from typing import Final

import msgspec

from .machine import Machine

PEER: Final = "kafka"
OURS: Final = "headwater"
HIGHER_IS_BETTER: Final = ("_per_second", "mb_s")
MAIN_METRICS: Final = (
    *("mb_s", "records_per_second", "requests_per_second", "p50_us", "p99_us", "ready_seconds"),
    *("idle_mb", "idle_cpu_percent", "create_seconds", "restart_ready_seconds", "created_mb"),
    *("produced_mb", "cpu_seconds_per_gb", "cpu_us_per_request", "after_mb"),
)
"""In the table, in this order; the JSON has all."""


class RowResult(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    rounds: dict[str, list[dict[str, float]]]
    """By system: one dict of metrics per round, in the order of the run."""
    failure: str | None = None

    def median_of(self, system: str, metric: str) -> float | None:
        values = [each[metric] for each in self.rounds.get(system, []) if metric in each]
        return median(values) if values else None

    def ratio(self, metric: str) -> float | None:
        """Ours divided by the peer's; None unless both were measured."""
        ours, peer = self.median_of(OURS, metric), self.median_of(PEER, metric)
        return ours / peer if ours is not None and peer else None

    def metrics(self) -> list[str]:
        """Those that the table shows and some system has."""
        known = {name for rounds in self.rounds.values() for each in rounds for name in each}
        return [metric for metric in MAIN_METRICS if metric in known]


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the benchmark."""

    taken_at: str
    commit: str
    machine: Machine
    options: dict[str, str | int | bool]
    seconds: float
    rows: list[RowResult]


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A bound on a row's metric: on the ratio of ours to the peer's, or on ours alone."""

    rows: str
    """A pattern of row names, as in a shell."""
    metric: str
    bound: float
    absolute: bool = False

    @property
    def wants_more(self) -> bool:
        return self.metric.endswith(HIGHER_IS_BETTER)

    def __str__(self) -> str:
        what = "" if self.absolute else " of Kafka's"
        sign = ">=" if self.wants_more else "<="
        return f"{self.rows} {self.metric} {sign} {self.bound:g}{what}"

    def value(self, row: RowResult) -> float | None:
        return row.median_of(OURS, self.metric) if self.absolute else row.ratio(self.metric)

    def is_met(self, value: float) -> bool:
        return value >= self.bound if self.wants_more else value <= self.bound


GOALS: Final = (
    Goal(rows="produce/*/16K/none/*", metric="mb_s", bound=2.0),
    Goal(rows="produce/*/1M/none/*", metric="mb_s", bound=1.5),
    Goal(rows="consume/*/none", metric="mb_s", bound=1.5),
    Goal(rows="produce/*/none/*", metric="cpu_seconds_per_gb", bound=1 / 3),
    Goal(rows="consume/*/none", metric="cpu_seconds_per_gb", bound=1 / 3),
    Goal(rows="requests/1/*", metric="requests_per_second", bound=1.0),
    Goal(rows="requests/10/*", metric="requests_per_second", bound=1.5),
    Goal(rows="requests/100/*", metric="requests_per_second", bound=1.5),
    Goal(rows="latency/*", metric="p99_us", bound=1.0),
    Goal(rows="start/empty", metric="ready_seconds", bound=0.5, absolute=True),
    Goal(rows="start/empty", metric="idle_mb", bound=60.0, absolute=True),
)


def table(result: Result) -> Iterator[str]:
    """Lines of a Markdown table: medians of the rounds, and ours divided by Kafka's."""
    yield "| row | metric | Kafka | Headwater | ratio |"
    yield "|---|---|---:|---:|---:|"
    for row in result.rows:
        if row.failure is not None:
            yield f"| {row.name} | failed: {row.failure.splitlines()[0][:80]} | | | |"
        for metric in row.metrics():
            peer, ours = row.median_of(PEER, metric), row.median_of(OURS, metric)
            ratio = row.ratio(metric)
            shown = "" if ratio is None else f"{ratio:.2f}"
            yield f"| {row.name} | {metric} | {_number(peer)} | {_number(ours)} | {shown} |"


def verdicts(result: Result) -> Iterator[str]:
    """A line for each goal that some row speaks to: met or missed, and by which rows."""
    for goal in GOALS:
        values = [
            (row.name, value)
            for row in result.rows
            if fnmatchcase(row.name, goal.rows) and (value := goal.value(row)) is not None
        ]
        missed = [f"{name} {value:.2f}" for name, value in values if not goal.is_met(value)]
        if missed:
            yield f"MISSED  {goal}: {'; '.join(missed)}"
        elif values:
            worst = (min if goal.wants_more else max)(value for _, value in values)
            yield f"met     {goal}: worst {worst:.2f}"


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    if value >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
