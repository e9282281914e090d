"""SyncGroup (key 14), versions 0-5: the leader hands in the assignment, everybody gets theirs."""

from ...protocol.apis import API_BY_KEY
from ...protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..handler import Handler


def serve(broker: Broker, request: SyncGroupRequest, call: Call) -> Deferred[SyncGroupResponse]:
    """The group's own answer, which may wait for its other members."""
    return broker.groups.step(request.group_id, request, call)


HANDLER = Handler(api=API_BY_KEY[14], version_min=0, version_max=5, serve=serve)
