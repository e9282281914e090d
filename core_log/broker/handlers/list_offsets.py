"""ListOffsets (key 2), versions 1-11.

Timestamps below zero ask for a place, not a time: -1 the end, -2 the start, -3 the record with the
highest timestamp (KIP-734), -4 the earliest local offset (KIP-405), -5 the last tiered and -6 the
earliest pending upload, which without tiered storage do not exist.

Nothing at or above the high watermark is found, with ``read_committed`` nothing at or above the
last stable offset. Deviation: for -3 Kafka has no answer while the newest record of all lies there;
ours is the newest below.
"""

from collections import Counter

from ...kernel.errors import ApiError, ErrorCode
from ...kernel.ids import NO_LEADER_EPOCH, NO_OFFSET, NO_TIMESTAMP
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
    ListOffsetsTopicResponse,
)
from ..broker import Broker
from ..call import Call
from ..handler import Handler
from ..partitions import Hosted

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING = (
    -1, -2, -3, -4, -5, -6,
)  # fmt: skip
_SINCE = {MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING: 11}
READ_COMMITTED = 1
EPOCH_SINCE = 4


def serve(broker: Broker, request: ListOffsetsRequest, call: Call) -> ListOffsetsResponse:
    """One offset and timestamp per partition; INVALID_REQUEST for one that is named twice."""
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name, partitions=_topic(broker, request, topic, call.api_version)
            )
            for topic in request.topics
        ]
    )


def _topic(
    broker: Broker, request: ListOffsetsRequest, topic: ListOffsetsTopic, version: int
) -> list[ListOffsetsPartitionResponse]:
    counts = Counter(asked.partition_index for asked in topic.partitions)
    return [
        _answer(broker, topic.name, asked, request.isolation_level, version)
        if counts[index] == 1
        else ListOffsetsPartitionResponse(
            partition_index=index, error_code=ErrorCode.INVALID_REQUEST
        )
        for index, asked in {asked.partition_index: asked for asked in topic.partitions}.items()
    ]


def _answer(
    broker: Broker, topic: str, asked: ListOffsetsPartition, isolation_level: int, version: int
) -> ListOffsetsPartitionResponse:
    try:
        hosted = broker.hosted_by_name(topic, asked.partition_index)
        hosted.replica.check_leader_epoch(asked.current_leader_epoch)
        if asked.timestamp < 0 and version < _SINCE.get(asked.timestamp, 0):
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION)
        timestamp, offset, epoch = _find(hosted, asked.timestamp, isolation_level)
    except ApiError as error:
        return ListOffsetsPartitionResponse(
            partition_index=asked.partition_index, error_code=error.code
        )
    return ListOffsetsPartitionResponse(
        partition_index=asked.partition_index,
        error_code=ErrorCode.NONE,
        timestamp=timestamp,
        offset=offset,
        leader_epoch=epoch if version >= EPOCH_SINCE else NO_LEADER_EPOCH,
    )


def _find(hosted: Hosted, timestamp: int, isolation_level: int) -> tuple[int, int, int]:
    """(timestamp, offset, leader epoch) for one question."""
    log = hosted.log
    committed_only = isolation_level == READ_COMMITTED
    end_offset = hosted.last_stable_offset if committed_only else hosted.high_watermark
    match timestamp:
        case -1:
            return NO_TIMESTAMP, end_offset, hosted.replica.leader_epoch
        case -2 | -4:
            start_epoch = log.epoch_at(log.log_start_offset)
            if start_epoch == NO_LEADER_EPOCH:  # an empty log begins with what comes next
                start_epoch = hosted.replica.leader_epoch
            return NO_TIMESTAMP, log.log_start_offset, start_epoch
        case -3:
            found = log.max_timestamp_offset(end_offset=end_offset)
        case -5 | -6:
            return NO_TIMESTAMP, NO_OFFSET, NO_LEADER_EPOCH
        case _ if timestamp < 0:
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION, f"no timestamp is called {timestamp}")
        case _:
            found = log.offset_for_timestamp(timestamp, end_offset=end_offset)
    return found or (NO_TIMESTAMP, NO_OFFSET, NO_LEADER_EPOCH)


HANDLER = Handler(api=API_BY_KEY[2], version_min=1, version_max=11, serve=serve)
