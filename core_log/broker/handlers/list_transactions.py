"""ListTransactions (key 66), versions 0-2: this node's transactional ids, filtered (KIP-664)."""

from ...kernel.errors import ErrorCode
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred, gather
from ..handler import Handler


def serve(
    broker: Broker, request: ListTransactionsRequest, call: Call
) -> Deferred[ListTransactionsResponse]:
    """The ids of all shards; one that is still loading fails the whole, as in Kafka."""
    parts: list[Deferred[ListTransactionsResponse]] = [
        broker.transactions.step_shard(index, request, call)
        for index in broker.transactions.shards.indexes()
    ]
    return gather(parts).map(_merge)


def _merge(responses: list[ListTransactionsResponse]) -> ListTransactionsResponse:
    for response in responses:
        if response.error_code != ErrorCode.NONE:
            return response
    unknown = {name: None for response in responses for name in response.unknown_state_filters}
    return ListTransactionsResponse(
        unknown_state_filters=list(unknown),
        transaction_states=[
            state for response in responses for state in response.transaction_states
        ],
    )


HANDLER = Handler(api=API_BY_KEY[66], version_min=0, version_max=2, serve=serve)
