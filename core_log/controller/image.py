"""The cluster's metadata as one immutable value.

Pure values. The records they add up from are Kafka's own (KIP-631, KIP-746); ``replay`` applies
them, and the image after any offset is the same on every node.

What Headwater does not act on yet (ACLs, SCRAM credentials, delegation tokens, quotas) is kept in
the image, because a snapshot replaces the log and must lose nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, TypeAlias

from ..kernel.ids import NO_TOPIC_ID
from ..protocol.metadata.access_control_entry_record import AccessControlEntryRecord
from ..protocol.metadata.delegation_token_record import DelegationTokenRecord
from ..protocol.metadata.user_scram_credential_record import UserScramCredentialRecord
from ..protocol.schema import Message
from .features import FeaturesImage

NO_LEADER: Final = -1
CLUSTER_DEFAULT: Final = ""
"""The name of the broker resource whose configs hold for every broker."""


class ConfigResourceType(IntEnum):
    """What a config belongs to; the numbers are those of the wire and of the records."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


@dataclass(frozen=True, slots=True)
class ConfigResource:
    """A key of ``MetadataImage.configs``; positional because both read in one order everywhere."""

    type: ConfigResourceType
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointImage:
    """Where a node listens."""

    listener: str
    host: str
    port: int
    security_protocol: int
    """0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerImage:
    """One registered broker."""

    broker_id: int
    broker_epoch: int
    incarnation_id: bytes
    endpoints: tuple[EndpointImage, ...]
    features: Mapping[str, tuple[int, int]]
    rack: str | None
    fenced: bool
    in_controlled_shutdown: bool = False
    log_dirs: tuple[bytes, ...] = ()
    cordoned_log_dirs: tuple[bytes, ...] | None = None

    def endpoint(self, listener: str) -> EndpointImage | None:
        """The endpoint of that listener; None when the broker has no such listener."""
        return next((e for e in self.endpoints if e.listener == listener), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerImage:
    """One registered controller."""

    controller_id: int
    incarnation_id: bytes
    endpoints: tuple[EndpointImage, ...]
    features: Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionImage:
    """One partition as the controller sees it."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    directories: tuple[bytes, ...] = ()
    removing_replicas: tuple[int, ...] = ()
    adding_replicas: tuple[int, ...] = ()
    leader_recovery_state: int = 0
    eligible_leader_replicas: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicImage:
    """One topic; ``partitions[i]`` is partition *i*."""

    name: str
    topic_id: bytes
    partitions: tuple[PartitionImage, ...]


def collision_key(topic: str) -> str | None:
    """What a topic name shares with those it collides with; None when it cannot collide."""
    return topic.replace(".", "_") if "." in topic or "_" in topic else None


QuotaEntity: TypeAlias = tuple[tuple[str, str | None], ...]
"""Sorted (entity type, entity name) pairs; a name of None is the default entity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataImage:
    """All metadata after the record at ``last_offset``."""

    cluster_id: str
    last_offset: int = -1
    last_epoch: int = -1
    last_timestamp_ms: int = 0
    features: FeaturesImage = field(default_factory=FeaturesImage)
    brokers: Mapping[int, BrokerImage] = field(default_factory=dict)
    controllers: Mapping[int, ControllerImage] = field(default_factory=dict)
    topics: Mapping[str, TopicImage] = field(default_factory=dict)
    topic_names: Mapping[bytes, str] = field(default_factory=dict)
    """Names by topic id."""
    configs: Mapping[ConfigResource, Mapping[str, str]] = field(default_factory=dict)
    next_producer_id: int = 0
    producer_ids_broker: tuple[int, int] = (-1, -1)
    """Broker id and epoch of whoever got the last block of producer ids."""
    quotas: Mapping[QuotaEntity, Mapping[str, float]] = field(default_factory=dict)
    acls: Mapping[bytes, AccessControlEntryRecord] = field(default_factory=dict)
    scram: Mapping[tuple[str, int], UserScramCredentialRecord] = field(default_factory=dict)
    delegation_tokens: Mapping[str, DelegationTokenRecord] = field(default_factory=dict)
    colliding_names: Mapping[str, str] = field(default_factory=dict)
    """Topic names with a ``.`` or ``_``, by ``collision_key``: metrics fold the two into one."""
    open_transaction: tuple[Message, ...] | None = None
    """Records since a BeginTransactionRecord (KIP-868), which count once its end has come."""

    def __repr__(self) -> str:
        return (
            f"<MetadataImage after {self.last_offset}: {len(self.topics)} topics, "
            f"{len(self.brokers)} brokers>"
        )

    def broker(self, broker_id: int) -> BrokerImage | None:
        """The registered broker; None when there is none of that id."""
        return self.brokers.get(broker_id)

    def topic(self, name: str) -> TopicImage | None:
        return self.topics.get(name)

    def topic_by_id(self, topic_id: bytes) -> TopicImage | None:
        name = self.topic_names.get(topic_id)
        return None if name is None else self.topics[name]

    def topic_id(self, name: str) -> bytes:
        """The topic's id, all zero bytes when there is no such topic."""
        topic = self.topics.get(name)
        return NO_TOPIC_ID if topic is None else topic.topic_id

    def partition(self, topic: str, index: int) -> PartitionImage | None:
        """That partition; None when the topic or the partition does not exist."""
        found = self.topics.get(topic)
        if found is None or not 0 <= index < len(found.partitions):
            return None
        return found.partitions[index]

    def hosted_by(self, node_id: int) -> Iterator[tuple[TopicImage, int]]:
        """Every (topic, partition index) with a replica on that node."""
        for topic in self.topics.values():
            for index, partition in enumerate(topic.partitions):
                if node_id in partition.replicas:
                    yield topic, index

    def overrides(self, resource: ConfigResource) -> Mapping[str, str]:
        """Configs set on exactly that resource."""
        return self.configs.get(resource, {})

    def topic_overrides(self, topic: str) -> Mapping[str, str]:
        return self.overrides(ConfigResource(ConfigResourceType.TOPIC, topic))


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataDelta:
    """What a batch of records changed, for the broker to act on; names in order of first change.

    A topic deleted and made again under one name appears in both lists, with the old image in
    ``topics_deleted``.
    """

    topics_created: tuple[str, ...] = ()
    topics_deleted: tuple[TopicImage, ...] = ()
    partitions_created: tuple[tuple[str, int], ...] = ()
    """New partitions of topics that already were there."""
    partitions_changed: tuple[tuple[str, int], ...] = ()
    """Leader, ISR or replicas changed."""
    configs_changed: tuple[ConfigResource, ...] = ()
    brokers_changed: tuple[int, ...] = ()
    features_changed: bool = False

    @property
    def is_empty(self) -> bool:
        return self == MetadataDelta()
