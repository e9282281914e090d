"""OffsetFetch (key 9), versions 1-10: where a group is.

Version 8 brought several groups into one request (KIP-709); each goes to its own shard.
"""

from ...protocol.apis import API_BY_KEY
from ...protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred, gather
from ..handler import Handler

GROUPS_SINCE = 8


def serve(broker: Broker, request: OffsetFetchRequest, call: Call) -> Deferred[OffsetFetchResponse]:
    """Committed offsets, -1 where there is none."""
    if call.api_version < GROUPS_SINCE:
        return broker.groups.step(request.group_id, request, call)
    parts: list[Deferred[OffsetFetchResponse]] = [
        broker.groups.step(
            group.group_id,
            OffsetFetchRequest(groups=[group], require_stable=request.require_stable),
            call,
        )
        for group in request.groups
    ]
    return gather(parts).map(
        lambda responses: OffsetFetchResponse(
            groups=[group for response in responses for group in response.groups]
        )
    )


HANDLER = Handler(api=API_BY_KEY[9], version_min=1, version_max=10, serve=serve)
