"""An image written down as records: what a metadata snapshot holds.

Pure. The order is Kafka's: features first, for a reader must know the metadata version before
anything else, then nodes, topics, configs and the rest. Replaying the records onto an empty image
gives the image again.
"""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from ..protocol.metadata import register_broker_record, register_controller_record
from ..protocol.metadata.client_quota_record import ClientQuotaRecord, EntityData
from ..protocol.metadata.config_record import ConfigRecord
from ..protocol.metadata.feature_level_record import FeatureLevelRecord
from ..protocol.metadata.partition_record import PartitionRecord
from ..protocol.metadata.producer_ids_record import ProducerIdsRecord
from ..protocol.metadata.register_broker_record import RegisterBrokerRecord
from ..protocol.metadata.register_controller_record import RegisterControllerRecord
from ..protocol.metadata.topic_record import TopicRecord
from ..protocol.schema import Message
from .features import METADATA_VERSION
from .image import (
    BrokerImage,
    ConfigResource,
    ControllerImage,
    MetadataImage,
    PartitionImage,
    QuotaEntity,
    TopicImage,
)

T = TypeVar("T")


def image_records(image: MetadataImage) -> Iterator[Message]:
    """Records that rebuild *image*, one after the other.

    Inside a metadata transaction there is no snapshot: its records would be lost.
    """
    assert image.open_transaction is None, "a snapshot is taken between metadata transactions"
    yield from _features(image.features.levels)
    yield from map(_controller, image.controllers.values())
    yield from map(_broker, image.brokers.values())
    for topic in image.topics.values():
        yield from _topic(topic)
    for resource, values in image.configs.items():
        yield from _configs(resource, values)
    for entity, quotas in image.quotas.items():
        yield from _quotas(entity, quotas)
    if image.next_producer_id:
        broker_id, broker_epoch = image.producer_ids_broker
        yield ProducerIdsRecord(
            broker_id=broker_id, broker_epoch=broker_epoch, next_producer_id=image.next_producer_id
        )
    yield from image.acls.values()
    yield from image.scram.values()
    yield from image.delegation_tokens.values()


def partition_record(topic_id: bytes, index: int, partition: PartitionImage) -> PartitionRecord:
    """One partition as a record."""
    return PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=[*partition.replicas],
        isr=[*partition.isr],
        removing_replicas=[*partition.removing_replicas],
        adding_replicas=[*partition.adding_replicas],
        leader=partition.leader,
        leader_recovery_state=partition.leader_recovery_state,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        directories=[*partition.directories],
        eligible_leader_replicas=_list_or_none(partition.eligible_leader_replicas),
        last_known_elr=_list_or_none(partition.last_known_elr),
    )


def _features(levels: Mapping[str, int]) -> Iterator[FeatureLevelRecord]:
    for name in sorted(levels, key=lambda name: (name != METADATA_VERSION, name)):
        yield FeatureLevelRecord(name=name, feature_level=levels[name])


def _topic(topic: TopicImage) -> Iterator[Message]:
    yield TopicRecord(name=topic.name, topic_id=topic.topic_id)
    for index, partition in enumerate(topic.partitions):
        yield partition_record(topic.topic_id, index, partition)


def _broker(broker: BrokerImage) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=broker.broker_id,
        incarnation_id=broker.incarnation_id,
        broker_epoch=broker.broker_epoch,
        end_points=[
            register_broker_record.BrokerEndpoint(
                name=point.listener,
                host=point.host,
                port=point.port,
                security_protocol=point.security_protocol,
            )
            for point in broker.endpoints
        ],
        features=[
            register_broker_record.BrokerFeature(
                name=name, min_supported_version=low, max_supported_version=high
            )
            for name, (low, high) in broker.features.items()
        ],
        rack=broker.rack,
        fenced=broker.fenced,
        in_controlled_shutdown=broker.in_controlled_shutdown,
        log_dirs=[*broker.log_dirs],
        cordoned_log_dirs=None if broker.cordoned_log_dirs is None else [*broker.cordoned_log_dirs],
    )


def _controller(controller: ControllerImage) -> RegisterControllerRecord:
    return RegisterControllerRecord(
        controller_id=controller.controller_id,
        incarnation_id=controller.incarnation_id,
        end_points=[
            register_controller_record.ControllerEndpoint(
                name=point.listener,
                host=point.host,
                port=point.port,
                security_protocol=point.security_protocol,
            )
            for point in controller.endpoints
        ],
        features=[
            register_controller_record.ControllerFeature(
                name=name, min_supported_version=low, max_supported_version=high
            )
            for name, (low, high) in controller.features.items()
        ],
    )


def _configs(resource: ConfigResource, values: Mapping[str, str]) -> Iterator[ConfigRecord]:
    for name, value in values.items():
        yield ConfigRecord(
            resource_type=resource.type, resource_name=resource.name, name=name, value=value
        )


def _quotas(entity: QuotaEntity, quotas: Mapping[str, float]) -> Iterator[ClientQuotaRecord]:
    for key, value in quotas.items():
        yield ClientQuotaRecord(
            entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
            key=key,
            value=value,
        )


def _list_or_none(values: tuple[T, ...]) -> list[T] | None:
    return [*values] or None
