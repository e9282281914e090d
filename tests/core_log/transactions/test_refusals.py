"""One error for a whole request."""

import pytest

from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.codec import encode
from headwater.core_log.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from headwater.core_log.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from headwater.core_log.protocol.messages.describe_transactions import DescribeTransactionsRequest
from headwater.core_log.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from headwater.core_log.protocol.messages.init_producer_id import InitProducerIdRequest
from headwater.core_log.protocol.messages.list_transactions import ListTransactionsRequest
from headwater.core_log.protocol.schema import Message
from headwater.core_log.transactions.refusals import (
    TransactionRequest,
    after_failed_append,
    refusal,
    while_loading,
)

E = ErrorCode
TOPICS = [AddPartitionsToTxnTopic(name="t", partitions=[0, 1])]
ROWS: list[tuple[TransactionRequest, range]] = [
    (InitProducerIdRequest(transactional_id="x"), range(6)),
    (AddPartitionsToTxnRequest(v3_and_below_topics=TOPICS), range(4)),
    (
        AddPartitionsToTxnRequest(
            transactions=[AddPartitionsToTxnTransaction(transactional_id="x", topics=TOPICS)]
        ),
        range(4, 6),
    ),
    (AddOffsetsToTxnRequest(), range(5)),
    (EndTxnRequest(), range(6)),
    (DescribeTransactionsRequest(transactional_ids=["x", "y"]), range(1)),
    (ListTransactionsRequest(), range(3)),
]


def codes(value: object) -> set[int]:
    """Every error code in a response, except that of the whole where parts have their own."""
    if isinstance(value, list):
        return {code for item in value for code in codes(item)}
    found: set[int] = set()
    for name in getattr(value, "__struct_fields__", ()):
        inner = getattr(value, name)
        if name.endswith("error_code"):
            found.add(inner)
        else:
            found |= codes(inner)
    return found


@pytest.mark.parametrize(("request_", "versions"), ROWS)
@pytest.mark.parametrize("code", [E.COORDINATOR_LOAD_IN_PROGRESS, E.NOT_COORDINATOR])
def test_every_request_can_be_refused(
    request_: TransactionRequest, versions: range, code: ErrorCode
) -> None:
    """In every version, with something that can be sent."""
    for version in versions:
        response = refusal(request_, version=version, code=code)
        assert isinstance(response, Message)
        assert encode(response, version)
        expected = {code, 0} if isinstance(request_, AddPartitionsToTxnRequest) else {code}
        assert codes(response) == expected
        loading = while_loading(request_, version=version)
        assert E.COORDINATOR_LOAD_IN_PROGRESS in codes(loading)


@pytest.mark.parametrize(
    ("request_", "since"),
    [(ROWS[0][0], 4), (ROWS[1][0], 2), (ROWS[3][0], 2), (ROWS[4][0], 2)],
)
def test_older_clients_are_fenced_in_their_own_words(
    request_: TransactionRequest, since: int
) -> None:
    """KIP-588; the version before and the one since."""
    before = refusal(request_, version=since - 1, code=E.PRODUCER_FENCED)
    assert E.INVALID_PRODUCER_EPOCH in codes(before)
    assert E.PRODUCER_FENCED in codes(refusal(request_, version=since, code=E.PRODUCER_FENCED))


@pytest.mark.parametrize(
    ("failed_with", "told"),
    [
        (E.UNKNOWN_TOPIC_OR_PARTITION, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_ENOUGH_REPLICAS, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_ENOUGH_REPLICAS_AFTER_APPEND, E.COORDINATOR_NOT_AVAILABLE),
        (E.REQUEST_TIMED_OUT, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_LEADER_OR_FOLLOWER, E.NOT_COORDINATOR),
        (E.KAFKA_STORAGE_ERROR, E.NOT_COORDINATOR),
        (E.MESSAGE_TOO_LARGE, E.UNKNOWN_SERVER_ERROR),
        (E.RECORD_LIST_TOO_LARGE, E.UNKNOWN_SERVER_ERROR),
        (E.INVALID_REQUEST, E.INVALID_REQUEST),
    ],
)
def test_a_failed_append_is_told_as_kafka_tells_it(failed_with: E, told: E) -> None:
    """Rows of TransactionStateManager.appendTransactionToLog."""
    response = after_failed_append(EndTxnRequest(), version=5, code=failed_with)
    assert isinstance(response, EndTxnResponse)
    assert response.error_code == told
