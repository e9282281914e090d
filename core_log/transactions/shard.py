"""All transactional ids of one partition of __transaction_state: the core its runtime drives."""

from collections.abc import Collection

import msgspec

from ..kernel.effects import Effects
from ..kernel.errors import ErrorCode
from .config import TransactionConfig
from .ports import ClusterFacts, ProducerIdSource


class TransactionShard:
    """The transactional ids of one partition of __transaction_state.

    First ``replay`` every record of the partition, then ``loaded``; from then on ``step`` for each
    request, ``markers_written`` for each order that was carried out, and ``tick`` whenever
    ``next_deadline_ms`` has come. One caller at a time.
    """

    def __init__(
        self, config: TransactionConfig, ids: ProducerIdSource, cluster: ClusterFacts
    ) -> None:
        raise NotImplementedError

    @property
    def next_deadline_ms(self) -> int | None:
        """When ``tick`` has something to do; None before ``loaded``."""
        raise NotImplementedError

    def replay(self, key: bytes, value: bytes | None, *, timestamp_ms: int) -> None:
        """Take one record of the partition into account.

        Raises UnreadableRecordError when the record says it is a transaction's and is broken.
        """
        raise NotImplementedError

    def loaded(
        self, now_ms: int, *, coordinator_epoch: int, connections_before: int = 0
    ) -> Effects:
        """Order the markers of transactions that were ending, and start the clocks.

        *coordinator_epoch* is the leader epoch of the partition and goes into the markers.
        Connections with numbers below *connections_before* were there before this shard was: a
        request of theirs may be one that an earlier shard has served (see ``guard``).
        """
        raise NotImplementedError

    def step(
        self,
        request: msgspec.Struct,
        *,
        version: int,
        connection: int,
        reply_to: object,
        now_ms: int,
    ) -> Effects:
        """What follows from *request*: exactly one reply to *reply_to*, now or after the commit.

        An AddPartitionsToTxnRequest of version 4 or above names exactly one transaction.
        """
        raise NotImplementedError

    def verify(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        topic: str,
        partition: int,
    ) -> ErrorCode:
        """NONE when the partition is in the producer's ongoing transaction (KIP-890, part 1).

        Else TRANSACTION_ABORTABLE, or what says why the transaction is not the producer's. Holds
        once everything the shard has asked to append is committed.
        """
        raise NotImplementedError

    def markers_written(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Collection[tuple[str, int]],
        now_ms: int,
    ) -> Effects:
        """These partitions have the marker, or are gone; the last one completes the transaction.

        Nothing follows when the order is not the one at hand.
        """
        raise NotImplementedError

    def tick(self, now_ms: int) -> Effects:
        """What follows from the time: transactions time out, transactional ids expire."""
        raise NotImplementedError

    def unload(self, code: ErrorCode) -> Effects:
        """Replies with *code* for every caller that waits inside: nobody ever does."""
        raise NotImplementedError

    def check(self) -> None:
        """Assert the invariants of every transaction; simulation calls this after every event."""
        raise NotImplementedError
