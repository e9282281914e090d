"""AddPartitionsToTxn and AddOffsetsToTxn: partitions join a transaction, or are looked up in it.

Kafka's behaviour, with these deviations: a transaction has a bound of partitions and of bytes
(POLICY_VIOLATION); a request without partitions changes nothing; a producer that was given a new
id and asks before the markers are written is told CONCURRENT_TRANSACTIONS.
"""

from collections.abc import Iterable
from typing import Final

from ..kernel.effects import Turn
from ..kernel.errors import ApiError, ErrorCode
from ..protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from ..protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from .records import record_bytes_max
from .refusals import ADD_PARTITIONS_IN_TRANSACTIONS_SINCE
from .state import Call, ShardState, answer, is_next_producer, refuse, send_away
from .transaction import (
    ENDING,
    EPOCH_BUMP_VERSION,
    EPOCH_MAX,
    TopicPartition,
    Transaction,
)

OFFSETS_TOPIC: Final = "__consumer_offsets"


def add_partitions(
    state: ShardState, request: AddPartitionsToTxnRequest, *, call: Call, turn: Turn
) -> None:
    """The partitions are in the transaction, which begins with the first of them."""
    if call.version < ADD_PARTITIONS_IN_TRANSACTIONS_SINCE:
        partitions = _partitions(request.v3_and_below_topics)
        joined = _join(
            state,
            (
                request.v3_and_below_transactional_id,
                request.v3_and_below_producer_id,
                request.v3_and_below_producer_epoch,
            ),
            partitions,
            client_version=0,
            call=call,
            turn=turn,
        )
    else:
        assert len(request.transactions) == 1, "the caller cuts a request into its transactions"
        asked = request.transactions[0]
        if asked.verify_only:
            _answer_verification(state, asked, call=call, turn=turn)
            return
        joined = _join(
            state,
            (asked.transactional_id, asked.producer_id, asked.producer_epoch),
            _partitions(asked.topics),
            client_version=EPOCH_BUMP_VERSION,
            call=call,
            turn=turn,
        )
    if joined:
        refuse(call, ErrorCode.NONE, turn)  # the same shape, with no error in it


def add_offsets(
    state: ShardState, request: AddOffsetsToTxnRequest, *, call: Call, turn: Turn
) -> None:
    """The partition that holds the group's offsets is in the transaction."""
    partition = state.cluster.offsets_partition(request.group_id)
    if partition is None:
        refuse(call, ErrorCode.COORDINATOR_NOT_AVAILABLE, turn)
        return
    identity = (request.transactional_id, request.producer_id, request.producer_epoch)
    partitions = [(OFFSETS_TOPIC, partition)]
    if _join(state, identity, partitions, client_version=0, call=call, turn=turn):
        answer(call, AddOffsetsToTxnResponse(), turn)


def verify(
    state: ShardState, identity: tuple[str, int, int], partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, ErrorCode]:
    """For each partition NONE, or TRANSACTION_ABORTABLE when it has not joined the transaction.

    Raises ApiError when the transaction is not this producer's, or is ending.
    """
    transaction = find(state, *identity)
    if transaction.state in ENDING:
        raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
    return {
        partition: ErrorCode.NONE
        if partition in transaction.partitions
        else ErrorCode.TRANSACTION_ABORTABLE
        for partition in partitions
    }


def _join(
    state: ShardState,
    identity: tuple[str, int, int],
    partitions: list[TopicPartition],
    *,
    client_version: int,
    call: Call,
    turn: Turn,
) -> bool:
    """Whether the partitions are in the transaction now; the call is answered when they are not."""
    try:
        transaction = find(state, *identity)
        of_old_client = client_version < EPOCH_BUMP_VERSION
        if of_old_client and not state.guard.admits(identity[0], call.connection):
            send_away(call, transaction, turn)
            return False
        if transaction.state in ENDING:
            raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
        new = [p for p in dict.fromkeys(partitions) if p not in transaction.partitions]
        if new:
            _check_room(state, transaction, new, turn)
    except ApiError as error:
        refuse(call, error.code, turn)
        return False
    if new:
        transaction.add(new, client_version=client_version, now_ms=turn.now_ms)
        state.write(transaction, turn)
    return True


def find(
    state: ShardState, transactional_id: str, producer_id: int, producer_epoch: int
) -> Transaction:
    """The transaction of this producer.

    Raises ApiError: INVALID_PRODUCER_ID_MAPPING when the id is another producer's or nobody's,
    PRODUCER_FENCED when the epoch is not the one at hand, CONCURRENT_TRANSACTIONS when it is the
    producer that comes next.
    """
    if not transactional_id:
        raise ApiError(ErrorCode.INVALID_REQUEST)
    transaction = state.transactions.get(transactional_id)
    if transaction is None:
        raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if is_next_producer(transaction, producer_id, producer_epoch):
        raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
    if transaction.producer_id != producer_id:
        raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if transaction.producer_epoch != producer_epoch or producer_epoch == EPOCH_MAX:
        raise ApiError(ErrorCode.PRODUCER_FENCED)
    return transaction


def _check_room(
    state: ShardState, transaction: Transaction, new: list[TopicPartition], turn: Turn
) -> None:
    """Raises ApiError when the transaction would have too many partitions for its record."""
    config = state.config
    count = len(transaction.partitions) + len(new)
    size = record_bytes_max(transaction.transactional_id, [*transaction.partitions, *new])
    if count > config.transaction_partitions_max or size > config.batch_bytes_max:
        turn.note(
            "transaction_too_large",
            transactional_id=transaction.transactional_id,
            partitions=count,
            partitions_max=config.transaction_partitions_max,
            record_bytes=size,
            record_bytes_max=config.batch_bytes_max,
        )
        raise ApiError(ErrorCode.POLICY_VIOLATION)


def _answer_verification(
    state: ShardState, asked: AddPartitionsToTxnTransaction, *, call: Call, turn: Turn
) -> None:
    identity = (asked.transactional_id, asked.producer_id, asked.producer_epoch)
    try:
        codes = verify(state, identity, _partitions(asked.topics))
    except ApiError as error:
        refuse(call, error.code, turn)
        return
    topics = [
        AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(
                    partition_index=index, partition_error_code=codes[topic.name, index]
                )
                for index in topic.partitions
            ],
        )
        for topic in asked.topics
    ]
    result = AddPartitionsToTxnResult(transactional_id=asked.transactional_id, topic_results=topics)
    answer(call, AddPartitionsToTxnResponse(results_by_transaction=[result]), turn)


def _partitions(topics: Iterable[AddPartitionsToTxnTopic]) -> list[TopicPartition]:
    return [(topic.name, index) for topic in topics for index in topic.partitions]
