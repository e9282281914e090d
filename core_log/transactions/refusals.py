"""The response that says one error to a whole request, for every request of this package.

Also for the runtime: what a client gets while the shard is loading, or after its append failed.
"""

from collections.abc import Iterable
from typing import Final, TypeAlias

import msgspec

from ..kernel.errors import ErrorCode
from ..kernel.ids import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from ..protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from ..protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
)
from ..protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from ..protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from ..protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ..protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse

TransactionRequest: TypeAlias = (
    InitProducerIdRequest
    | AddPartitionsToTxnRequest
    | AddOffsetsToTxnRequest
    | EndTxnRequest
    | DescribeTransactionsRequest
    | ListTransactionsRequest
)

ADD_PARTITIONS_IN_TRANSACTIONS_SINCE: Final = 4
"""The version from which AddPartitionsToTxn names transactions, and its client speaks version 2."""

_E = ErrorCode
_AFTER_APPEND: Final[dict[ErrorCode, ErrorCode]] = {
    _E.UNKNOWN_TOPIC_OR_PARTITION: _E.COORDINATOR_NOT_AVAILABLE,
    _E.NOT_ENOUGH_REPLICAS: _E.COORDINATOR_NOT_AVAILABLE,
    _E.NOT_ENOUGH_REPLICAS_AFTER_APPEND: _E.COORDINATOR_NOT_AVAILABLE,
    _E.REQUEST_TIMED_OUT: _E.COORDINATOR_NOT_AVAILABLE,
    _E.NOT_LEADER_OR_FOLLOWER: _E.NOT_COORDINATOR,
    _E.KAFKA_STORAGE_ERROR: _E.NOT_COORDINATOR,
    _E.MESSAGE_TOO_LARGE: _E.UNKNOWN_SERVER_ERROR,
    _E.RECORD_LIST_TOO_LARGE: _E.UNKNOWN_SERVER_ERROR,
}
"""What a failed append means to a producer, which knows nothing of the partition behind."""

_FENCED_SINCE: Final[dict[type[msgspec.Struct], int]] = {
    InitProducerIdRequest: 4,
    AddPartitionsToTxnRequest: 2,
    AddOffsetsToTxnRequest: 2,
    EndTxnRequest: 2,
}
"""The version from which a client knows PRODUCER_FENCED (KIP-588); before, the epoch is wrong."""


def after_failed_append(
    request: TransactionRequest, *, version: int, code: ErrorCode
) -> msgspec.Struct:
    """The response to *request* when its records could not be appended, for *code*."""
    return refusal(request, version=version, code=append_code(code))


def append_code(code: ErrorCode) -> ErrorCode:
    """What a producer is told when an append has failed with *code*."""
    return _AFTER_APPEND.get(code, code)


def while_loading(request: TransactionRequest, *, version: int) -> msgspec.Struct:
    """The response while the shard reads its records."""
    return refusal(request, version=version, code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


def refusal(request: TransactionRequest, *, version: int, code: ErrorCode) -> msgspec.Struct:
    """A response in which the whole *request* failed with *code*, in words that *version* knows."""
    code = code_for(request, version=version, code=code)
    match request:
        case InitProducerIdRequest():
            return InitProducerIdResponse(
                error_code=code, producer_id=NO_PRODUCER_ID, producer_epoch=NO_PRODUCER_EPOCH
            )
        case AddPartitionsToTxnRequest():
            return _partitions_refusal(request, version=version, code=code)
        case AddOffsetsToTxnRequest():
            return AddOffsetsToTxnResponse(error_code=code)
        case EndTxnRequest():
            return EndTxnResponse(error_code=code)
        case DescribeTransactionsRequest():
            return DescribeTransactionsResponse(
                transaction_states=[
                    TransactionState(transactional_id=name, error_code=code)
                    for name in request.transactional_ids
                ]
            )
        case ListTransactionsRequest():
            return ListTransactionsResponse(error_code=code)


def code_for(request: TransactionRequest, *, version: int, code: ErrorCode) -> ErrorCode:
    """*code*, or the one that stood for it before *version* of this request."""
    if code is ErrorCode.PRODUCER_FENCED and version < _FENCED_SINCE.get(type(request), 0):
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return code


def topic_results(
    topics: Iterable[AddPartitionsToTxnTopic], code: ErrorCode
) -> list[AddPartitionsToTxnTopicResult]:
    """*code* for each of these partitions."""
    return [
        AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(partition_index=index, partition_error_code=code)
                for index in topic.partitions
            ],
        )
        for topic in topics
    ]


def _partitions_refusal(
    request: AddPartitionsToTxnRequest, *, version: int, code: ErrorCode
) -> AddPartitionsToTxnResponse:
    """*code* for every partition: the error of a whole response is for brokers among themselves."""
    if version < ADD_PARTITIONS_IN_TRANSACTIONS_SINCE:
        return AddPartitionsToTxnResponse(
            results_by_topic_v3_and_below=topic_results(request.v3_and_below_topics, code)
        )
    return AddPartitionsToTxnResponse(
        results_by_transaction=[
            AddPartitionsToTxnResult(
                transactional_id=transaction.transactional_id,
                topic_results=topic_results(transaction.topics, code),
            )
            for transaction in request.transactions
        ]
    )
