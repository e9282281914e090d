"""Metadata records applied to an image: the next image, and what changed.

Pure. A batch goes through a builder that copies each mapping it touches once, so that creating
10,000 partitions is linear; the old image stays as it was. Records of a metadata transaction
(KIP-868) wait in the image until the transaction ends.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, Generic, TypeVar, final

from ..protocol.metadata.abort_transaction_record import AbortTransactionRecord
from ..protocol.metadata.access_control_entry_record import AccessControlEntryRecord
from ..protocol.metadata.begin_transaction_record import BeginTransactionRecord
from ..protocol.metadata.broker_registration_change_record import BrokerRegistrationChangeRecord
from ..protocol.metadata.clear_elr_record import ClearElrRecord
from ..protocol.metadata.client_quota_record import ClientQuotaRecord
from ..protocol.metadata.config_record import ConfigRecord
from ..protocol.metadata.delegation_token_record import DelegationTokenRecord
from ..protocol.metadata.end_transaction_record import EndTransactionRecord
from ..protocol.metadata.feature_level_record import FeatureLevelRecord
from ..protocol.metadata.fence_broker_record import FenceBrokerRecord
from ..protocol.metadata.no_op_record import NoOpRecord
from ..protocol.metadata.partition_change_record import PartitionChangeRecord
from ..protocol.metadata.partition_record import PartitionRecord
from ..protocol.metadata.producer_ids_record import ProducerIdsRecord
from ..protocol.metadata.register_broker_record import RegisterBrokerRecord
from ..protocol.metadata.register_controller_record import RegisterControllerRecord
from ..protocol.metadata.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from ..protocol.metadata.remove_delegation_token_record import RemoveDelegationTokenRecord
from ..protocol.metadata.remove_topic_record import RemoveTopicRecord
from ..protocol.metadata.remove_user_scram_credential_record import RemoveUserScramCredentialRecord
from ..protocol.metadata.topic_record import TopicRecord
from ..protocol.metadata.unfence_broker_record import UnfenceBrokerRecord
from ..protocol.metadata.unregister_broker_record import UnregisterBrokerRecord
from ..protocol.metadata.user_scram_credential_record import UserScramCredentialRecord
from ..protocol.metadata.zk_migration_state_record import ZkMigrationStateRecord
from ..protocol.schema import Message
from .features import FeaturesImage
from .image import (
    BrokerImage,
    ConfigResource,
    ConfigResourceType,
    ControllerImage,
    EndpointImage,
    MetadataDelta,
    MetadataImage,
    PartitionImage,
    TopicImage,
    collision_key,
)

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_LEADER_UNCHANGED: Final = -2


class MetadataInvalid(Exception):
    """A record does not fit what came before it: the log is damaged, or from a newer Kafka."""


def apply(
    image: MetadataImage,
    records: Iterable[Message],
    *,
    last_offset: int,
    last_epoch: int,
    last_timestamp_ms: int,
) -> tuple[MetadataImage, MetadataDelta]:
    """The image after *records*, and what they changed.

    Raises MetadataInvalid when a record refers to what does not exist, or is of an unknown type.
    """
    builder = _Builder(image)
    for record in records:
        builder.add(record)
    return builder.freeze(
        last_offset=last_offset, last_epoch=last_epoch, last_timestamp_ms=last_timestamp_ms
    )


@final
class _Draft(Generic[K, V]):
    """A mapping that is copied at the first write."""

    __slots__ = ("_is_copy", "current")

    def __init__(self, base: Mapping[K, V]) -> None:
        self.current = base
        self._is_copy = False

    def writable(self) -> dict[K, V]:
        if not self._is_copy:
            self.current = dict(self.current)
            self._is_copy = True
        assert isinstance(self.current, dict)
        return self.current


@final
class _TopicDraft:
    """A topic whose partitions change in this batch."""

    __slots__ = ("changed", "created", "is_new", "name", "partitions", "topic_id")

    def __init__(self, name: str, topic_id: bytes, known: TopicImage | None) -> None:
        self.name = name
        self.topic_id = topic_id
        self.is_new = known is None
        self.partitions = {} if known is None else dict(enumerate(known.partitions))
        self.created: dict[int, None] = {}
        self.changed: dict[int, None] = {}

    def freeze(self) -> TopicImage:
        count = len(self.partitions)
        if any(index not in self.partitions for index in range(count)):
            raise MetadataInvalid(
                f"topic {self.name!r} has {count} partitions, but they are not 0 to {count - 1}"
            )
        return TopicImage(
            name=self.name,
            topic_id=self.topic_id,
            partitions=tuple(self.partitions[index] for index in range(count)),
        )


@final
class _Builder:
    """An image being changed; ``freeze`` ends it."""

    def __init__(self, image: MetadataImage) -> None:
        self._image = image
        self._transaction = None if image.open_transaction is None else [*image.open_transaction]
        self._levels = _Draft(image.features.levels)
        self._brokers = _Draft(image.brokers)
        self._controllers = _Draft(image.controllers)
        self._topics = _Draft(image.topics)
        self._topic_names = _Draft(image.topic_names)
        self._colliding = _Draft(image.colliding_names)
        self._configs = _Draft(image.configs)
        self._quotas = _Draft(image.quotas)
        self._acls = _Draft(image.acls)
        self._scram = _Draft(image.scram)
        self._tokens = _Draft(image.delegation_tokens)
        self._next_producer_id = image.next_producer_id
        self._producer_ids_broker = image.producer_ids_broker
        self._drafts: dict[bytes, _TopicDraft] = {}
        self._deleted: list[TopicImage] = []
        self._configs_changed: dict[ConfigResource, None] = {}
        self._brokers_changed: dict[int, None] = {}

    def add(self, record: Message) -> None:
        """Take one record, or keep it until its transaction ends."""
        if isinstance(record, BeginTransactionRecord):
            if self._transaction is not None:
                raise MetadataInvalid("a metadata transaction begins inside another")
            self._transaction = []
        elif isinstance(record, EndTransactionRecord | AbortTransactionRecord):
            if self._transaction is None:
                raise MetadataInvalid("a metadata transaction ends that did not begin")
            waiting, self._transaction = self._transaction, None
            if isinstance(record, EndTransactionRecord):
                for waited in waiting:
                    self._replay(waited)
        elif self._transaction is not None:
            self._transaction.append(record)
        else:
            self._replay(record)

    def freeze(
        self, *, last_offset: int, last_epoch: int, last_timestamp_ms: int
    ) -> tuple[MetadataImage, MetadataDelta]:
        for draft in self._drafts.values():
            self._topics.writable()[draft.name] = draft.freeze()
        image = replace(
            self._image,
            last_offset=last_offset,
            last_epoch=last_epoch,
            last_timestamp_ms=last_timestamp_ms,
            features=FeaturesImage(levels=self._levels.current),
            brokers=self._brokers.current,
            controllers=self._controllers.current,
            topics=self._topics.current,
            topic_names=self._topic_names.current,
            colliding_names=self._colliding.current,
            configs=self._configs.current,
            next_producer_id=self._next_producer_id,
            producer_ids_broker=self._producer_ids_broker,
            quotas=self._quotas.current,
            acls=self._acls.current,
            scram=self._scram.current,
            delegation_tokens=self._tokens.current,
            open_transaction=None if self._transaction is None else tuple(self._transaction),
        )
        return image, self._delta()

    def _delta(self) -> MetadataDelta:
        old = [draft for draft in self._drafts.values() if not draft.is_new]
        return MetadataDelta(
            topics_created=tuple(draft.name for draft in self._drafts.values() if draft.is_new),
            topics_deleted=tuple(self._deleted),
            partitions_created=tuple((draft.name, i) for draft in old for i in draft.created),
            partitions_changed=tuple(
                (draft.name, i) for draft in old for i in draft.changed if i not in draft.created
            ),
            configs_changed=tuple(self._configs_changed),
            brokers_changed=tuple(self._brokers_changed),
            features_changed=self._levels.current is not self._image.features.levels,
        )

    def _replay(self, record: Message) -> None:
        handler = _HANDLERS.get(type(record))
        if handler is None:
            raise MetadataInvalid(f"no such metadata record is known: {type(record).__name__}")
        handler(self, record)

    # Topics and partitions.

    def topic(self, record: TopicRecord) -> None:
        if record.name in self._topics.current:
            raise MetadataInvalid(f"topic {record.name!r} is created twice")
        # The place in the mapping is taken now, so that names keep their order of creation.
        self._topics.writable()[record.name] = TopicImage(
            name=record.name, topic_id=record.topic_id, partitions=()
        )
        self._topic_names.writable()[record.topic_id] = record.name
        self._drafts[record.topic_id] = _TopicDraft(record.name, record.topic_id, None)
        key = collision_key(record.name)
        if key is not None:
            self._colliding.writable()[key] = record.name

    def partition(self, record: PartitionRecord) -> None:
        draft = self._draft(record.topic_id)
        draft.partitions[record.partition_id] = PartitionImage(
            replicas=tuple(record.replicas),
            isr=tuple(record.isr),
            leader=record.leader,
            leader_epoch=record.leader_epoch,
            partition_epoch=record.partition_epoch,
            directories=tuple(record.directories),
            removing_replicas=tuple(record.removing_replicas),
            adding_replicas=tuple(record.adding_replicas),
            leader_recovery_state=record.leader_recovery_state,
            eligible_leader_replicas=tuple(record.eligible_leader_replicas or ()),
            last_known_elr=tuple(record.last_known_elr or ()),
        )
        draft.created[record.partition_id] = None

    def partition_change(self, record: PartitionChangeRecord) -> None:
        draft = self._draft(record.topic_id)
        known = draft.partitions.get(record.partition_id)
        if known is None:
            raise MetadataInvalid(
                f"partition {draft.name}-{record.partition_id} changes but does not exist"
            )
        draft.partitions[record.partition_id] = _merged(known, record)
        draft.changed[record.partition_id] = None

    def remove_topic(self, record: RemoveTopicRecord) -> None:
        name = self._topic_names.current.get(record.topic_id)
        if name is None:
            raise MetadataInvalid(f"topic id {record.topic_id.hex()} is removed but does not exist")
        draft = self._drafts.pop(record.topic_id, None)
        topic = self._topics.writable().pop(name)
        if draft is None or not draft.is_new:
            self._deleted.append(topic)
        del self._topic_names.writable()[record.topic_id]
        key = collision_key(name)
        if key is not None and self._colliding.current.get(key) == name:
            del self._colliding.writable()[key]
        resource = ConfigResource(ConfigResourceType.TOPIC, name)
        if resource in self._configs.current:
            del self._configs.writable()[resource]

    def clear_elr(self, record: ClearElrRecord) -> None:
        names = [record.topic_name] if record.topic_name else list(self._topics.current)
        for name in names:
            topic = self._topics.current.get(name)
            if topic is None:
                raise MetadataInvalid(f"topic {name!r} changes but does not exist")
            draft = self._draft(topic.topic_id)
            for index, known in draft.partitions.items():
                if known.eligible_leader_replicas or known.last_known_elr:
                    draft.partitions[index] = replace(
                        known, eligible_leader_replicas=(), last_known_elr=()
                    )
                    draft.changed[index] = None

    def _draft(self, topic_id: bytes) -> _TopicDraft:
        draft = self._drafts.get(topic_id)
        if draft is None:
            name = self._topic_names.current.get(topic_id)
            if name is None:
                raise MetadataInvalid(f"topic id {topic_id.hex()} changes but does not exist")
            draft = _TopicDraft(name, topic_id, self._topics.current[name])
            self._drafts[topic_id] = draft
        return draft

    # Nodes.

    def register_broker(self, record: RegisterBrokerRecord) -> None:
        self._set_broker(
            BrokerImage(
                broker_id=record.broker_id,
                broker_epoch=record.broker_epoch,
                incarnation_id=record.incarnation_id,
                endpoints=_endpoints(record),
                features=_feature_ranges(record),
                rack=record.rack,
                fenced=record.fenced,
                in_controlled_shutdown=record.in_controlled_shutdown,
                log_dirs=tuple(record.log_dirs),
                cordoned_log_dirs=_optional(record.cordoned_log_dirs),
            )
        )

    def change_broker(self, record: BrokerRegistrationChangeRecord) -> None:
        known = self._broker(record.broker_id)
        cordoned = record.cordoned_log_dirs
        self._set_broker(
            replace(
                known,
                fenced={-1: False, 0: known.fenced, 1: True}[record.fenced],
                in_controlled_shutdown=known.in_controlled_shutdown
                or record.in_controlled_shutdown == 1,
                log_dirs=tuple(record.log_dirs) or known.log_dirs,
                cordoned_log_dirs=known.cordoned_log_dirs if cordoned is None else tuple(cordoned),
            )
        )

    def fence_broker(self, record: FenceBrokerRecord) -> None:
        self._set_broker(replace(self._broker(record.id), fenced=True))

    def unfence_broker(self, record: UnfenceBrokerRecord) -> None:
        self._set_broker(replace(self._broker(record.id), fenced=False))

    def unregister_broker(self, record: UnregisterBrokerRecord) -> None:
        self._broker(record.broker_id)
        del self._brokers.writable()[record.broker_id]
        self._brokers_changed[record.broker_id] = None

    def register_controller(self, record: RegisterControllerRecord) -> None:
        self._controllers.writable()[record.controller_id] = ControllerImage(
            controller_id=record.controller_id,
            incarnation_id=record.incarnation_id,
            endpoints=_endpoints(record),
            features=_feature_ranges(record),
        )

    def _broker(self, broker_id: int) -> BrokerImage:
        known = self._brokers.current.get(broker_id)
        if known is None:
            raise MetadataInvalid(f"broker {broker_id} changes but is not registered")
        return known

    def _set_broker(self, broker: BrokerImage) -> None:
        self._brokers.writable()[broker.broker_id] = broker
        self._brokers_changed[broker.broker_id] = None

    # Everything else.

    def config(self, record: ConfigRecord) -> None:
        try:
            kind = ConfigResourceType(record.resource_type)
        except ValueError as error:
            raise MetadataInvalid(
                f"config {record.name!r} belongs to a resource of unknown type "
                f"{record.resource_type}"
            ) from error
        resource = ConfigResource(kind, record.resource_name)
        values = dict(self._configs.current.get(resource, {}))
        if record.value is None:
            values.pop(record.name, None)
        else:
            values[record.name] = record.value
        if values:
            self._configs.writable()[resource] = values
        else:
            self._configs.writable().pop(resource, None)
        self._configs_changed[resource] = None

    def feature_level(self, record: FeatureLevelRecord) -> None:
        if record.feature_level == 0:
            self._levels.writable().pop(record.name, None)
        else:
            self._levels.writable()[record.name] = record.feature_level

    def producer_ids(self, record: ProducerIdsRecord) -> None:
        self._next_producer_id = record.next_producer_id
        self._producer_ids_broker = (record.broker_id, record.broker_epoch)

    def client_quota(self, record: ClientQuotaRecord) -> None:
        entity = tuple(sorted((part.entity_type, part.entity_name) for part in record.entity))
        values = dict(self._quotas.current.get(entity, {}))
        if record.remove:
            values.pop(record.key, None)
        else:
            values[record.key] = record.value
        if values:
            self._quotas.writable()[entity] = values
        else:
            self._quotas.writable().pop(entity, None)

    def acl(self, record: AccessControlEntryRecord) -> None:
        self._acls.writable()[record.id] = record

    def remove_acl(self, record: RemoveAccessControlEntryRecord) -> None:
        self._acls.writable().pop(record.id, None)

    def set_scram(self, record: UserScramCredentialRecord) -> None:
        self._scram.writable()[record.name, record.mechanism] = record

    def remove_scram(self, record: RemoveUserScramCredentialRecord) -> None:
        self._scram.writable().pop((record.name, record.mechanism), None)

    def token(self, record: DelegationTokenRecord) -> None:
        self._tokens.writable()[record.token_id] = record

    def remove_token(self, record: RemoveDelegationTokenRecord) -> None:
        self._tokens.writable().pop(record.token_id, None)

    def nothing(self, record: Message) -> None:
        """A heartbeat of the log, or the end of a migration that this version never had."""


def _endpoints(
    record: RegisterBrokerRecord | RegisterControllerRecord,
) -> tuple[EndpointImage, ...]:
    return tuple(
        EndpointImage(
            listener=point.name,
            host=point.host,
            port=point.port,
            security_protocol=point.security_protocol,
        )
        for point in record.end_points
    )


def _feature_ranges(
    record: RegisterBrokerRecord | RegisterControllerRecord,
) -> dict[str, tuple[int, int]]:
    return {
        feature.name: (feature.min_supported_version, feature.max_supported_version)
        for feature in record.features
    }


def _merged(known: PartitionImage, record: PartitionChangeRecord) -> PartitionImage:
    leader_changes = record.leader != _LEADER_UNCHANGED
    return PartitionImage(
        replicas=_or(record.replicas, known.replicas),
        isr=_or(record.isr, known.isr),
        leader=record.leader if leader_changes else known.leader,
        leader_epoch=known.leader_epoch + leader_changes,
        partition_epoch=known.partition_epoch + 1,
        directories=_or(record.directories, known.directories),
        removing_replicas=_or(record.removing_replicas, known.removing_replicas),
        adding_replicas=_or(record.adding_replicas, known.adding_replicas),
        leader_recovery_state=known.leader_recovery_state
        if record.leader_recovery_state == -1
        else record.leader_recovery_state,
        eligible_leader_replicas=_or(
            record.eligible_leader_replicas, known.eligible_leader_replicas
        ),
        last_known_elr=_or(record.last_known_elr, known.last_known_elr),
    )


def _or(changed: list[V] | None, known: tuple[V, ...]) -> tuple[V, ...]:
    return known if changed is None else tuple(changed)


def _optional(values: list[V] | None) -> tuple[V, ...] | None:
    return None if values is None else tuple(values)


_HANDLERS: Final[Mapping[type[Message], Callable[[_Builder, Any], None]]] = {
    # Any, because each method takes the very type it stands beside.
    AccessControlEntryRecord: _Builder.acl,
    BrokerRegistrationChangeRecord: _Builder.change_broker,
    ClearElrRecord: _Builder.clear_elr,
    ClientQuotaRecord: _Builder.client_quota,
    ConfigRecord: _Builder.config,
    DelegationTokenRecord: _Builder.token,
    FeatureLevelRecord: _Builder.feature_level,
    FenceBrokerRecord: _Builder.fence_broker,
    NoOpRecord: _Builder.nothing,
    PartitionChangeRecord: _Builder.partition_change,
    PartitionRecord: _Builder.partition,
    ProducerIdsRecord: _Builder.producer_ids,
    RegisterBrokerRecord: _Builder.register_broker,
    RegisterControllerRecord: _Builder.register_controller,
    RemoveAccessControlEntryRecord: _Builder.remove_acl,
    RemoveDelegationTokenRecord: _Builder.remove_token,
    RemoveTopicRecord: _Builder.remove_topic,
    RemoveUserScramCredentialRecord: _Builder.remove_scram,
    TopicRecord: _Builder.topic,
    UnfenceBrokerRecord: _Builder.unfence_broker,
    UnregisterBrokerRecord: _Builder.unregister_broker,
    UserScramCredentialRecord: _Builder.set_scram,
    ZkMigrationStateRecord: _Builder.nothing,
}
