"""Broker configurations of Kafka 4.3 that mean something here, or that topic defaults come from.

Kafka lists some 340. What is left out is what this broker does not have (tiered storage, share
groups, Kerberos, JMX): DescribeConfigs shows what is true, not what Kafka would have said. A value
given at the start under another of Kafka's names is kept and listed as one of an unknown type.
"""

from collections.abc import Mapping
from typing import Final

from .config_keys import (
    ANYTHING,
    INT_MAX,
    LONG_MAX,
    Check,
    ConfigKey,
    ConfigType,
    Dynamic,
    Range,
    table,
)
from .topic_configs import HOUR_MS, TOPIC_CONFIGS

_BOOLEAN, _STRING, _INT = ConfigType.BOOLEAN, ConfigType.STRING, ConfigType.INT
_SHORT, _LONG, _LIST = ConfigType.SHORT, ConfigType.LONG, ConfigType.LIST
_DOUBLE: Final = ConfigType.DOUBLE
_CLUSTER: Final = Dynamic.CLUSTER_WIDE
_PER_BROKER: Final = Dynamic.PER_BROKER
_FIXED: Final = Dynamic.READ_ONLY


def _key(
    name: str,
    type_: ConfigType,
    default: str | int | None,
    doc: str,
    check: Check = ANYTHING,
    dynamic: Dynamic = _FIXED,
    fallbacks: tuple[str, ...] = (),
) -> ConfigKey:
    return ConfigKey(
        name=name,
        type=type_,
        default=None if default is None else str(default),
        doc=doc,
        check=check,
        dynamic=dynamic,
        fallbacks=fallbacks,
    )


def _topic_default(topic_name: str) -> ConfigKey:
    """The broker configuration that has a topic configuration's type, bounds and default."""
    key = TOPIC_CONFIGS[topic_name]
    alone = len(key.broker_names) == 1
    return ConfigKey(
        name=key.broker_names[0].name,
        type=key.type,
        # With several units the default is that of the coarsest: log.retention.hours=168.
        default=key.default if alone else None,
        check=key.check,
        doc=f"Default of the topic configuration {topic_name}.",
        fallbacks=tuple(other.name for other in key.broker_names[1:]),
        dynamic=_CLUSTER,
    )


_TOPIC_DEFAULTS: Final = [
    _topic_default(name) for name, key in TOPIC_CONFIGS.items() if key.broker_names
]

