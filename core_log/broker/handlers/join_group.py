"""JoinGroup (key 11), versions 0-9: a member enters the group's next generation."""

from ...protocol.apis import API_BY_KEY
from ...protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..handler import Handler


def serve(broker: Broker, request: JoinGroupRequest, call: Call) -> Deferred[JoinGroupResponse]:
    """The group's own answer, which waits for its other members."""
    return broker.groups.step(request.group_id, request, call)


HANDLER = Handler(api=API_BY_KEY[11], version_min=0, version_max=9, serve=serve)
