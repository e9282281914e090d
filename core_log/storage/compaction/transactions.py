"""Which batches belong to aborted transactions, and which markers nobody needs any more.

Pure. A walk over the batches of a log in order, told beforehand what was aborted. A marker may go
when the walk met no batch of its transaction, not even an empty one: then an earlier cleaning took
the last record, and readers need no one to tell them how it ended. Its delete horizon is reckoned
from the cleaning that finds this out, as Kafka does (KIP-534).
"""

from collections.abc import Sequence
from typing import final

from ..aborted import AbortedTransaction
from .job import AbortedTransactionFact


@final
class TransactionWalk:
    """One pass; ``index`` gathers what the transaction index of the new segments has to hold."""

    def __init__(self, aborted: Sequence[AbortedTransactionFact]) -> None:
        self.index: list[AbortedTransaction] = []
        self._coming = sorted(aborted, key=lambda fact: fact.first_offset, reverse=True)
        self._aborting: dict[int, AbortedTransactionFact] = {}
        self._is_observed: set[int] = set()  # producers with a batch since their last marker

    def on_data(self, producer_id: int, last_offset: int) -> bool:
        """Pass a transactional batch of records; whether its transaction was aborted."""
        self._begin(last_offset)
        self._is_observed.add(producer_id)
        return producer_id in self._aborting

    def on_marker(self, producer_id: int, offset: int) -> bool:
        """Pass a marker, commit or abort; whether no batch of its transaction was met."""
        self._begin(offset)
        was_observed = producer_id in self._is_observed
        self._is_observed.discard(producer_id)
        aborted = self._aborting.pop(producer_id, None)
        if aborted is not None and was_observed:
            self.index.append(
                AbortedTransaction(
                    producer_id=producer_id,
                    first_offset=aborted.first_offset,
                    last_offset=aborted.last_offset,
                    last_stable_offset=aborted.last_stable_offset,
                )
            )
        return not was_observed

    def take_index(self) -> list[AbortedTransaction]:
        """The entries since the last call, oldest marker first."""
        taken, self.index = self.index, []
        return taken

    def _begin(self, offset: int) -> None:
        while self._coming and self._coming[-1].first_offset <= offset:
            fact = self._coming.pop()
            # One that ended before the walk began, or whose marker is gone, must not be taken for
            # what its producer did later.
            if fact.last_offset >= offset:
                self._aborting[fact.producer_id] = fact
