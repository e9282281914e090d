"""OffsetDelete (key 47), versions 0-0: a group forgets committed offsets (KIP-496)."""

from ...protocol.apis import API_BY_KEY
from ...protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..handler import Handler


def serve(
    broker: Broker, request: OffsetDeleteRequest, call: Call
) -> Deferred[OffsetDeleteResponse]:
    """The group's own answer, which may wait for its other members."""
    return broker.groups.step(request.group_id, request, call)


HANDLER = Handler(api=API_BY_KEY[47], version_min=0, version_max=0, serve=serve)
