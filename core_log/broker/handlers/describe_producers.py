"""DescribeProducers (key 61), version 0: the producers a partition remembers (KIP-664)."""

from ...controller.names import topic_name_error
from ...kernel.errors import ApiError, ErrorCode
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from ..broker import Broker
from ..call import Call
from ..handler import Handler


def serve(
    broker: Broker, request: DescribeProducersRequest, call: Call
) -> DescribeProducersResponse:
    """Every active producer of every partition asked for."""
    del call
    return DescribeProducersResponse(
        topics=[
            TopicResponse(
                name=topic.name,
                partitions=[
                    _describe(broker, topic.name, index) for index in topic.partition_indexes
                ],
            )
            for topic in request.topics
        ]
    )


def _describe(broker: Broker, topic: str, index: int) -> PartitionResponse:
    try:
        if (refusal := topic_name_error(topic)) is not None:
            raise refusal
        hosted = broker.hosted_by_name(topic, index)
    except ApiError as error:
        return PartitionResponse(
            partition_index=index,
            error_code=error.code,
            error_message=error.message,
            active_producers=[],
        )
    return PartitionResponse(
        partition_index=index,
        error_code=ErrorCode.NONE,
        active_producers=[
            ProducerState(
                producer_id=entry.producer_id,
                producer_epoch=entry.producer_epoch,
                last_sequence=entry.last_sequence,
                last_timestamp=entry.last_timestamp_ms,
                coordinator_epoch=entry.coordinator_epoch,
                current_txn_start_offset=entry.current_txn_start_offset,
            )
            for entry in hosted.log.active_producers()
        ],
    )


HANDLER = Handler(api=API_BY_KEY[61], version_min=0, version_max=0, serve=serve)
