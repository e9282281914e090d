"""AddPartitionsToTxn (key 24), versions 0-5: partitions join a transaction.

Clients of transaction version 1 send it before they produce, in versions up to 3. From version 4 on
it is the question of one broker to another, for several transactions at once (KIP-890); ours asks
itself without a request, and answers whoever else asks.
"""

from collections.abc import Sequence

from ...kernel.errors import ErrorCode
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred, gather, resolved
from ..handler import Handler
from ..transactions import TRANSACTIONS_TOPIC

BATCHED_SINCE = 4


def serve(
    broker: Broker, request: AddPartitionsToTxnRequest, call: Call
) -> Deferred[AddPartitionsToTxnResponse]:
    """One error code for each partition; when one does not exist, none of its transaction joins."""
    if call.api_version < BATCHED_SINCE:
        refused = _missing(broker, request.v3_and_below_topics, from_client=True)
        if refused is not None:
            return resolved(AddPartitionsToTxnResponse(results_by_topic_v3_and_below=refused))
        return broker.transactions.step(request.v3_and_below_transactional_id, request, call)
    parts: list[Deferred[AddPartitionsToTxnResponse]] = [
        _serve_one(broker, transaction, call) for transaction in request.transactions
    ]
    return gather(parts).map(_merge)


def _serve_one(
    broker: Broker, transaction: AddPartitionsToTxnTransaction, call: Call
) -> Deferred[AddPartitionsToTxnResponse]:
    refused = _missing(broker, transaction.topics)
    if refused is not None:
        result = AddPartitionsToTxnResult(
            transactional_id=transaction.transactional_id, topic_results=refused
        )
        return resolved(AddPartitionsToTxnResponse(results_by_transaction=[result]))
    return broker.transactions.step(
        transaction.transactional_id, AddPartitionsToTxnRequest(transactions=[transaction]), call
    )


def _missing(
    broker: Broker, topics: Sequence[AddPartitionsToTxnTopic], *, from_client: bool = False
) -> list[AddPartitionsToTxnTopicResult] | None:
    """The refusal of partitions of which some do not exist; None when all may join.

    A client may not let the coordinator's own topic join.
    """

    def fault(topic: str, index: int) -> ErrorCode | None:
        if from_client and topic == TRANSACTIONS_TOPIC:
            return ErrorCode.TOPIC_AUTHORIZATION_FAILED
        if not broker.own_topics.exists(topic, index):
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return None

    if not any(fault(topic.name, index) for topic in topics for index in topic.partitions):
        return None
    return [
        AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(
                    partition_index=index,
                    partition_error_code=fault(topic.name, index)
                    or ErrorCode.OPERATION_NOT_ATTEMPTED,
                )
                for index in topic.partitions
            ],
        )
        for topic in topics
    ]


def _merge(responses: list[AddPartitionsToTxnResponse]) -> AddPartitionsToTxnResponse:
    return AddPartitionsToTxnResponse(
        results_by_transaction=[
            result for response in responses for result in response.results_by_transaction
        ]
    )


HANDLER = Handler(api=API_BY_KEY[24], version_min=0, version_max=5, serve=serve)
