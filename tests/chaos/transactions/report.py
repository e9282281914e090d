"""What a run has shown, for people and for an exit code."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from headwater.core_log.testing.history import (
    Anomaly,
    Outcome,
    Rule,
    Verdict,
    gaps,
    longest_gap_ms,
    spread,
)

from .faults import Fault

LINES_MAX: Final = 30

HOLE: Final = frozenset(
    {
        *(Rule.G1A, Rule.TORN_TRANSACTION, Rule.LOST_WRITE, Rule.UNSEEN),
        *(Rule.POLL_SKIP, Rule.INT_POLL_SKIP, Rule.NOT_PROCESSED, Rule.PROCESSED_TWICE),
    }
)
"""What a late request of a version-1 client can do on Apache Kafka, which has no guard against it
(KAFKA-17754): it ends the transaction after its own."""
HOLE_OF_ANYBODY: Final = frozenset({Rule.STALE_OFFSET, Rule.PHANTOM_OFFSET})
"""... and who notices need not be of version 1."""
VERSION_1: Final = ("'confluent", "'kafka-python", " confluent", " kafka-python")
"""How anomalies name records and transactions of such clients."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blow:
    """One fault as it happened."""

    fault: Fault
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    verdict: Verdict
    blows: Sequence[Blow]
    failures: Sequence[str]
    """What went wrong beside the history: workers that ended, transactions that hang."""
    notes: Sequence[str]
    connection_count: int
    has_hole: bool
    """Whether the broker is known not to keep its promises to version-1 clients."""

    @property
    def anomalies(self) -> list[Anomaly]:
        """Those that nothing explains."""
        return [each for each in self.verdict.anomalies if not self._is_known(each)]

    @property
    def is_clean(self) -> bool:
        return not (self.anomalies or self.failures)

    def _is_known(self, anomaly: Anomaly) -> bool:
        is_version_1 = any(name in f" {anomaly.facts}" for name in VERSION_1)
        is_of_the_hole = anomaly.rule in HOLE_OF_ANYBODY or (anomaly.rule in HOLE and is_version_1)
        return self.has_hole and is_of_the_hole

    def __str__(self) -> str:
        verdict = self.verdict
        outcomes = _counted(verdict.outcomes)
        allowed = _counted(verdict.allowed)
        records = (
            f"{verdict.sent_count:,} sent, {verdict.acked_count:,} acknowledged, "
            f"{verdict.polled_count:,} polled by all readers"
        )
        counts = Counter(anomaly.rule for anomaly in self.anomalies)
        known = Counter(anomaly.rule for anomaly in verdict.anomalies if self._is_known(anomaly))
        return "\n".join(
            [
                f"transactions: {outcomes or 'none'}",
                f"records: {records}",
                f"allowed and seen: {allowed or 'nothing'}",
                f"{self.connection_count:,} connections",
                *self._faults(),
                *self._times(),
                *([f"known hole of version 1: {_counted(known)}"] if known else []),
                *(f"{rule}: {count}" for rule, count in sorted(counts.items())),
                *(str(anomaly) for anomaly in self.anomalies[:LINES_MAX]),
                *self.notes,
                *self.failures,
            ]
        )

    def _faults(self) -> list[str]:
        """How often each happened, and how long nothing got through around it at worst."""
        lines = []
        for fault in Fault:
            blows = [blow for blow in self.blows if blow.fault is fault]
            if not blows:
                continue
            found = ", ".join(
                f"{what} {spread(around)}"
                for what, times in self._successes().items()
                if (around := _gaps_around(blows, times))
            )
            lines.append(f"{fault}: {len(blows)} times; longest without {found}")
        return lines

    def _times(self) -> list[str]:
        lines = [f"between {what}: {gaps(times)}" for what, times in self._successes().items()]
        # The first that tail, not those started in the middle: they begin far behind.
        return lines + [
            f"lag of {name}: {lag}"
            for name, lag in sorted(self.verdict.timing.lags.items())
            if name.endswith("-committed/0")
        ]

    def _successes(self) -> dict[str, Sequence[int]]:
        timing = self.verdict.timing
        return {
            "acknowledgements": timing.acked_ms,
            "commits": timing.committed_ms,
            "polls": timing.polled_ms,
        }


def _gaps_around(blows: Sequence[Blow], times_ms: Sequence[int]) -> list[int]:
    gaps_ms = (
        longest_gap_ms(times_ms, start_ms=blow.start_ms, end_ms=blow.end_ms) for blow in blows
    )
    return [gap_ms for gap_ms in gaps_ms if gap_ms is not None]


def _counted(counts: Mapping[Outcome, int] | Mapping[Rule, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()))
