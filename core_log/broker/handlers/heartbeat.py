"""Heartbeat (key 12), versions 0-4: a member is alive, and learns whether it must rejoin."""

from ...protocol.apis import API_BY_KEY
from ...protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..handler import Handler


def serve(broker: Broker, request: HeartbeatRequest, call: Call) -> Deferred[HeartbeatResponse]:
    """The group's own answer, which may wait for its other members."""
    return broker.groups.step(request.group_id, request, call)


HANDLER = Handler(api=API_BY_KEY[12], version_min=0, version_max=4, serve=serve)
