"""OffsetFetch (key 9), versions 1-10: where a group is.

Version 8 brought several groups into one request (KIP-709); each goes to its own shard.
"""

from ...kernel.errors import ErrorCode
from ...kernel.ids import NO_OFFSET
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred, gather
from ..handler import Handler


def serve(broker: Broker, request: OffsetFetchRequest, call: Call) -> Deferred[OffsetFetchResponse]:
    """Committed offsets, -1 where there is none."""
    if call.api_version < 8:
        return broker.groups.step(
            request.group_id,
            request,
            call,
            lambda code: _refusal(request, code, call.api_version),
        )
    parts = [_one_group(broker, request, group, call) for group in request.groups]
    return gather(parts).map(
        lambda responses: OffsetFetchResponse(
            groups=[group for response in responses for group in response.groups]
        )
    )


def _one_group(
    broker: Broker, request: OffsetFetchRequest, group: OffsetFetchRequestGroup, call: Call
) -> Deferred[OffsetFetchResponse]:
    return broker.groups.step(
        group.group_id,
        OffsetFetchRequest(groups=[group], require_stable=request.require_stable),
        call,
        lambda code: OffsetFetchResponse(
            groups=[OffsetFetchResponseGroup(group_id=group.group_id, error_code=code)]
        ),
    )


def _refusal(request: OffsetFetchRequest, code: ErrorCode, version: int) -> OffsetFetchResponse:
    if version >= 2:
        return OffsetFetchResponse(error_code=code)
    return OffsetFetchResponse(
        topics=[
            OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetFetchResponsePartition(
                        partition_index=index, committed_offset=NO_OFFSET, error_code=code
                    )
                    for index in topic.partition_indexes
                ],
            )
            for topic in request.topics or []
        ]
    )


HANDLER = Handler(api=API_BY_KEY[9], version_min=1, version_max=10, serve=serve)
