"""FindCoordinator (key 10), versions 0-6: which node keeps a group or a transactional id.

Key type 0 is a group, 1 a transactional id; 2 (share groups) is not served and answers
INVALID_REQUEST. The coordinator's topic is created when the first one is looked for, and the answer
waits for it, where Kafka answers COORDINATOR_NOT_AVAILABLE and lets the client ask again.
"""

from ...kernel.errors import ApiError, ErrorCode
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..handler import Handler

GROUP = 0
TRANSACTION = 1
NO_NODE = -1


def serve(
    broker: Broker, request: FindCoordinatorRequest, call: Call
) -> FindCoordinatorResponse | Deferred[FindCoordinatorResponse]:
    """The node and endpoint of each key's coordinator."""
    batched = call.api_version >= 4
    keys = request.coordinator_keys if batched else [request.key]
    if request.key_type not in (GROUP, TRANSACTION):
        refusal = ApiError(
            ErrorCode.INVALID_REQUEST,
            f"key type {request.key_type} is not served by this broker; 0 is a group, "
            "1 a transactional id",
        )
        return _respond([_refusal(key, refusal) for key in keys], batched=batched)
    coordinator = broker.groups if request.key_type == GROUP else broker.transactions
    return coordinator.topic.ensure().map(
        lambda error: _respond(
            [_locate(broker, key, coordinator.shards.node_for(key), error, call) for key in keys],
            batched=batched,
        )
    )


def _locate(
    broker: Broker, key: str, node_id: int, error: ApiError | None, call: Call
) -> Coordinator:
    if error is not None:
        return _refusal(key, error)
    node = broker.image.broker(node_id)
    if node is None:
        return _refusal(key, ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE))
    endpoint = node.endpoint(call.session.listener)
    if endpoint is None:
        return _refusal(key, ApiError(ErrorCode.LISTENER_NOT_FOUND))
    return Coordinator(
        key=key,
        node_id=node.broker_id,
        host=endpoint.host,
        port=endpoint.port,
        error_code=ErrorCode.NONE,
        error_message="" if call.api_version >= 4 else None,
    )


def _refusal(key: str, error: ApiError) -> Coordinator:
    return Coordinator(
        key=key,
        node_id=NO_NODE,
        host="",
        port=-1,
        error_code=error.code,
        error_message=error.message or error.code.meaning,
    )


def _respond(answers: list[Coordinator], *, batched: bool) -> FindCoordinatorResponse:
    if batched:
        return FindCoordinatorResponse(coordinators=answers)
    first = answers[0]
    return FindCoordinatorResponse(
        error_code=first.error_code,
        error_message=first.error_message,
        node_id=first.node_id,
        host=first.host,
        port=first.port,
    )


HANDLER = Handler(api=API_BY_KEY[10], version_min=0, version_max=6, serve=serve)