BROKER_CONFIGS: Final[Mapping[str, ConfigKey]] = table(
    [
        *_TOPIC_DEFAULTS,
        _key(
            "log.flush.scheduler.interval.ms",
            _LONG,
            LONG_MAX,
            "Used when log.flush.interval.ms is not set.",
        ),
        _key(
            "log.retention.hours",
            _INT,
            168,
            "Used when neither log.retention.ms nor log.retention.minutes is set.",
        ),
        _key("log.retention.minutes", _INT, None, "Used when log.retention.ms is not set."),
        _key("log.roll.hours", _INT, 168, "Used when log.roll.ms is not set.", Range(1)),
        _key(
            "log.roll.jitter.hours", _INT, 0, "Used when log.roll.jitter.ms is not set.", Range(0)
        ),
        _key("advertised.listeners", _LIST, None, "Addresses that clients are told to connect to."),
        _key(
            "auto.create.topics.enable",
            _BOOLEAN,
            "true",
            "Whether asking for an unknown topic creates it.",
        ),
        _key("broker.id", _INT, -1, "The same as node.id."),
        _key(
            "broker.rack", _STRING, None, "Where the broker stands; replicas are spread over racks."
        ),
        _key(
            "connections.max.idle.ms",
            _LONG,
            10 * 60_000,
            "Idle time after which a connection is closed.",
        ),
        _key("controller.listener.names", _LIST, None, "Listeners of the metadata quorum."),
        _key(
            "controller.quorum.voters", _LIST, "", "Nodes that vote on metadata, as id@host:port."
        ),
        _key(
            "default.replication.factor", _INT, 1, "Replicas of a topic created without a number."
        ),
        _key("delete.topic.enable", _BOOLEAN, "true", "Whether topics can be deleted."),
        _key(
            "fetch.max.bytes",
            _INT,
            55 * 1024 * 1024,
            "The most bytes one fetch answers.",
            Range(1024),
        ),
        _key(
            "group.initial.rebalance.delay.ms",
            _INT,
            3000,
            "How long a new group waits for more members.",
        ),
        _key(
            "group.max.session.timeout.ms",
            _INT,
            30 * 60_000,
            "The longest session timeout a member may ask for.",
        ),
        _key("group.max.size", _INT, INT_MAX, "Members one group may have.", Range(1)),
        _key(
            "group.min.session.timeout.ms",
            _INT,
            6000,
            "The shortest session timeout a member may ask for.",
        ),
        _key(
            "inter.broker.listener.name",
            _STRING,
            None,
            "The listener that brokers use among themselves.",
        ),
        _key(
            "listener.security.protocol.map",
            _STRING,
            "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
            "Which protocol each listener speaks.",
            ANYTHING,
            _PER_BROKER,
        ),
        _key(
            "listeners",
            _LIST,
            "PLAINTEXT://:9092",
            "Addresses the broker listens on.",
            ANYTHING,
            _PER_BROKER,
        ),
        _key("log.dir", _LIST, None, "The data directory, when log.dirs is not set."),
        _key("log.dirs", _LIST, None, "The data directories.", ANYTHING, _FIXED, ("log.dir",)),
        _key(
            "log.cleaner.backoff.ms",
            _LONG,
            15_000,
            "Time between two looks for logs to compact when there was none.",
            Range(0),
            _CLUSTER,
        ),
        _key(
            "log.cleaner.dedupe.buffer.size",
            _LONG,
            128 * 1024 * 1024,
            "Memory for the keys of one compaction, 24 bytes each; a log with more dirty keys "
            "takes several passes.",
            Range(1024 * 1024),
            _CLUSTER,
        ),
        _key("log.cleaner.enable", _BOOLEAN, "true", "Whether logs are compacted at all."),
        _key(
            "log.cleaner.io.buffer.size",
            _INT,
            512 * 1024,
            "Bytes that compaction reads at once.",
            Range(0),
            _CLUSTER,
        ),
        _key(
            "log.cleaner.io.max.bytes.per.second",
            _DOUBLE,
            "1.7976931348623157E308",
            "The most bytes per second that compaction reads and writes, on average.",
            Range(1),
            _CLUSTER,
        ),
        _key(
            "log.cleaner.threads",
            _INT,
            1,
            "Kept for tools; one process does the work here, one log at a time, whatever the "
            "number.",
            Range(0),
            _CLUSTER,
        ),
        _key(
            "log.flush.offset.checkpoint.interval.ms",
            _INT,
            60_000,
            "Time between two recovery point checkpoints.",
            Range(0),
        ),
        _key(
            "log.flush.start.offset.checkpoint.interval.ms",
            _INT,
            60_000,
            "Time between two log start offset checkpoints.",
            Range(0),
        ),
        _key(
            "log.retention.check.interval.ms",
            _LONG,
            5 * 60_000,
            "Time between two looks for expired segments.",
            Range(1),
        ),
        _key("max.connections", _INT, INT_MAX, "Connections the broker takes.", Range(0), _CLUSTER),
        _key(
            "max.connections.per.ip",
            _INT,
            INT_MAX,
            "Connections the broker takes from one address.",
            Range(0),
            _CLUSTER,
        ),
        _key(
            "max.incremental.fetch.session.cache.slots",
            _INT,
            1000,
            "Incremental fetch sessions kept.",
            Range(0),
        ),
        _key(
            "metadata.log.max.record.bytes.between.snapshots",
            _LONG,
            20 * 1024 * 1024,
            "Metadata log bytes after which a snapshot is written.",
            Range(1),
        ),
        _key("node.id", _INT, None, "This node's number in the cluster.", Range(0)),
        _key(
            "num.io.threads",
            _INT,
            8,
            "Kept for tools; one event loop does the work here.",
            Range(1),
            _CLUSTER,
        ),
        _key(
            "num.network.threads",
            _INT,
            3,
            "Kept for tools; one event loop does the work here.",
            Range(1),
            _CLUSTER,
        ),
        _key(
            "num.partitions", _INT, 1, "Partitions of a topic created without a number.", Range(1)
        ),
        _key(
            "num.recovery.threads.per.data.dir",
            _INT,
            2,
            "Kept for tools; recovery is sequential here.",
            Range(1),
            _CLUSTER,
        ),
        _key("num.replica.fetchers", _INT, 1, "Fetchers per source broker.", Range(1), _CLUSTER),
        _key(
            "offset.metadata.max.bytes", _INT, 4096, "The longest note beside a committed offset."
        ),
        _key(
            "offsets.retention.check.interval.ms",
            _LONG,
            10 * 60_000,
            "Time between two looks for expired offsets.",
            Range(1),
        ),
        _key(
            "offsets.retention.minutes",
            _INT,
            7 * 24 * 60,
            "How long offsets of an empty group are kept.",
            Range(1),
        ),
        _key(
            "offsets.topic.num.partitions",
            _INT,
            50,
            "Partitions of the topic that holds committed offsets.",
            Range(1),
        ),
        _key(
            "offsets.topic.replication.factor",
            _SHORT,
            3,
            "Replicas of the topic that holds committed offsets.",
            Range(1),
        ),
        _key(
            "offsets.topic.segment.bytes",
            _INT,
            100 * 1024 * 1024,
            "Segment size of the topic that holds committed offsets.",
            Range(1),
        ),
        _key("process.roles", _LIST, None, "Roles of this node: broker, controller or both."),
        _key(
            "producer.id.expiration.ms",
            _INT,
            24 * HOUR_MS,
            "Silence after which an idempotent producer is forgotten.",
            Range(1),
            _CLUSTER,
        ),
        _key(
            "queued.max.requests",
            _INT,
            500,
            "Kept for tools; requests are bounded per connection here.",
            Range(1),
        ),
        _key(
            "replica.fetch.max.bytes",
            _INT,
            1024 * 1024,
            "Bytes a follower asks for per partition.",
            Range(0),
        ),
        _key(
            "replica.high.watermark.checkpoint.interval.ms",
            _LONG,
            5000,
            "Time between two high watermark checkpoints.",
        ),
        _key(
            "replica.lag.time.max.ms",
            _LONG,
            30_000,
            "Lag after which a replica leaves the in-sync set.",
        ),
        _key(
            "request.timeout.ms", _INT, 30_000, "How long this broker waits for another's answer."
        ),
        _key(
            "security.inter.broker.protocol",
            _STRING,
            "PLAINTEXT",
            "Protocol between brokers when no listener is named.",
        ),
        _key(
            "socket.request.max.bytes",
            _INT,
            100 * 1024 * 1024,
            "The largest request that is read.",
            Range(1),
        ),
        _key(
            "transaction.abort.timed.out.transaction.cleanup.interval.ms",
            _INT,
            10_000,
            "How often transactions that have timed out are looked for, to abort them.",
            Range(1),
        ),
        _key(
            "transaction.max.timeout.ms",
            _INT,
            15 * 60_000,
            "The longest transaction timeout a producer may ask for.",
            Range(1),
        ),
        _key(
            "transaction.remove.expired.transaction.cleanup.interval.ms",
            _INT,
            HOUR_MS,
            "How often transactional ids that have expired are looked for.",
            Range(1),
        ),
        _key(
            "transaction.state.log.min.isr",
            _INT,
            2,
            "min.insync.replicas of the transaction topic.",
            Range(1),
        ),
        _key(
            "transaction.state.log.num.partitions",
            _INT,
            50,
            "Partitions of the transaction topic.",
            Range(1),
        ),
        _key(
            "transaction.state.log.replication.factor",
            _SHORT,
            3,
            "Replicas of the transaction topic.",
            Range(1),
        ),
        _key(
            "transaction.state.log.segment.bytes",
            _INT,
            100 * 1024 * 1024,
            "Segment size of the transaction topic.",
            Range(1),
        ),
        _key(
            "transactional.id.expiration.ms",
            _INT,
            7 * 24 * HOUR_MS,
            "Silence after which a transactional id is forgotten.",
            Range(1),
        ),
    ]
)
"""Broker configurations by name."""

TOPIC_DEFAULT_NAMES: Final = frozenset(
    name.name for key in TOPIC_CONFIGS.values() for name in key.broker_names
)
"""Broker configurations whose change can change a topic."""


def check_static_configs(configs: Mapping[str, str]) -> None:
    """Pass when the broker can start with these configurations; names of others are let through.

    Raises ConfigInvalid for the first bad value.
    """
    for name, text in configs.items():
        key = BROKER_CONFIGS.get(name)
        if key is not None:
            key.parse(text)
