"""EndTxn, time-outs, and what follows until every partition has its marker.

Kafka's behaviour (KIP-98, KIP-890). The decision is a record; when it is committed the client has
its answer and the markers are ordered; when all are written, a second record completes the
transaction. An abort without partitions, which version 2 allows, is completed at once.

Deviations, all towards less harm: a producer that ends its next transaction while markers of the
last one are being written is told to wait (CONCURRENT_TRANSACTIONS) where Kafka says
PRODUCER_FENCED or INVALID_PRODUCER_ID_MAPPING, which are final; a fenced producer of version 2
cannot pass for one that retries when its successor is of version 1.
"""

from collections.abc import Collection
from typing import Final

from ..kernel.effects import Turn
from ..kernel.errors import ApiError, ErrorCode
from ..kernel.ids import NO_PRODUCER_ID
from ..protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from .orders import WriteMarkers
from .state import Call, ShardState, answer, is_next_producer, refuse, send_away
from .transaction import (
    AT_REST,
    ENDING,
    EPOCH_BUMP_VERSION,
    EPOCH_MAX,
    TopicPartition,
    Transaction,
    TransactionState,
)

_EPOCH_BUMP_SINCE: Final = 5
"""The version of EndTxn from which its client speaks transaction version 2."""

_S = TransactionState


def end_transaction(state: ShardState, request: EndTxnRequest, *, call: Call, turn: Turn) -> None:
    """The transaction is decided, or was before in the same way and this is a retry."""
    try:
        transaction = _find(state, request)
        if call.version >= _EPOCH_BUMP_SINCE:
            if not _is_done(transaction, request):
                _decide_and_raise_epoch(state, transaction, request, turn)
            producer_id, producer_epoch = transaction.identity_after_end()
            answer(
                call,
                EndTxnResponse(producer_id=producer_id, producer_epoch=producer_epoch),
                turn,
            )
        else:
            if transaction.producer_epoch != request.producer_epoch:
                raise ApiError(ErrorCode.PRODUCER_FENCED)
            if not state.guard.admits(transaction.transactional_id, call.connection):
                send_away(call, transaction, turn)
                return
            if not _is_at_rest_as_asked(transaction, request):
                _decide(state, transaction, request, turn)
            answer(call, EndTxnResponse(), turn)
    except ApiError as error:
        refuse(call, error.code, turn)


def fence(state: ShardState, transaction: Transaction, turn: Turn) -> None:
    """Abort the ongoing transaction under an epoch that no producer has.

    The version is the cluster's, since no client asks. A producer of version 2 that aborts later
    is told the raised epoch and goes on; any other one is fenced. Raises ApiError:
    COORDINATOR_LOAD_IN_PROGRESS when the epoch is the last one and no producer id is at hand.
    """
    raises_epoch = state.cluster.transaction_version() >= EPOCH_BUMP_VERSION
    next_producer_id = _next_id(state, transaction) if raises_epoch else NO_PRODUCER_ID
    transaction.fence()
    transaction.end(
        is_commit=False,
        client_version=EPOCH_BUMP_VERSION if raises_epoch else 0,
        next_producer_id=next_producer_id,
        now_ms=turn.now_ms,
    )
    _write_decision(state, transaction, turn)


def go_on_ending(state: ShardState, transaction: Transaction, turn: Turn) -> None:
    """Order the markers that are missing, or complete the transaction when none is."""
    if not transaction.awaiting_markers:
        transaction.complete(now_ms=turn.now_ms)
        state.write(transaction, turn)
        return
    turn.order_after_commit(
        WriteMarkers(
            transactional_id=transaction.transactional_id,
            producer_id=transaction.producer_id,
            producer_epoch=transaction.producer_epoch,
            coordinator_epoch=state.coordinator_epoch,
            is_commit=transaction.is_commit,
            transaction_version=transaction.client_version,
            partitions=tuple(sorted(transaction.awaiting_markers)),
        )
    )


def markers_written(
    state: ShardState,
    identity: tuple[str, int, int],
    partitions: Collection[TopicPartition],
    turn: Turn,
) -> None:
    """Take note of written markers; the last ones complete the transaction."""
    transactional_id, producer_id, producer_epoch = identity
    transaction = state.transactions.get(transactional_id)
    if (
        transaction is None
        or transaction.state not in ENDING
        or (transaction.producer_id, transaction.producer_epoch) != (producer_id, producer_epoch)
    ):
        return  # the order was carried out twice
    for partition in partitions:
        transaction.awaiting_markers.pop(partition, None)
    if not transaction.awaiting_markers:
        go_on_ending(state, transaction, turn)


