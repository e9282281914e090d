"""The verdict on a history: every anomaly, what was allowed and counted, how long things took.

Pure, and about linear in the number of records.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .events import Event
from .index import Index, Outcome
from .offsets import not_exactly_once, offsets_out_of_date
from .polls import out_of_order_polls
from .rules import Anomaly, Rule
from .timing import Timing, timing
from .transactions import (
    aborted_reads,
    circular_reads,
    count_interleaved_writes,
    precommitted_reads,
    torn_transactions,
)
from .writes import duplicates, out_of_order_sends, sparse_offsets, unexpected, unread


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a history shows; ``anomalies`` are grouped by rule and empty when all is well."""

    anomalies: list[Anomaly]
    allowed: Mapping[Rule, int]
    """What Kafka does not promise, or had a reason: how often it was seen."""
    sent_count: int
    acked_count: int
    polled_count: int
    """Over all readers."""
    outcomes: Mapping[Outcome, int]
    timing: Timing


def check(
    history: Iterable[Event], *, caught_up: bool = True, dense: bool = False
) -> list[Anomaly]:
    """Every breach of a rule in *history*, grouped by rule; empty when all is well.

    A history should end with a fresh client that read every partition to its end at
    read_committed (*caught_up*): without it nobody can say that a record was never to be seen.
    With *dense*, every offset from 0 to the last one seen must have been read: true for a topic
    that only acknowledged and retried records reached, false where transactions leave markers.
    """
    index = Index.of(history)
    return _anomalies(index, caught_up=caught_up, dense=dense, allowed=Counter())


def judge(history: Iterable[Event], *, caught_up: bool = True) -> Verdict:
    """As ``check``, with everything else that can be told of *history*."""
    index = Index.of(history)
    allowed = Counter[Rule]()
    anomalies = _anomalies(index, caught_up=caught_up, dense=False, allowed=allowed)
    count_interleaved_writes(index, allowed=allowed)
    return Verdict(
        anomalies=anomalies,
        allowed=dict(allowed),
        sent_count=sum(record.is_sent for record in index.records.values()),
        acked_count=sum(record.acked_partition is not None for record in index.records.values()),
        polled_count=index.polled_count,
        outcomes=Counter(transaction.outcome for transaction in index.transactions.values()),
        timing=timing(index),
    )


def _anomalies(
    index: Index, *, caught_up: bool, dense: bool, allowed: Counter[Rule]
) -> list[Anomaly]:
    return [
        *index.contradictions,
        *duplicates(index, allowed=allowed),
        *unread(index, caught_up=caught_up),
        *unexpected(index),
        *aborted_reads(index),
        *precommitted_reads(index),
        *torn_transactions(index, caught_up=caught_up),
        *circular_reads(index),
        *out_of_order_sends(index),
        *out_of_order_polls(index, allowed=allowed),
        *offsets_out_of_date(index),
        *not_exactly_once(index, caught_up=caught_up),
        *(sparse_offsets(index) if dense else ()),
    ]
