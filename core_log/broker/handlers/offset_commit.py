"""OffsetCommit (key 8), versions 2-10: a group remembers where it is."""

from ...protocol.apis import API_BY_KEY
from ...protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..handler import Handler


def serve(
    broker: Broker, request: OffsetCommitRequest, call: Call
) -> Deferred[OffsetCommitResponse]:
    """One error code for each partition, once the offsets are on disk."""
    return broker.groups.step(request.group_id, request, call)


HANDLER = Handler(api=API_BY_KEY[8], version_min=2, version_max=10, serve=serve)
