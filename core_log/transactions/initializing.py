"""InitProducerId with a transactional id: a producer begins, and whoever was before it is fenced.

Kafka's behaviour, with these deviations: an id that would go beyond the shard's bounds is refused
(POLICY_VIOLATION, INVALID_REQUEST), and a retry that names the last usable epoch gets it again
where Kafka fails with UNKNOWN_SERVER_ERROR.
"""

from ..kernel.effects import Turn
from ..kernel.errors import ApiError, ErrorCode
from ..kernel.ids import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from ..protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from .ending import fence
from .state import Call, ShardState, answer, is_next_producer, refuse
from .transaction import AT_REST, ENDING, Transaction, is_exhausted


def init_producer_id(
    state: ShardState, request: InitProducerIdRequest, *, call: Call, turn: Turn
) -> None:
    """The producer id and the next epoch; CONCURRENT_TRANSACTIONS while a transaction ends."""
    try:
        _validate(state, request)
        transaction = _find(state, request, turn)
        if transaction.state in ENDING:
            raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
        if transaction.state in AT_REST:
            _give_identity(state, transaction, request, turn)
        else:
            # The raised epoch is nobody's: the client asks again and gets the one after it.
            fence(state, transaction, turn)
            raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
    except ApiError as error:
        refuse(call, error.code, turn)
        return
    state.guard.saw_producer(transaction.transactional_id, call.connection)
    state.transactions[transaction.transactional_id] = transaction
    state.write(transaction, turn)
    response = InitProducerIdResponse(
        producer_id=transaction.producer_id, producer_epoch=transaction.producer_epoch
    )
    answer(call, response, turn)


def _validate(state: ShardState, request: InitProducerIdRequest) -> None:
    """Raises ApiError for what no state could make right."""
    transactional_id = request.transactional_id
    assert transactional_id is not None, "a producer without a transactional id needs no shard"
    id_bytes = len(transactional_id.encode("utf-8", "surrogatepass"))
    if not 0 < id_bytes <= state.config.transactional_id_bytes_max:
        raise ApiError(ErrorCode.INVALID_REQUEST)
    if (request.producer_id == NO_PRODUCER_ID) != (request.producer_epoch == NO_PRODUCER_EPOCH):
        raise ApiError(ErrorCode.INVALID_REQUEST)  # an id and its epoch come together
    if not 0 < request.transaction_timeout_ms <= state.config.transaction_timeout_ms_max:
        raise ApiError(ErrorCode.INVALID_TRANSACTION_TIMEOUT)


def _find(state: ShardState, request: InitProducerIdRequest, turn: Turn) -> Transaction:
    """The transaction that the request may go on with, or a new one that is not kept yet.

    Raises ApiError: PRODUCER_FENCED when the producer that the request names has been replaced.
    """
    assert request.transactional_id is not None
    transaction = state.transactions.get(request.transactional_id)
    if transaction is not None:
        if request.producer_id != NO_PRODUCER_ID and not _may_continue(transaction, request):
            raise ApiError(ErrorCode.PRODUCER_FENCED)
        return transaction
    if len(state.transactions) >= state.config.transactional_ids_max:
        turn.note("transactional_ids_full", bound=state.config.transactional_ids_max)
        raise ApiError(ErrorCode.POLICY_VIOLATION)
    return Transaction(
        request.transactional_id,
        producer_id=_take_id(state),
        timeout_ms=request.transaction_timeout_ms,
        now_ms=turn.now_ms,
    )


def _may_continue(transaction: Transaction, request: InitProducerIdRequest) -> bool:
    """Whether the named producer is the one at hand, or missed that it got another id.

    The epoch is looked at when it is raised.
    """
    producer_id, producer_epoch = request.producer_id, request.producer_epoch
    return (
        producer_id == transaction.producer_id
        or (producer_id == transaction.previous_producer_id and is_exhausted(producer_epoch))
        or is_next_producer(transaction, producer_id, producer_epoch)
    )


def _give_identity(
    state: ShardState, transaction: Transaction, request: InitProducerIdRequest, turn: Turn
) -> None:
    """Raise the epoch, or give a new id when there is none left (KIP-360).

    Raises ApiError: PRODUCER_FENCED when the request names an epoch that is not the producer's.
    """
    timeout_ms, now_ms = request.transaction_timeout_ms, turn.now_ms
    # None: the client starts anew, and nobody's retry is known from here on.
    expected = None if request.producer_id == NO_PRODUCER_ID else request.producer_epoch
    epoch = transaction.producer_epoch
    is_new = epoch == NO_PRODUCER_EPOCH
    if expected is None or expected == epoch or is_new:
        last_epoch = NO_PRODUCER_EPOCH if expected is None else epoch
        if transaction.is_epoch_exhausted():
            transaction.replace_producer_id(
                _take_id(state), last_epoch=last_epoch, timeout_ms=timeout_ms, now_ms=now_ms
            )
        else:
            transaction.raise_epoch(last_epoch=last_epoch, timeout_ms=timeout_ms, now_ms=now_ms)
    elif expected == transaction.last_producer_epoch:
        # A retry. Nobody else has initialized meanwhile, or the last epoch would be unknown.
        transaction.keep_epoch(timeout_ms=timeout_ms, now_ms=now_ms)
    else:
        raise ApiError(ErrorCode.PRODUCER_FENCED)


def _take_id(state: ShardState) -> int:
    """A new producer id. Raises ApiError: COORDINATOR_LOAD_IN_PROGRESS while none is at hand."""
    producer_id = state.ids.take()
    if producer_id is None:
        raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    return producer_id
