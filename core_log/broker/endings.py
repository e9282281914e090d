"""Requests that wait a moment for the end of a transaction instead of being sent away.

Kafka's coordinator answers CONCURRENT_TRANSACTIONS and its clients come back after 20 to 100 ms,
while the markers of a small transaction are written in two or three.
"""

from collections.abc import Callable
from typing import Any, final

from ..kernel.errors import ErrorCode
from ..protocol.messages.add_partitions_to_txn import AddPartitionsToTxnResponse
from .timers import Timer, Timers


@final
class Endings:
    """Who waits for which transactional id; each entry has a deadline."""

    def __init__(self, timers: Timers) -> None:
        self._timers = timers
        self._waiting: dict[str, list[tuple[Timer, Callable[[], None]]]] = {}

    def wait(self, transactional_id: str, again: Callable[[], None], deadline_ms: int) -> None:
        """Call *again* when the id's transaction has ended, or at the deadline."""
        timer = self._timers.at(deadline_ms, lambda: self.ended(transactional_id))
        self._waiting.setdefault(transactional_id, []).append((timer, again))

    def ended(self, transactional_id: str) -> None:
        """The id's transaction has ended: let everybody ask again."""
        for timer, again in self._waiting.pop(transactional_id, ()):
            timer.cancel()
            again()


def is_concurrent(response: Any) -> bool:
    """A coordinator's response says that the id's last transaction is still ending."""
    if isinstance(response, AddPartitionsToTxnResponse):
        topics = list(response.results_by_topic_v3_and_below)
        for transaction in response.results_by_transaction:
            topics += transaction.topic_results
        return any(
            result.partition_error_code == ErrorCode.CONCURRENT_TRANSACTIONS
            for topic in topics
            for result in topic.results_by_partition
        )
    return getattr(response, "error_code", None) == ErrorCode.CONCURRENT_TRANSACTIONS
