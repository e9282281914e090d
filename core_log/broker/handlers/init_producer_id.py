"""InitProducerId (key 22), versions 0-5: identities for idempotent producers (KIP-98).

Ids come from blocks that the controller hands out, so that no two nodes or starts give the same.
A producer with a transactional id gets its identity from that id's coordinator, which fences
the one before and ends what it left open.
"""

from ...kernel.errors import ApiError, ErrorCode
from ...kernel.ids import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..handler import Handler


def serve(
    broker: Broker, request: InitProducerIdRequest, call: Call
) -> InitProducerIdResponse | Deferred[InitProducerIdResponse]:
    """A fresh id with epoch 0, or the transactional id's own under a raised epoch."""
    if (request.producer_id < 0) != (request.producer_epoch < 0):
        return _refusal(ErrorCode.INVALID_REQUEST)  # an id and its epoch come together
    transactional_id = request.transactional_id
    if transactional_id is None:
        return broker.producer_ids.next().map(_respond)
    if not transactional_id:
        return _refusal(ErrorCode.INVALID_REQUEST)
    return broker.producer_ids.ready().bind(
        # Without an id at hand the coordinator asks the client to come again.
        lambda _: broker.transactions.step(transactional_id, request, call)
    )


def _respond(result: int | ApiError) -> InitProducerIdResponse:
    if isinstance(result, ApiError):
        return _refusal(result.code)
    return InitProducerIdResponse(error_code=ErrorCode.NONE, producer_id=result, producer_epoch=0)


def _refusal(code: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(
        error_code=code, producer_id=NO_PRODUCER_ID, producer_epoch=NO_PRODUCER_EPOCH
    )


HANDLER = Handler(api=API_BY_KEY[22], version_min=0, version_max=5, serve=serve)
