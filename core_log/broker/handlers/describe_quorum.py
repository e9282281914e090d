"""DescribeQuorum (key 55), versions 0-2: who votes on metadata, and how far each is (KIP-836)."""

from ...kernel.errors import ErrorCode
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    PartitionDataResponse,
    ReplicaState,
    TopicDataResponse,
)
from ...raft.metadata_log import METADATA_TOPIC
from ..broker import Broker
from ..call import Call
from ..handler import Handler


def serve(broker: Broker, request: DescribeQuorumRequest, call: Call) -> DescribeQuorumResponse:
    """The state of the one raft partition there is; UNKNOWN_TOPIC_OR_PARTITION for others."""
    del call
    return DescribeQuorumResponse(
        error_code=ErrorCode.NONE,
        error_message=None,
        topics=[
            TopicDataResponse(
                topic_name=topic.topic_name,
                partitions=[
                    _describe(broker, topic.topic_name, asked.partition_index)
                    for asked in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


def _describe(broker: Broker, topic: str, index: int) -> PartitionDataResponse:
    if topic != METADATA_TOPIC or index != 0:
        return PartitionDataResponse(
            partition_index=index,
            error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            error_message=None,
        )
    facts = broker.controller.describe_quorum(now_ms=broker.clock.now_ms())
    return PartitionDataResponse(
        partition_index=index,
        error_code=ErrorCode.NONE,
        error_message=None,
        leader_id=facts.leader_id,
        leader_epoch=facts.leader_epoch,
        high_watermark=facts.high_watermark,
        current_voters=[
            ReplicaState(
                replica_id=voter.replica_id,
                replica_directory_id=voter.directory_id,
                log_end_offset=voter.log_end_offset,
                last_fetch_timestamp=voter.last_fetch_ms,
                last_caught_up_timestamp=voter.last_caught_up_ms,
            )
            for voter in facts.voters
        ],
        observers=[],
    )


HANDLER = Handler(api=API_BY_KEY[55], version_min=0, version_max=2, serve=serve)
