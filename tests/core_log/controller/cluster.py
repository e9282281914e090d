"""Small clusters as images, made by the records that would make them."""

import random
from collections.abc import Sequence

from headwater.core_log.controller.commands import ControllerConfig, Decision
from headwater.core_log.controller.image import MetadataDelta, MetadataImage
from headwater.core_log.controller.replay import apply
from headwater.core_log.controller.topics import create_topics
from headwater.core_log.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from headwater.core_log.protocol.metadata.register_broker_record import RegisterBrokerRecord
from headwater.core_log.protocol.schema import Message

CONFIG = ControllerConfig(node_id=1)


def directory_of(broker_id: int) -> bytes:
    return bytes([broker_id]) * 16


def broker(broker_id: int, *, rack: str | None = None, fenced: bool = False) -> Message:
    return RegisterBrokerRecord(
        broker_id=broker_id,
        incarnation_id=bytes([broker_id + 100]) * 16,
        broker_epoch=broker_id,
        rack=rack,
        fenced=fenced,
        log_dirs=[directory_of(broker_id)],
    )


def after(image: MetadataImage, records: Sequence[Message]) -> MetadataImage:
    return changed(image, records)[0]


def changed(
    image: MetadataImage, records: Sequence[Message]
) -> tuple[MetadataImage, MetadataDelta]:
    return apply(
        image,
        records,
        last_offset=image.last_offset + len(records),
        last_epoch=1,
        last_timestamp_ms=0,
    )


def carried_out(image: MetadataImage, decision: Decision[object]) -> MetadataImage:
    return after(image, decision.records)


def cluster(brokers: int = 1) -> MetadataImage:
    image = MetadataImage(cluster_id="cluster")
    return after(image, [broker(number) for number in range(1, brokers + 1)])


def topic(
    name: str,
    partitions: int = 1,
    replicas: int = 1,
    *,
    configs: dict[str, str | None] | None = None,
    assignments: dict[int, list[int]] | None = None,
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replicas,
        configs=[
            CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()
        ],
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
            for index, brokers in (assignments or {}).items()
        ],
    )


def with_topics(image: MetadataImage, *topics: CreatableTopic) -> MetadataImage:
    decision = create_topics(
        image, CreateTopicsRequest(topics=[*topics]), CONFIG, random.Random(len(image.topics))
    )
    assert all(result.error_code == 0 for result in decision.response.topics), decision.response
    return after(image, decision.records)
