"""Puts a broker together out of its parts, over whatever ports the host has.

The asyncio node and the simulation call the same function; it is the only place where the parts of
a broker meet.
"""

from collections.abc import Sequence
from typing import final

from ..broker.broker import Broker, ServedApi
from ..broker.compaction import Compaction
from ..broker.compaction_config import compaction_config
from ..broker.deferred import Deferred
from ..broker.groups import OFFSETS_TOPIC, Groups
from ..broker.handlers import HANDLERS
from ..broker.housekeeping import Housekeeping
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
from ..controller.image import MetadataImage
from ..controller.nodes import allocate_producer_ids
from ..controller.topics import create_topics
from ..kernel.errors import ApiError
from ..protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from ..protocol.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse
from ..storage.directory import LogDirectory
from ..storage.errors import DiskFull
from .host import Host, Specification
from .opening import load_logs, open_controller


def assemble(host: Host, spec: Specification, directories: Sequence[LogDirectory]) -> Broker:
    """A broker that has recovered its logs and its metadata and is registered; it blocks so long.

    Raises LogDirectoryFailed, MetadataLogRefused, MetadataLogDamaged.
    """
    return _Assembly(host, spec, directories).broker


@final
class _Assembly:
    """The parts of one broker, made in the order in which they need each other."""

    def __init__(
        self, host: Host, spec: Specification, directories: Sequence[LogDirectory]
    ) -> None:
        self._host = host
        self._spec = spec
        self._directories = directories
        self._controller_config = ControllerConfig(
            node_id=spec.config.node_id,
            num_partitions=spec.config.num_partitions,
            default_replication_factor=spec.config.default_replication_factor,
            delete_topic_enable=spec.config.delete_topic_enable,
            static_configs=spec.config.static_configs,
        )
        self._controller = open_controller(host, spec, directories)
        logs = load_logs(
            host,
            directories,
            lambda topic: self._settings_for(self._controller.image, topic).log,
        )
        self._timers = Timers(host.timer_set)
        self._partitions = Partitions(
            host.disk,
            host.clock,
            schedule_turn=host.schedule_turn,
            directory_failed=host.failed,
            disk_full=self._disk_full,
        )
        self._own_topics = OwnTopics(spec.config, lambda: self._controller.image, self._create)
        self._producer_ids = ProducerIds(self._allocate)
        self._groups = self._new_groups()
        self._transactions = self._new_transactions()
        self._housekeeping = self._new_housekeeping()
        self._compaction = self._new_compaction()
        reconciler = self._new_reconciler()
        self.broker = self._new_broker(reconciler)
        reconciler.start(self._controller.image, logs)
        self._housekeeping.start()
        self._compaction.start()

    # -- what parts ask of each other ---------------------------------------------------------

    def _settings_for(self, image: MetadataImage, topic: str) -> TopicSettings:
        return topic_settings(
            effective_topic_configs(image, topic, self._controller_config),
            producer_id_expiration_ms=self._spec.producer_id_expiration_ms,
        )

    def _disk_full(self, hosted: Hosted, full: DiskFull) -> None:
        facts = {"topic": hosted.topic, "partition": hosted.index, "reason": full.message}
        self._host.notify("disk_full", True, facts)

    def _create(self, request: CreateTopicsRequest) -> Deferred[CreateTopicsResponse | ApiError]:
        return self.broker.submit(
            lambda image: create_topics(image, request, self._controller_config, self._host.rng)
        )

    def _allocate(self) -> Deferred[Block | ApiError]:
        node_id = self._spec.config.node_id
        request = AllocateProducerIdsRequest(
            broker_id=node_id,
            broker_epoch=self._controller.image.brokers[node_id].broker_epoch,
        )
        return self.broker.submit(lambda image: allocate_producer_ids(image, request)).map(
            lambda answer: (
                answer
                if isinstance(answer, ApiError)
                else (answer.producer_id_start, answer.producer_id_len)
            )
        )

    # -- the parts ----------------------------------------------------------------------------

    def _new_groups(self) -> Groups:
        return Groups(
            partitions=self._partitions,
            offsets_topic=self._own_topics.offsets,
            topics=self._own_topics,
            config=self._spec.groups,
            clock=SteadyClock(self._host.clock),
            rng=self._host.rng,
            timers=self._timers,
            note=self._host.tell_of_shard,
        )

    def _new_transactions(self) -> Transactions:
        return Transactions(
            partitions=self._partitions,
            topic=self._own_topics.transactions,
            markers=Markers(
                partitions=self._partitions, groups=self._groups, clock=self._host.clock
            ),
            config=self._spec.transactions,
            ids=self._producer_ids,
            cluster=_ClusterFacts(self._controller, self._own_topics, self._groups),
            partition_exists=self._own_topics.exists,
            newest_connection=self._host.newest_connection,
            clock=SteadyClock(self._host.clock),
            timers=self._timers,
            note=self._host.tell_of_shard,
        )

    def _new_housekeeping(self) -> Housekeeping:
        return Housekeeping(
            partitions=self._partitions,
            directories=self._directories,
            clock=self._host.clock,
            timers=self._timers,
            background=self._host.disk,
            intervals=self._spec.intervals,
            note=self._host.tell,
            failed=self._host.failed,
        )

    def _new_compaction(self) -> Compaction:
        return Compaction(
            partitions=self._partitions,
            housekeeping=self._housekeeping,
            cleaner=self._host.cleaner,
            fs=self._host.fs,
            clock=self._host.clock,
            timers=self._timers,
            background=self._host.disk,
            config=lambda: compaction_config(
                lambda name: effective_broker_config(
                    self._controller.image, name, self._controller_config
                )
            ),
            note=self._host.tell,
            failed=self._host.failed,
        )

    def _new_reconciler(self) -> Reconciler:
        return Reconciler(
            node_id=self._spec.config.node_id,
            partitions=self._partitions,
            directories=self._directories,
            coordinators={
                OFFSETS_TOPIC: self._groups.shards,
                TRANSACTIONS_TOPIC: self._transactions.shards,
            },
            topics_deleted=self._groups.topics_deleted,
            settings_for=self._settings_for,
            note=self._host.tell,
            failed=self._host.failed,
        )

    def _new_broker(self, reconciler: Reconciler) -> Broker:
        host = self._host
        return Broker(
            config=self._spec.config,
            clock=host.clock,
            rng=host.rng,
            timers=self._timers,
            disk=host.disk,
            directories=self._directories,
            controller=self._controller,
            controller_config=self._controller_config,
            partitions=self._partitions,
            reconciler=reconciler,
            groups=self._groups,
            transactions=self._transactions,
            own_topics=self._own_topics,
            housekeeping=self._housekeeping,
            compaction=self._compaction,
            producer_ids=self._producer_ids,
            served=served_apis(),
            schedule_turn=host.schedule_turn,
            unread_bytes=host.unread_bytes,
            failed=host.failed,
            unhandled=lambda error, facts: host.notify(
                "unhandled_error", True, {**facts, "error": error}
            ),
        )


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
