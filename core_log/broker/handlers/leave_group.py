"""LeaveGroup (key 13), versions 0-5: members go without waiting for their session to end."""

from ...protocol.apis import API_BY_KEY
from ...protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..handler import Handler


def serve(broker: Broker, request: LeaveGroupRequest, call: Call) -> Deferred[LeaveGroupResponse]:
    """The group's own answer, which may wait for its other members."""
    return broker.groups.step(request.group_id, request, call)


HANDLER = Handler(api=API_BY_KEY[13], version_min=0, version_max=5, serve=serve)
