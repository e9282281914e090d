"""DescribeGroups (key 15), versions 0-6: state, protocol and members of groups."""

from ...protocol.apis import API_BY_KEY
from ...protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred, gather
from ..describe import GROUP_OPERATIONS
from ..handler import Handler


def serve(
    broker: Broker, request: DescribeGroupsRequest, call: Call
) -> Deferred[DescribeGroupsResponse]:
    """One description for each group asked for, in the order of the request."""
    parts: list[Deferred[DescribeGroupsResponse]] = [
        broker.groups.step(group_id, DescribeGroupsRequest(groups=[group_id]), call)
        for group_id in request.groups
    ]

    def merge(responses: list[DescribeGroupsResponse]) -> DescribeGroupsResponse:
        groups = [group for response in responses for group in response.groups]
        if request.include_authorized_operations:
            for group in groups:
                group.authorized_operations = GROUP_OPERATIONS
        return DescribeGroupsResponse(groups=groups)

    return gather(parts).map(merge)


HANDLER = Handler(api=API_BY_KEY[15], version_min=0, version_max=6, serve=serve)
