"""EndTxn (key 26), versions 0-5: a transaction is to be committed or aborted.

From version 5 on (transaction version 2, KIP-890) the answer carries the producer's next epoch.
"""

from ...protocol.apis import API_BY_KEY
from ...protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..handler import Handler


def serve(broker: Broker, request: EndTxnRequest, call: Call) -> Deferred[EndTxnResponse]:
    """Answered once the decision is on disk; the markers follow."""
    return broker.transactions.step(request.transactional_id, request, call)


HANDLER = Handler(api=API_BY_KEY[26], version_min=0, version_max=5, serve=serve)
