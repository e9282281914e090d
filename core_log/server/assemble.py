"""Puts a broker together out of its parts, over whatever ports the host has.

The asyncio node and the simulation call the same function; it is the only place where the parts of
a broker meet.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, final

from ..broker.broker import Broker, Disk, ServedApi
from ..broker.compaction import Cleaner, Compaction
from ..broker.compaction_config import compaction_config
from ..broker.config import BrokerConfig
from ..broker.deferred import Deferred
from ..broker.groups import OFFSETS_TOPIC, Groups
from ..broker.handlers import HANDLERS
from ..broker.housekeeping import Housekeeping, Intervals
from ..broker.markers import Markers
from ..broker.partitions import Hosted, Partitions
from ..broker.producer_ids import Block, ProducerIds
from ..broker.reconcile import Reconciler
from ..broker.steady_clock import SteadyClock
from ..broker.timers import Timers
from ..broker.topic_settings import TopicSettings, topic_settings
from ..broker.topics import OwnTopics
from ..broker.transactions import TRANSACTIONS_TOPIC, Transactions
from ..controller.configs import effective_broker_config, effective_topic_configs
from ..controller.controller import Controller
from ..controller.decision import ControllerConfig
from ..controller.features import TRANSACTION_VERSION
from ..controller.image import EndpointImage, MetadataImage
from ..controller.log_config import METADATA_LOG_CONFIG
from ..controller.nodes import allocate_producer_ids, own_registration
from ..controller.topics import create_topics
from ..groups.config import GroupConfig
from ..kernel.effects import Note as ShardNote
from ..kernel.errors import ApiError
from ..kernel.ids import ID_BYTES
from ..kernel.ports import Clock, FileSystem, Random
from ..protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from ..protocol.messages.broker_registration import BrokerRegistrationRequest
from ..protocol.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse
from ..raft.metadata_log import (
    METADATA_TOPIC,
    METADATA_TOPIC_ID,
    MetadataLog,
)
from ..storage.config import LogConfig
from ..storage.directory import LogDirectory
from ..storage.errors import DiskFull, LogDirectoryFailed
from ..storage.log import PartitionLog
from ..storage.notes import Note
from ..transactions.config import TransactionConfig
from .notify import Notify

_SECURITY_PROTOCOLS: Final = {"PLAINTEXT": 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What a broker runs on."""

    fs: FileSystem
    clock: Clock
    rng: Random
    disk: Disk
    schedule_turn: Callable[[], None]
    timer_set: Callable[[], None]
    """A timer has become the next one to fire."""
    failed: Callable[[LogDirectoryFailed], None]
    """A data directory failed; the host decides whether the node goes on."""
    notify: Notify
    unread_bytes: Callable[[], int]
    """Answers in memory that their peers do not take."""
    newest_connection: Callable[[], int]
    """Number of the connection accepted last, 0 before the first."""
    cleaner: Cleaner
    """Does the work of compaction away from the loop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Specification:
    """What kind of broker it is to be."""

    config: BrokerConfig
    groups: GroupConfig
    transactions: TransactionConfig
    intervals: Intervals
    data_dirs: tuple[str, ...]
    cluster_id: str | None = None
    producer_id_expiration_ms: int = 86_400_000
    open_files_max: int = 512
    """Segment and index files kept open at once; further ones are reopened when needed."""


def open_directories(host: Host, spec: Specification) -> list[LogDirectory]:
    """Take over every data directory. Raises LogDirectoryRefused, LogDirectoryFailed."""
    directories: list[LogDirectory] = []
    cluster_id = spec.cluster_id
    try:
        for path in spec.data_dirs:
            directory = LogDirectory.open(
                host.fs,
                path,
                node_id=spec.config.node_id,
                cluster_id=cluster_id,
                clock=host.clock,
                rng=host.rng,
                open_files_max=spec.open_files_max,
                on_failure=host.failed,
            )
            directories.append(directory)
            cluster_id = directory.cluster_id
    except BaseException:
        for directory in directories:
            directory.close(clean=False)
        raise
    return directories


def assemble(host: Host, spec: Specification, directories: Sequence[LogDirectory]) -> Broker:
    """A broker that has recovered its logs and its metadata and is registered; it blocks so long.

    Raises LogDirectoryFailed, MetadataLogRefused, MetadataLogDamaged.
    """
    controller_config = ControllerConfig(
        node_id=spec.config.node_id,
        num_partitions=spec.config.num_partitions,
        default_replication_factor=spec.config.default_replication_factor,
        delete_topic_enable=spec.config.delete_topic_enable,
        static_configs=spec.config.static_configs,
    )
    controller = _open_controller(host, spec, directories[0])
    controller.start(
        _registration(host, spec, directories),
        was_clean=all(directory.was_clean for directory in directories),
        now_ms=host.clock.now_ms(),
    )

    def settings_for(image: MetadataImage, topic: str) -> TopicSettings:
        return topic_settings(
            effective_topic_configs(image, topic, controller_config),
            producer_id_expiration_ms=spec.producer_id_expiration_ms,
        )

    logs = _load(host, directories, lambda topic: settings_for(controller.image, topic).log)
    timers = Timers(host.timer_set)

    def shard_note(entry: ShardNote) -> None:
        host.notify(entry.event, entry.severe, dict(entry.facts))

    def disk_full(hosted: Hosted, full: DiskFull) -> None:
        facts = {"topic": hosted.topic, "partition": hosted.index, "reason": full.message}
        host.notify("disk_full", True, facts)

    partitions = Partitions(
        host.disk,
        host.clock,
        schedule_turn=host.schedule_turn,
        directory_failed=host.failed,
        disk_full=disk_full,
    )

    def create(request: CreateTopicsRequest) -> Deferred[CreateTopicsResponse | ApiError]:
        return broker.submit(
            lambda image: create_topics(image, request, controller_config, host.rng)
        )

    def allocate() -> Deferred[Block | ApiError]:
        request = AllocateProducerIdsRequest(
            broker_id=spec.config.node_id,
            broker_epoch=controller.image.brokers[spec.config.node_id].broker_epoch,
        )
        return broker.submit(lambda image: allocate_producer_ids(image, request)).map(
            lambda answer: (
                answer
                if isinstance(answer, ApiError)
                else (answer.producer_id_start, answer.producer_id_len)
            )
        )

    own_topics = OwnTopics(spec.config, lambda: controller.image, create)
    producer_ids = ProducerIds(allocate)
    groups = Groups(
        partitions=partitions,
        offsets_topic=own_topics.offsets,
        topics=own_topics,
        config=spec.groups,
        clock=SteadyClock(host.clock),
        rng=host.rng,
        timers=timers,
        note=shard_note,
    )
    transactions = Transactions(
        partitions=partitions,
        topic=own_topics.transactions,
        markers=Markers(partitions=partitions, groups=groups, clock=host.clock),
        config=spec.transactions,
        ids=producer_ids,
        cluster=_ClusterFacts(controller, own_topics, groups),
        partition_exists=own_topics.exists,
        newest_connection=host.newest_connection,
        clock=SteadyClock(host.clock),
        timers=timers,
        note=shard_note,
    )
    reconciler = Reconciler(
        node_id=spec.config.node_id,
        partitions=partitions,
        directories=directories,
        coordinators={
            OFFSETS_TOPIC: groups.shards,
            TRANSACTIONS_TOPIC: transactions.shards,
        },
        topics_deleted=groups.topics_deleted,
        settings_for=settings_for,
        note=lambda entry: _tell(host, entry),
        failed=host.failed,
    )
    housekeeping = Housekeeping(
        partitions=partitions,
        directories=directories,
        clock=host.clock,
        timers=timers,
        background=host.disk,
        intervals=spec.intervals,
        note=lambda entry: _tell(host, entry),
        failed=host.failed,
    )
    compaction = Compaction(
        partitions=partitions,
        housekeeping=housekeeping,
        cleaner=host.cleaner,
        fs=host.fs,
        clock=host.clock,
        timers=timers,
        background=host.disk,
        config=lambda: compaction_config(
            lambda name: effective_broker_config(controller.image, name, controller_config)
        ),
        note=lambda entry: _tell(host, entry),
        failed=host.failed,
    )
    broker = Broker(
        config=spec.config,
        clock=host.clock,
        rng=host.rng,
        timers=timers,
        disk=host.disk,
        directories=directories,
        controller=controller,
        controller_config=controller_config,
        partitions=partitions,
        reconciler=reconciler,
        groups=groups,
        transactions=transactions,
        own_topics=own_topics,
        housekeeping=housekeeping,
        compaction=compaction,
        producer_ids=producer_ids,
        served=served_apis(),
        schedule_turn=host.schedule_turn,
        unread_bytes=host.unread_bytes,
        failed=host.failed,
        unhandled=lambda error, facts: host.notify(
            "unhandled_error", True, {**facts, "error": error}
        ),
    )
    reconciler.start(controller.image, logs)
    housekeeping.start()
    compaction.start()
    return broker


@final
class _ClusterFacts:
    """What the transaction coordinator asks of the cluster."""

    def __init__(self, controller: Controller, own_topics: OwnTopics, groups: Groups) -> None:
        self._controller = controller
        self._own_topics = own_topics
        self._groups = groups

    def offsets_partition(self, group_id: str) -> int | None:
        """None while the offsets topic does not exist."""
        if not self._own_topics.offsets.partition_count():
            return None
        return self._groups.shard_of(group_id)

    def transaction_version(self) -> int:
        """The finalized level of transaction.version."""
        return self._controller.image.features.finalized.get(TRANSACTION_VERSION, 0)


def served_apis() -> tuple[ServedApi, ...]:
    """What ApiVersions lists: the table of handlers."""
    return tuple(
        ServedApi(
            key=handler.api.key,
            version_min=handler.version_min,
            version_max=handler.version_max,
        )
        for handler in HANDLERS.values()
    )


def _open_controller(host: Host, spec: Specification, directory: LogDirectory) -> Controller:
    log, notes = directory.open_log(METADATA_TOPIC, 0, METADATA_TOPIC_ID, METADATA_LOG_CONFIG)
    for entry in notes:
        _tell(host, entry)
    metadata_log = MetadataLog.open(
        host.fs,
        log,
        node_id=spec.config.node_id,
        directory_id=directory.directory_id,
        now_ms=host.clock.now_ms(),
    )
    controller = Controller(metadata_log, cluster_id=directory.cluster_id)
    for entry in controller.notes:
        _tell(host, entry)
    return controller


def _registration(
    host: Host, spec: Specification, directories: Sequence[LogDirectory]
) -> BrokerRegistrationRequest:
    return own_registration(
        broker_id=spec.config.node_id,
        cluster_id=directories[0].cluster_id,
        incarnation_id=host.rng.randbytes(ID_BYTES),
        endpoints=[
            EndpointImage(
                listener=endpoint.listener,
                host=endpoint.host,
                port=endpoint.port,
                security_protocol=_SECURITY_PROTOCOLS[endpoint.security_protocol],
            )
            for endpoint in spec.config.advertised
        ],
        rack=spec.config.rack,
        log_dirs=[directory.directory_id for directory in directories],
    )


def _tell(host: Host, note: Note) -> None:
    host.notify(note.event, note.severe, {"path": note.path, **note.facts})


def _load(
    host: Host, directories: Sequence[LogDirectory], config_for: Callable[[str], LogConfig]
) -> dict[tuple[str, int], PartitionLog]:
    logs: dict[tuple[str, int], PartitionLog] = {}
    configs: dict[str, LogConfig] = {}

    def cached(topic: str, partition: int) -> LogConfig:
        del partition
        if topic not in configs:
            configs[topic] = config_for(topic)
        return configs[topic]

    for directory in directories:
        found, notes = directory.load(cached)
        for entry in notes:
            _tell(host, entry)
        logs.update({(log.topic, log.partition): log for log in found})
    return logs
