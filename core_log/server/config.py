"""Settings of a broker process: what an operator may say, and the values the parts take.

A dozen settings have names of their own; everything that Apache Kafka has a name for is given under
that name in ``configs`` (``--set log.retention.hours=72``), checked against the same table that
DescribeConfigs shows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from headwater.service.kinds import (
    Address,
    Duration,
    FilePath,
    HostPort,
    Listener,
    ListenerAddress,
    Listing,
    MappingOf,
    OrNone,
    Text,
    Whole,
)
from headwater.service.settings import SettingConflict, setting

from ..broker.config import BrokerConfig, Endpoint
from ..broker.housekeeping import Intervals
from ..groups.config import GroupConfig
from ..kernel.broker_configs import BROKER_CONFIGS
from ..kernel.config_keys import ConfigInvalid, ConfigValue
from ..transactions.config import TransactionConfig

PREFIX: Final = "HEADWATER_BROKER"
DEFAULT_LISTENER: Final = ListenerAddress("PLAINTEXT", "127.0.0.1", 9092)
PLAINTEXT: Final = "PLAINTEXT"
INT_MAX: Final = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSettings:
    """One node. Times and sizes in ``configs`` are written as Kafka writes them."""

    listeners: tuple[ListenerAddress, ...] = setting(
        Listing(of=Listener(), count_min=1, count_max=16),
        default=(DEFAULT_LISTENER,),
        sentence="Where clients connect; one listener per name. Port 0 takes a free port.",
        flags=("--listener",),
    )
    advertised_listeners: tuple[ListenerAddress, ...] = setting(
        Listing(of=Listener(), count_max=16),
        default=(),
        sentence="What clients are told to connect to, where it differs from the listener of "
        "that name: behind a forwarded port, or when listening on every interface.",
        flags=("--advertised-listener",),
    )
    data_dirs: tuple[Path, ...] = setting(
        Listing(of=FilePath(), count_min=1, count_max=64),
        default=(Path("headwater-data"),),
        sentence="Where partitions are kept; several spread over disks. The metadata log is in "
        "the first.",
        flags=("--data-dir",),
    )
    node_id: int = setting(
        Whole(minimum=0, maximum=INT_MAX),
        default=1,
        sentence="Number of this node, once and for ever: the data directory remembers it.",
    )
    cluster_id: str | None = setting(
        OrNone(of=Text(chars_max=64)),
        default=None,
        sentence="Identity of the cluster. Without it the directory's own, or a new one.",
    )
    rack: str | None = setting(
        OrNone(of=Text(chars_max=249)),
        default=None,
        sentence="Where the node stands; clients may prefer to read from their own rack.",
    )
    request_receive_ms_max: int = setting(
        Duration(minimum_ms=100),
        default=60_000,
        sentence="How long one request may take to arrive, or one answer to be read, before the "
        "connection is closed.",
    )
    monitor_address: Address | None = setting(
        OrNone(of=HostPort()),
        default=None,
        sentence="Where /metrics and /health are served over HTTP. Nowhere when not given.",
        flags=("--monitor",),
    )
    configs: Mapping[str, str] = setting(
        MappingOf(of=Text(chars_max=4096)),
        default=MappingProxyType({}),
        sentence="Broker configurations by Kafka's names, such as log.retention.hours=72.",
        flags=("--set",),
    )

    def __post_init__(self) -> None:
        for name, text in self.configs.items():
            key = BROKER_CONFIGS.get(name)
            if key is None:
                continue  # shown by DescribeConfigs, as Kafka does with what it does not know
            try:
                key.parse(text)
            except ConfigInvalid as error:
                raise SettingConflict(str(error), "configs") from error
        names = [listener.name for listener in self.listeners]
        if len(set(names)) < len(names):
            raise SettingConflict(f"two listeners are named alike: {', '.join(names)}", "listeners")
        for listener in self.listeners:
            if self.protocol_of(listener.name) != PLAINTEXT:
                raise SettingConflict(
                    f"listener {listener.name} asks for {self.protocol_of(listener.name)}; "
                    "this version serves PLAINTEXT only",
                    "listeners",
                )
        for advertised in self.advertised_listeners:
            if advertised.name not in names:
                raise SettingConflict(
                    f"{advertised} is advertised, but no listener is named {advertised.name}",
                    "advertised_listeners",
                )

    def protocol_of(self, listener: str) -> str:
        """The security protocol of a listener: by map, else its name where that is a protocol."""
        pairs = self.configs.get("listener.security.protocol.map", "").split(",")
        mapped = dict(pair.strip().split(":", 1) for pair in pairs if ":" in pair)
        if listener in mapped:
            return mapped[listener].upper()
        known = ("SSL", "SASL_PLAINTEXT", "SASL_SSL")
        return listener if listener in known else PLAINTEXT

    def value(self, name: str) -> ConfigValue:
        """The broker configuration of that name, given or default."""
        key = BROKER_CONFIGS[name]
        for candidate in (name, *key.fallbacks):
            if candidate in self.configs:
                return BROKER_CONFIGS[candidate].parse(self.configs[candidate])
        return None if key.default is None else key.parse(key.default)

    def whole(self, name: str) -> int:
        """The same for a whole number that has a default."""
        value = self.value(name)
        assert isinstance(value, int), name
        return value


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Bounds on what peers may do; times in milliseconds."""

    request_bytes_max: int
    connections_max: int
    connections_per_ip_max: int
    connections_idle_ms_max: int
    request_receive_ms_max: int


