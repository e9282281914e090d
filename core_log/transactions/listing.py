"""DescribeTransactions and ListTransactions: what operators see (KIP-664, KIP-994, KIP-1152)."""

from collections.abc import Callable

from ..kernel.effects import Turn
from ..kernel.errors import ErrorCode
from ..protocol.messages import describe_transactions as describing
from ..protocol.messages import list_transactions as listing
from .patterns import IdPattern, InvalidPattern
from .state import Call, ShardState, answer, refuse
from .transaction import ENDING, Transaction, TransactionState


def describe_transactions(
    state: ShardState,
    request: describing.DescribeTransactionsRequest,
    *,
    call: Call,
    turn: Turn,
) -> None:
    """Each id with its state; partitions that have their marker already are not shown."""
    states = [_describe(state, name) for name in request.transactional_ids]
    answer(call, describing.DescribeTransactionsResponse(transaction_states=states), turn)


def list_transactions(
    state: ShardState, request: listing.ListTransactionsRequest, *, call: Call, turn: Turn
) -> None:
    """The ids that pass every filter; names of states that do not exist are sent back.

    INVALID_REGULAR_EXPRESSION for a pattern that is not understood, see ``patterns``.
    """
    known = {member.value for member in TransactionState}
    unknown = [name for name in request.state_filters if name not in known]
    try:
        passes = _filter(state, request, turn)
    except InvalidPattern as error:
        turn.note("transactions_pattern_refused", reason=str(error))
        refuse(call, ErrorCode.INVALID_REGULAR_EXPRESSION, turn)
        return
    found = [
        listing.TransactionState(
            transactional_id=transaction.transactional_id,
            producer_id=transaction.producer_id,
            transaction_state=transaction.state.value,
        )
        for transaction in state.transactions.values()
        if passes(transaction)
    ]
    response = listing.ListTransactionsResponse(
        unknown_state_filters=unknown, transaction_states=found
    )
    answer(call, response, turn)


def _describe(state: ShardState, transactional_id: str) -> describing.TransactionState:
    shown = describing.TransactionState(transactional_id=transactional_id)
    if not transactional_id:
        shown.error_code = ErrorCode.INVALID_REQUEST
        return shown
    transaction = state.transactions.get(transactional_id)
    if transaction is None:
        shown.error_code = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
        return shown
    shown.transaction_state = transaction.state.value
    shown.transaction_timeout_ms = transaction.timeout_ms
    shown.transaction_start_time_ms = transaction.start_ms
    shown.producer_id = transaction.producer_id
    shown.producer_epoch = transaction.producer_epoch
    topics: dict[str, list[int]] = {}
    ending = transaction.state in ENDING
    for topic, partition in transaction.awaiting_markers if ending else transaction.partitions:
        topics.setdefault(topic, []).append(partition)
    shown.topics = [
        describing.TopicData(topic=topic, partitions=partitions)
        for topic, partitions in topics.items()
    ]
    return shown


def _filter(
    state: ShardState, request: listing.ListTransactionsRequest, turn: Turn
) -> Callable[[Transaction], bool]:
    """Whether a transaction passes. Raises InvalidPattern.

    One that has not begun has a start of -1, so it is older than any duration, as in Kafka.
    """
    states = frozenset(request.state_filters)
    producer_ids = frozenset(request.producer_id_filters)
    text = request.transactional_id_pattern
    if text and len(text) > state.config.pattern_chars_max:
        bound = state.config.pattern_chars_max
        raise InvalidPattern(text[:bound], bound, f"the pattern is longer than {bound} characters")
    pattern = IdPattern(text) if text else None

    def passes(transaction: Transaction) -> bool:
        return (
            (not states or transaction.state.value in states)
            and (not producer_ids or transaction.producer_id in producer_ids)
            and (
                request.duration_filter < 0
                or turn.now_ms - transaction.start_ms > request.duration_filter
            )
            and (pattern is None or pattern.matches(transaction.transactional_id))
        )

    return passes
