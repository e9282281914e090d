"""InitProducerId (key 22), versions 0-5: identities for idempotent producers (KIP-98).

Ids come from blocks that the controller hands out, so that no two nodes or starts give the same.
Transactional ids are refused here; a producer that names one needs a transaction coordinator.
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
    """A fresh producer id with epoch 0."""
    del call
    if (request.producer_id < 0) != (request.producer_epoch < 0):
        return _refusal(ErrorCode.INVALID_REQUEST)  # an id and its epoch come together
    if request.transactional_id is not None:
        code = (
            ErrorCode.INVALID_REQUEST
            if not request.transactional_id
            else ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        )
        return _refusal(code)
    return broker.producer_ids.next().map(_respond)


def _respond(result: int | ApiError) -> InitProducerIdResponse:
    if isinstance(result, ApiError):
        return _refusal(result.code)
    return InitProducerIdResponse(error_code=ErrorCode.NONE, producer_id=result, producer_epoch=0)


def _refusal(code: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(
        error_code=code, producer_id=NO_PRODUCER_ID, producer_epoch=NO_PRODUCER_EPOCH
    )


HANDLER = Handler(api=API_BY_KEY[22], version_min=0, version_max=5, serve=serve)