def connection_limits(settings: BrokerSettings) -> ConnectionLimits:
    """Kafka's bounds, and a time limit for one request to arrive or one answer to be read."""
    return ConnectionLimits(
        request_bytes_max=settings.whole("socket.request.max.bytes"),
        connections_max=settings.whole("max.connections"),
        connections_per_ip_max=settings.whole("max.connections.per.ip"),
        connections_idle_ms_max=settings.whole("connections.max.idle.ms"),
        request_receive_ms_max=settings.request_receive_ms_max,
    )


def broker_config(settings: BrokerSettings, endpoints: tuple[Endpoint, ...]) -> BrokerConfig:
    """What the broker is told, once its ports are known."""
    return BrokerConfig(
        node_id=settings.node_id,
        rack=settings.rack,
        advertised=endpoints,
        static_configs=static_configs(settings),
        auto_create_topics=bool(settings.value("auto.create.topics.enable")),
        num_partitions=settings.whole("num.partitions"),
        default_replication_factor=settings.whole("default.replication.factor"),
        offsets_topic_partitions=settings.whole("offsets.topic.num.partitions"),
        offsets_topic_segment_bytes=settings.whole("offsets.topic.segment.bytes"),
        transactions_topic_partitions=settings.whole("transaction.state.log.num.partitions"),
        transactions_topic_segment_bytes=settings.whole("transaction.state.log.segment.bytes"),
        transactions_topic_min_isr=settings.whole("transaction.state.log.min.isr"),
        fetch_bytes_max=settings.whole("fetch.max.bytes"),
        delete_topic_enable=bool(settings.value("delete.topic.enable")),
    )


def static_configs(settings: BrokerSettings) -> dict[str, str]:
    """Everything that DescribeConfigs shows as given at the start."""
    given = dict(settings.configs)
    given["node.id"] = given["broker.id"] = str(settings.node_id)
    given["log.dirs"] = ",".join(str(path) for path in settings.data_dirs)
    given["listeners"] = ",".join(str(listener) for listener in settings.listeners)
    if settings.advertised_listeners:
        given["advertised.listeners"] = ",".join(map(str, settings.advertised_listeners))
    if settings.rack is not None:
        given["broker.rack"] = settings.rack
    return given


def group_config(settings: BrokerSettings) -> GroupConfig:
    """Settings of the group coordinator. Raises ValueError where two contradict each other."""
    return GroupConfig(
        session_timeout_ms_min=settings.whole("group.min.session.timeout.ms"),
        session_timeout_ms_max=settings.whole("group.max.session.timeout.ms"),
        initial_rebalance_delay_ms=settings.whole("group.initial.rebalance.delay.ms"),
        group_size_max=settings.whole("group.max.size"),
        offset_metadata_chars_max=settings.whole("offset.metadata.max.bytes"),
        offsets_retention_ms=settings.whole("offsets.retention.minutes") * 60_000,
        offsets_retention_check_ms=settings.whole("offsets.retention.check.interval.ms"),
    )


def transaction_config(settings: BrokerSettings) -> TransactionConfig:
    """Settings of the transaction coordinator."""
    return TransactionConfig(
        transaction_timeout_ms_max=settings.whole("transaction.max.timeout.ms"),
        transactional_id_expiration_ms=settings.whole("transactional.id.expiration.ms"),
        abort_check_ms=settings.whole(
            "transaction.abort.timed.out.transaction.cleanup.interval.ms"
        ),
        expiration_check_ms=settings.whole(
            "transaction.remove.expired.transaction.cleanup.interval.ms"
        ),
    )


def intervals(settings: BrokerSettings) -> Intervals:
    """How often the periodic work runs."""
    return Intervals(
        retention_check_ms=settings.whole("log.retention.check.interval.ms"),
        checkpoint_ms=settings.whole("log.flush.offset.checkpoint.interval.ms"),
    )
