"""DeleteGroups (key 42), versions 0-2: empty groups and their offsets go."""

from ...protocol.apis import API_BY_KEY
from ...protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred, gather
from ..handler import Handler


def serve(
    broker: Broker, request: DeleteGroupsRequest, call: Call
) -> Deferred[DeleteGroupsResponse]:
    """One error code for each group, in the order of the request; a repeated name counts once."""
    parts: list[Deferred[DeleteGroupsResponse]] = [
        broker.groups.step(group_id, DeleteGroupsRequest(groups_names=[group_id]), call)
        for group_id in dict.fromkeys(request.groups_names)
    ]
    return gather(parts).map(
        lambda responses: DeleteGroupsResponse(
            results=[result for response in responses for result in response.results]
        )
    )


HANDLER = Handler(api=API_BY_KEY[42], version_min=0, version_max=2, serve=serve)
