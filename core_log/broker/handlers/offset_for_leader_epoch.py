"""OffsetForLeaderEpoch (key 23), versions 2-4: where an epoch ends (KIP-101, 279, 320)."""

from ...kernel.errors import ApiError, ErrorCode
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)
from ..broker import Broker
from ..call import Call
from ..handler import Handler


def serve(
    broker: Broker, request: OffsetForLeaderEpochRequest, call: Call
) -> OffsetForLeaderEpochResponse:
    """For each partition the largest epoch not above the one asked for, and its end offset."""
    del call
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[_answer(broker, topic.topic, asked) for asked in topic.partitions],
            )
            for topic in request.topics
        ]
    )


def _answer(broker: Broker, topic: str, asked: OffsetForLeaderPartition) -> EpochEndOffset:
    try:
        hosted = broker.hosted_by_name(topic, asked.partition)
        hosted.replica.check_leader_epoch(asked.current_leader_epoch)
        epoch, end_offset = hosted.log.end_offset_for_epoch(asked.leader_epoch)
    except ApiError as error:
        return EpochEndOffset(error_code=error.code, partition=asked.partition)
    return EpochEndOffset(
        error_code=ErrorCode.NONE,
        partition=asked.partition,
        leader_epoch=epoch,
        end_offset=end_offset,
    )


HANDLER = Handler(api=API_BY_KEY[23], version_min=2, version_max=4, serve=serve)
