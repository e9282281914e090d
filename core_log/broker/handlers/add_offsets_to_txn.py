"""AddOffsetsToTxn (key 25), versions 0-4: a transaction of version 1 will commit a group's offsets.

The offsets topic is created when it is missing, so that its partition can join the transaction.
"""

from ...protocol.apis import API_BY_KEY
from ...protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..handler import Handler


def serve(
    broker: Broker, request: AddOffsetsToTxnRequest, call: Call
) -> Deferred[AddOffsetsToTxnResponse]:
    """Answered once the group's partition of the offsets topic is part of the transaction."""
    return broker.groups.topic.ensure().bind(
        # Without the topic the coordinator refuses by itself.
        lambda _: broker.transactions.step(request.transactional_id, request, call)
    )


HANDLER = Handler(api=API_BY_KEY[25], version_min=0, version_max=4, serve=serve)
