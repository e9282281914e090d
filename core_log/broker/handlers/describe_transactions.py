"""DescribeTransactions (key 65), version 0: state and partitions of transactions (KIP-664)."""

from ...protocol.apis import API_BY_KEY
from ...protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred, gather
from ..handler import Handler


def serve(
    broker: Broker, request: DescribeTransactionsRequest, call: Call
) -> Deferred[DescribeTransactionsResponse]:
    """One description for each id asked for, in the order of the request."""
    parts: list[Deferred[DescribeTransactionsResponse]] = [
        broker.transactions.step(
            transactional_id,
            DescribeTransactionsRequest(transactional_ids=[transactional_id]),
            call,
        )
        for transactional_id in request.transactional_ids
    ]
    return gather(parts).map(
        lambda responses: DescribeTransactionsResponse(
            transaction_states=[
                state for response in responses for state in response.transaction_states
            ]
        )
    )


HANDLER = Handler(api=API_BY_KEY[65], version_min=0, version_max=0, serve=serve)