def _find(state: ShardState, request: EndTxnRequest) -> Transaction:
    """The transaction whose producer asks, or was told another id since.

    Raises ApiError: INVALID_PRODUCER_ID_MAPPING, CONCURRENT_TRANSACTIONS for the producer that
    comes next, PRODUCER_FENCED for the epoch that nobody has.
    """
    if not request.transactional_id:
        raise ApiError(ErrorCode.INVALID_REQUEST)
    transaction = state.transactions.get(request.transactional_id)
    if transaction is None:
        raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if is_next_producer(transaction, request.producer_id, request.producer_epoch):
        raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
    if transaction.producer_id != request.producer_id and not _missed_its_new_id(
        transaction, request
    ):
        raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if not 0 <= request.producer_epoch < EPOCH_MAX:
        raise ApiError(ErrorCode.PRODUCER_FENCED)
    return transaction


# Version 2: what was decided at epoch e is retried with e, and stands at e + 1 by then.


def _is_done(transaction: Transaction, request: EndTxnRequest) -> bool:
    """Whether a request of version 2 is the retry of one that has been carried out.

    Raises ApiError: PRODUCER_FENCED for an epoch that fits neither the transaction at hand nor the
    one before, CONCURRENT_TRANSACTIONS while the markers of the one before are being written,
    INVALID_TXN_STATE when that was decided the other way.
    """
    if _is_retry(transaction, request):
        if transaction.is_commit != request.committed:
            raise ApiError(ErrorCode.INVALID_TXN_STATE)
        if transaction.state in ENDING:
            raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
        return True
    if transaction.producer_epoch != request.producer_epoch:
        raise ApiError(ErrorCode.PRODUCER_FENCED)
    if transaction.state in ENDING:
        raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
    return False


def _is_retry(transaction: Transaction, request: EndTxnRequest) -> bool:
    """Whether the request is from before the raise of the epoch that it asks for.

    What a client of version 1 has decided is nobody's retry: that epoch was raised to fence the
    producer that asks, not for it. Nor is what stands at the epoch that is given to nobody.
    """
    if _missed_its_new_id(transaction, request):
        return True
    return (
        transaction.state not in (_S.EMPTY, _S.ONGOING)
        and transaction.client_version >= EPOCH_BUMP_VERSION
        and transaction.producer_epoch == request.producer_epoch + 1
        and transaction.identity_after_end()[1] != EPOCH_MAX
    )


def _missed_its_new_id(transaction: Transaction, request: EndTxnRequest) -> bool:
    """Whether the producer ended its transaction at the last epoch and does not know its new id."""
    return (
        transaction.previous_producer_id == request.producer_id
        and request.producer_epoch == EPOCH_MAX - 1
        and transaction.producer_epoch == 0
        and transaction.state in (_S.COMPLETE_COMMIT, _S.COMPLETE_ABORT)
    )


def _decide_and_raise_epoch(
    state: ShardState, transaction: Transaction, request: EndTxnRequest, turn: Turn
) -> None:
    """End the transaction at hand; an abort is welcome without one.

    A client that does not know whether any record reached a partition aborts to be sure. Raises
    ApiError: INVALID_TXN_STATE for a commit of nothing, COORDINATOR_LOAD_IN_PROGRESS while there is
    no producer id to go on with.
    """
    if transaction.state in AT_REST and request.committed:
        raise ApiError(ErrorCode.INVALID_TXN_STATE)
    transaction.end(
        is_commit=request.committed,
        client_version=EPOCH_BUMP_VERSION,
        next_producer_id=_next_id(state, transaction),
        now_ms=turn.now_ms,
    )
    _write_decision(state, transaction, turn)


def _next_id(state: ShardState, transaction: Transaction) -> int:
    """The producer id to go on with when the epoch cannot be raised further, else none.

    Raises ApiError: COORDINATOR_LOAD_IN_PROGRESS while none is at hand.
    """
    if not transaction.is_epoch_exhausted():
        return NO_PRODUCER_ID
    producer_id = state.ids.take()
    if producer_id is None:
        raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    return producer_id


# Version 1: the epoch stays, and only the state tells a retry.


def _is_at_rest_as_asked(transaction: Transaction, request: EndTxnRequest) -> bool:
    """Whether the transaction was completed in the way the request asks for.

    Raises ApiError: INVALID_TXN_STATE when it was decided the other way or there is none,
    CONCURRENT_TRANSACTIONS while the markers of the same decision are being written.
    """
    if transaction.state is _S.ONGOING:
        return False
    if transaction.state is _S.EMPTY or transaction.is_commit != request.committed:
        raise ApiError(ErrorCode.INVALID_TXN_STATE)
    if transaction.state in ENDING:
        raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
    return True


def _decide(
    state: ShardState, transaction: Transaction, request: EndTxnRequest, turn: Turn
) -> None:
    transaction.end(
        is_commit=request.committed,
        client_version=0,
        next_producer_id=NO_PRODUCER_ID,
        now_ms=turn.now_ms,
    )
    _write_decision(state, transaction, turn)


def _write_decision(state: ShardState, transaction: Transaction, turn: Turn) -> None:
    state.write(transaction, turn)
    go_on_ending(state, transaction, turn)
