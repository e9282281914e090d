"""Judge what clients saw: a history of sends, transactions and polls in, anomalies out.

Pure. The rules are those that Jepsen's Kafka workload made known, and a few for groups' offsets.
``events`` says what clients write down, ``rules`` what can be broken, ``judge`` gives the verdict.
Logs that lose records on purpose (retention, compaction) do not belong in a history.
"""

from .events import (
    EVENT_DECODER,
    Aborted,
    Acked,
    Begun,
    Committed,
    Committing,
    Event,
    GroupOffset,
    Moved,
    OffsetsAcked,
    OffsetsFetched,
    OffsetsSent,
    Partition,
    Poll,
    PolledRecord,
    Refused,
    Send,
    read_history,
)
from .index import Outcome
from .judge import Verdict, check, judge
from .rules import ALWAYS_ALLOWED, Anomaly, Rule
from .timing import Spread, Timing, gaps, longest_gap_ms, spread

__all__ = [
    "ALWAYS_ALLOWED",
    "EVENT_DECODER",
    "Aborted",
    "Acked",
    "Anomaly",
    "Begun",
    "Committed",
    "Committing",
    "Event",
    "GroupOffset",
    "Moved",
    "OffsetsAcked",
    "OffsetsFetched",
    "OffsetsSent",
    "Outcome",
    "Partition",
    "Poll",
    "PolledRecord",
    "Refused",
    "Rule",
    "Send",
    "Spread",
    "Timing",
    "Verdict",
    "check",
    "gaps",
    "judge",
    "longest_gap_ms",
    "read_history",
    "spread",
]
