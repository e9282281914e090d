"""All transactional ids of one partition of __transaction_state: the core its runtime drives.

After the shape of Kafka's coordinator runtime (KIP-848), which Kafka's own transaction coordinator
does not have yet: a request becomes records and responses, the records alone rebuild the state.
Memory runs ahead of the log, so there is no pending state between a decision and its record; every
answer that may depend on a record waits until it is committed.
"""

from collections.abc import Collection
from typing import assert_never

import msgspec

from ..kernel.effects import NO_EFFECTS, Effects, Turn
from ..kernel.errors import ApiError, ErrorCode
from ..protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from ..protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from ..protocol.messages.describe_transactions import DescribeTransactionsRequest
from ..protocol.messages.end_txn import EndTxnRequest
from ..protocol.messages.init_producer_id import InitProducerIdRequest
from ..protocol.messages.list_transactions import ListTransactionsRequest
from .adding import add_offsets, add_partitions, find, verify
from .config import TransactionConfig
from .ending import end_transaction, go_on_ending, markers_written
from .expiry import Sweep
from .initializing import init_producer_id
from .listing import describe_transactions, list_transactions
from .ports import ClusterFacts, ProducerIdSource
from .records import read_record
from .refusals import TransactionRequest
from .state import Call, ShardState
from .transaction import ENDING, TopicPartition


class TransactionShard:
    """The transactional ids of one partition of __transaction_state.

    First ``replay`` every record of the partition, then ``loaded``; from then on ``step`` for each
    request, ``markers_written`` for each order that was carried out, and ``tick`` whenever
    ``next_deadline_ms`` has come. One caller at a time.
    """

    def __init__(
        self, config: TransactionConfig, ids: ProducerIdSource, cluster: ClusterFacts
    ) -> None:
        self._state = ShardState(config, ids, cluster)
        self._sweep = Sweep()

    def __repr__(self) -> str:
        return f"<TransactionShard [{len(self._state.transactions)} transactional ids]>"

    @property
    def next_deadline_ms(self) -> int | None:
        """When ``tick`` has something to do; None before ``loaded``."""
        return self._sweep.next_ms()

    def replay(self, key: bytes, value: bytes | None, *, timestamp_ms: int) -> None:  # noqa: ARG002 - records carry the times that transactions need
        """Take one record of the partition into account.

        Raises UnreadableRecordError when the record says it is a transaction's and is broken.
        """
        record = read_record(key, value)
        if record is None:
            return
        if record.transaction is None:
            self._state.transactions.pop(record.transactional_id, None)
        else:
            self._state.transactions[record.transactional_id] = record.transaction

    def loaded(
        self, now_ms: int, *, coordinator_epoch: int, connections_before: int = 0
    ) -> Effects:
        """Order the markers of transactions that were ending, and start the clocks.

        *coordinator_epoch* is the leader epoch of the partition and goes into the markers.
        Connections with numbers below *connections_before* were there before this shard was: a
        request of theirs may be one that an earlier shard has served (see ``guard``).
        """
        state, turn = self._state, Turn(now_ms=now_ms, atomic=False)
        state.coordinator_epoch = coordinator_epoch
        state.guard.begin(connections_before=connections_before)
        state.offsets_guard.begin(connections_before=connections_before)
        for transaction in state.transactions.values():
            if transaction.state in ENDING:
                go_on_ending(state, transaction, turn)
        self._sweep.start(state, now_ms=now_ms)
        return turn.effects()

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
        assert isinstance(request, TransactionRequest), (
            f"{type(request).__name__} is not for transactions"
        )
        turn = Turn(now_ms=now_ms)
        self._dispatch(request, Call(request, version, connection, reply_to), turn)
        return turn.effects()

    def verify(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        topic: str,
        partition: int,
    ) -> ErrorCode:
        """NONE when the partition is in the producer's ongoing transaction (KIP-890, part 1).

        Else TRANSACTION_ABORTABLE, for which older clients are told INVALID_TXN_STATE, or what says
        why the transaction is not the producer's. Holds once everything the shard has asked to
        append is committed.
        """
        name: TopicPartition = (topic, partition)
        identity = (transactional_id, producer_id, producer_epoch)
        try:
            return verify(self._state, identity, [name])[name]
        except ApiError as error:
            return error.code

    def admit_offsets(
        self, transactional_id: str, producer_id: int, producer_epoch: int, *, connection: int
    ) -> ErrorCode:
        """NONE when a TxnOffsetCommit of version 1 on *connection* is not one of the past.

        NOT_COORDINATOR when it may be (see ``guard``): refuse it and close the connection. Else
        what says why the transaction is not the producer's.
        """
        try:
            find(self._state, transactional_id, producer_id, producer_epoch)
        except ApiError as error:
            return error.code
        if self._state.offsets_guard.admits(transactional_id, connection):
            return ErrorCode.NONE
        return ErrorCode.NOT_COORDINATOR

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
        turn = Turn(now_ms=now_ms)
        identity = (transactional_id, producer_id, producer_epoch)
        markers_written(self._state, identity, partitions, turn)
        return turn.effects()

    def tick(self, now_ms: int) -> Effects:
        """What follows from the time: transactions time out, transactional ids expire.

        Of the search for expired ids one part is done; the rest is due at once.
        """
        turn = Turn(now_ms=now_ms)
        self._sweep.step(self._state, turn)
        return turn.effects()

    def unload(self, code: ErrorCode) -> Effects:  # noqa: ARG002 - the surface that all shards share
        """Replies with *code* for every caller that waits inside: nobody ever does."""
        return NO_EFFECTS

    def check(self) -> None:
        """Assert the invariants of every transaction; simulation calls this after every event."""
        for transactional_id, transaction in self._state.transactions.items():
            assert transaction.transactional_id == transactional_id
            transaction.check()

    def _dispatch(self, request: TransactionRequest, call: Call, turn: Turn) -> None:
        state = self._state
        match request:
            case InitProducerIdRequest():
                init_producer_id(state, request, call=call, turn=turn)
            case AddPartitionsToTxnRequest():
                add_partitions(state, request, call=call, turn=turn)
            case AddOffsetsToTxnRequest():
                add_offsets(state, request, call=call, turn=turn)
            case EndTxnRequest():
                end_transaction(state, request, call=call, turn=turn)
            case DescribeTransactionsRequest():
                describe_transactions(state, request, call=call, turn=turn)
            case ListTransactionsRequest():
                list_transactions(state, request, call=call, turn=turn)
            case _:
                assert_never(request)
