"""ListGroups (key 16), versions 0-5: every group of this node, filtered by state and type."""

from ...kernel.errors import ErrorCode
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred, gather
from ..handler import Handler


def serve(broker: Broker, request: ListGroupsRequest, call: Call) -> Deferred[ListGroupsResponse]:
    """The groups of all shards; one that is still loading fails the whole, as in Kafka."""
    parts: list[Deferred[ListGroupsResponse]] = [
        broker.groups.step_shard(index, request, call) for index in broker.groups.shards.indexes()
    ]
    return gather(parts).map(_merge)


def _merge(responses: list[ListGroupsResponse]) -> ListGroupsResponse:
    for response in responses:
        if response.error_code != ErrorCode.NONE:
            return response
    return ListGroupsResponse(groups=[group for part in responses for group in part.groups])


HANDLER = Handler(api=API_BY_KEY[16], version_min=0, version_max=5, serve=serve)
