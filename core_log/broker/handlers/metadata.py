"""Metadata (key 3), versions 0-13: brokers, topics, leaders.

Version 0 takes an empty list for "all topics", later ones take null. Topics may be asked for by id
(KIP-516) from version 12 on; 10 and 11 have the field and refuse it, as Kafka does. An unknown
topic is created when broker and client both allow it; the answer waits for the creation, where
Kafka answers UNKNOWN_TOPIC_OR_PARTITION and is asked again.
"""

from ...controller.image import TopicImage
from ...controller.names import topic_name_error
from ...kernel.errors import ApiError, ErrorCode
from ...kernel.ids import NO_TOPIC_ID
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..describe import (
    CLUSTER_OPERATIONS,
    INTERNAL_TOPICS,
    TOPIC_OPERATIONS,
    live_brokers,
    offline_replicas,
    partition_error,
)
from ..handler import Handler

IDS_SINCE = 12


def serve(
    broker: Broker, request: MetadataRequest, call: Call
) -> MetadataResponse | Deferred[MetadataResponse]:
    """What a client needs to find the leaders of the topics it asked about."""
    asked = request.topics
    everything = asked is None or (call.api_version == 0 and not asked)
    if everything or asked is None:
        return _respond(broker, request, call, None, {})
    if call.api_version < IDS_SINCE and any(
        topic.name is None or topic.topic_id != NO_TOPIC_ID for topic in asked
    ):
        # No name can be null in an answer of these versions.
        return MetadataResponse(
            brokers=[],
            topics=[
                _missing(
                    MetadataRequestTopic(name=topic.name or "", topic_id=topic.topic_id),
                    ErrorCode.INVALID_REQUEST,
                )
                for topic in asked
            ],
        )
    missing = [
        topic.name
        for topic in asked
        if topic.name and topic.topic_id == NO_TOPIC_ID and topic.name not in broker.image.topics
    ]
    may_create = call.api_version < 4 or request.allow_auto_topic_creation
    if not (missing and may_create and broker.config.auto_create_topics):
        return _respond(broker, request, call, asked, {})
    return broker.own_topics.auto_create(missing).map(
        lambda errors: _respond(broker, request, call, asked, errors)
    )


def _respond(
    broker: Broker,
    request: MetadataRequest,
    call: Call,
    asked: list[MetadataRequestTopic] | None,
    creation_errors: dict[str, ApiError],
) -> MetadataResponse:
    image = broker.image
    if asked is None:
        topics = [_topic(broker, request, topic) for topic in image.topics.values()]
    else:
        # However often a topic is asked for, Kafka names it once.
        distinct = {(topic.topic_id, topic.name): topic for topic in asked}.values()
        topics = [_asked(broker, request, topic, creation_errors) for topic in distinct]
    response = MetadataResponse(
        brokers=[
            MetadataResponseBroker(
                node_id=node.broker_id, host=endpoint.host, port=endpoint.port, rack=node.rack
            )
            for node, endpoint in live_brokers(image, call.session.listener)
        ],
        cluster_id=image.cluster_id,
        controller_id=broker.controller_id,
        topics=topics,
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = CLUSTER_OPERATIONS
    return response


def _asked(
    broker: Broker,
    request: MetadataRequest,
    asked: MetadataRequestTopic,
    creation_errors: dict[str, ApiError],
) -> MetadataResponseTopic:
    image = broker.image
    by_id = asked.topic_id != NO_TOPIC_ID
    if by_id and asked.name is not None:
        # Clients that know both ask by id alone; both together contradict KIP-516.
        return _missing(asked, ErrorCode.INVALID_REQUEST)
    found = image.topic_by_id(asked.topic_id) if by_id else image.topic(asked.name or "")
    if found is not None:
        return _topic(broker, request, found)
    if by_id:
        return _missing(asked, ErrorCode.UNKNOWN_TOPIC_ID)
    error = creation_errors.get(asked.name or "") or topic_name_error(asked.name or "")
    return _missing(
        asked, error.code if error is not None else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    )


def _missing(asked: MetadataRequestTopic, code: ErrorCode) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        error_code=code,
        name=asked.name,
        topic_id=asked.topic_id,
        is_internal=asked.name in INTERNAL_TOPICS,
        partitions=[],
    )


def _topic(broker: Broker, request: MetadataRequest, topic: TopicImage) -> MetadataResponseTopic:
    image = broker.image
    response = MetadataResponseTopic(
        error_code=ErrorCode.NONE,
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=[
            MetadataResponsePartition(
                error_code=partition_error(image, partition),
                partition_index=index,
                leader_id=partition.leader,
                leader_epoch=partition.leader_epoch,
                replica_nodes=list(partition.replicas),
                isr_nodes=list(partition.isr),
                offline_replicas=offline_replicas(image, partition),
            )
            for index, partition in enumerate(topic.partitions)
        ],
    )
    if request.include_topic_authorized_operations:
        response.topic_authorized_operations = TOPIC_OPERATIONS
    return response


HANDLER = Handler(api=API_BY_KEY[3], version_min=0, version_max=13, serve=serve)
