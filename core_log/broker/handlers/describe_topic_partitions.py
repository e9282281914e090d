"""DescribeTopicPartitions (key 75), version 0: metadata in pages (KIP-966).

An answer holds at most the asked-for number of partitions; the cursor names the first one left out.
"""

from ...controller.image import TopicImage
from ...controller.names import topic_name_error
from ...kernel.errors import ErrorCode
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from ..broker import Broker
from ..call import Call
from ..describe import INTERNAL_TOPICS, TOPIC_OPERATIONS, offline_replicas, partition_error
from ..handler import Handler

PARTITIONS_MAX = 2000
"""Kafka's ``max.request.partition.size.limit``."""


def serve(
    broker: Broker, request: DescribeTopicPartitionsRequest, call: Call
) -> DescribeTopicPartitionsResponse:
    """Partitions of the topics in order of name, from the cursor on; all topics when none named."""
    del call
    image = broker.image
    names = sorted({topic.name for topic in request.topics} or image.topics)
    start_index = 0
    if request.cursor is not None:
        cursor = request.cursor
        names = [name for name in names if name >= cursor.topic_name]
        if names and names[0] == cursor.topic_name:
            start_index = max(0, cursor.partition_index)
    left = max(1, min(request.response_partition_limit, PARTITIONS_MAX))
    response = DescribeTopicPartitionsResponse(topics=[])
    for name in names:
        topic = image.topic(name)
        if topic is None:
            response.topics.append(_missing(name))
            continue
        if not left:
            response.next_cursor = Cursor(topic_name=name, partition_index=start_index)
            break
        end_index = min(len(topic.partitions), start_index + left)
        response.topics.append(_describe(broker, topic, start_index, end_index))
        left -= max(0, end_index - start_index)
        if end_index < len(topic.partitions):
            response.next_cursor = Cursor(topic_name=name, partition_index=end_index)
            break
        start_index = 0
    return response


def _missing(name: str) -> DescribeTopicPartitionsResponseTopic:
    error = topic_name_error(name)
    return DescribeTopicPartitionsResponseTopic(
        error_code=error.code if error else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        name=name,
        is_internal=name in INTERNAL_TOPICS,
        partitions=[],
    )


def _describe(
    broker: Broker, topic: TopicImage, start_index: int, end_index: int
) -> DescribeTopicPartitionsResponseTopic:
    image = broker.image
    return DescribeTopicPartitionsResponseTopic(
        error_code=ErrorCode.NONE,
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        topic_authorized_operations=TOPIC_OPERATIONS,
        partitions=[
            DescribeTopicPartitionsResponsePartition(
                error_code=partition_error(image, partition),
                partition_index=index,
                leader_id=partition.leader,
                leader_epoch=partition.leader_epoch,
                replica_nodes=list(partition.replicas),
                isr_nodes=list(partition.isr),
                eligible_leader_replicas=list(partition.eligible_leader_replicas),
                last_known_elr=list(partition.last_known_elr),
                offline_replicas=offline_replicas(image, partition),
            )
            for index, partition in enumerate(
                topic.partitions[start_index:end_index], start=start_index
            )
        ],
    )


HANDLER = Handler(api=API_BY_KEY[75], version_min=0, version_max=0, serve=serve)
