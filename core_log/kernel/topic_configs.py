"""Every topic configuration of Kafka 4.3: what is accepted, with which bounds, and what it does.

One default deviates: ``flush.messages`` is 1. An append with ``acks=all`` is answered when a group
commit has put it on disk. Any larger value is Kafka's behaviour: the answer comes when the batch is
written to the page cache, and the disk follows by count, by ``flush.ms`` or by the system's choice.
"""

from collections.abc import Mapping
from typing import Final

from .config_keys import (
    LONG_MAX,
    BrokerName,
    Check,
    ConfigInvalid,
    ConfigKey,
    ConfigType,
    GzipLevel,
    OneOf,
    Range,
    ThrottledReplicas,
    table,
)

HOUR_MS: Final = 60 * 60 * 1000
DAY_MS: Final = 24 * HOUR_MS
WEEK_MS: Final = 7 * DAY_MS

COMPRESSION_TYPES: Final = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
TIMESTAMP_TYPES: Final = ("CreateTime", "LogAppendTime")
_FOREVER: Final = str(LONG_MAX)


def _key(
    name: str,
    type_: ConfigType,
    default: str | int | None,
    broker: str | tuple[BrokerName, ...],
    check: Check,
    doc: str,
    *,
    internal: bool = False,
) -> ConfigKey:
    names = (BrokerName(broker),) if isinstance(broker, str) else broker
    return ConfigKey(
        name=name,
        type=type_,
        default=None if default is None else str(default),
        broker_names=names,
        check=check,
        doc=doc,
        internal=internal,
    )


_BOOLEAN, _STRING, _INT = ConfigType.BOOLEAN, ConfigType.STRING, ConfigType.INT
_LONG, _DOUBLE, _LIST = ConfigType.LONG, ConfigType.DOUBLE, ConfigType.LIST
_ANY: Final = Check()

TOPIC_CONFIGS: Final[Mapping[str, ConfigKey]] = table(
    [
        _key(
            "cleanup.policy",
            _LIST,
            "delete",
            "log.cleanup.policy",
            OneOf(("compact", "delete")),
            "What happens to old data: delete drops whole segments by age and size, compact keeps "
            "the newest record of each key, both do both, and an empty list keeps everything.",
        ),
        _key(
            "compression.gzip.level",
            _INT,
            -1,
            "compression.gzip.level",
            GzipLevel(),
            "Level used where the broker compresses with gzip itself; -1 is the codec's default.",
        ),
        _key(
            "compression.lz4.level",
            _INT,
            9,
            "compression.lz4.level",
            Range(1, 17),
            "Level used where the broker compresses with lz4 itself.",
        ),
        _key(
            "compression.type",
            _STRING,
            "producer",
            "compression.type",
            OneOf(COMPRESSION_TYPES),
            "How batches are stored: producer keeps what was sent, anything else makes the broker "
            "compress them again on arrival.",
        ),
        _key(
            "compression.zstd.level",
            _INT,
            3,
            "compression.zstd.level",
            Range(-131072, 22),
            "Level used where the broker compresses with zstd itself.",
        ),
        _key(
            "delete.retention.ms",
            _LONG,
            DAY_MS,
            "log.cleaner.delete.retention.ms",
            Range(0),
            "How long compaction keeps a tombstone, so that readers who are behind still see it.",
        ),
        _key(
            "file.delete.delay.ms",
            _LONG,
            60_000,
            "log.segment.delete.delay.ms",
            Range(0),
            "How long a deleted segment's file stays on disk for readers that still have it open.",
        ),
        _key(
            "flush.messages",
            _LONG,
            1,
            "log.flush.interval.messages",
            Range(1),
            "1 puts every append on disk, by group commit, before acks=all is answered; a larger "
            "value answers from the page cache and flushes after that many records.",
        ),
        _key(
            "flush.ms",
            _LONG,
            _FOREVER,
            (BrokerName("log.flush.interval.ms"), BrokerName("log.flush.scheduler.interval.ms")),
            Range(0),
            "With lazy flushing, the longest time a record stays only in the page cache.",
        ),
        _key(
            "follower.replication.throttled.replicas",
            _LIST,
            "",
            (),
            ThrottledReplicas(),
            "Replicas whose copying is throttled on the follower, as partition:broker pairs or *.",
        ),
        _key(
            "index.interval.bytes",
            _INT,
            4096,
            "log.index.interval.bytes",
            Range(0),
            "Log bytes between two entries of a segment's offset index.",
        ),
        _key(
            "internal.segment.bytes",
            _INT,
            None,
            (),
            _ANY,
            "Segment size without the lower bound of segment.bytes, for tests.",
            internal=True,
        ),
        _key(
            "leader.replication.throttled.replicas",
            _LIST,
            "",
            (),
            ThrottledReplicas(),
            "Replicas whose copying is throttled on the leader, as partition:broker pairs or *.",
        ),
        _key(
            "local.retention.bytes",
            _LONG,
            -2,
            "log.local.retention.bytes",
            Range(-2),
            "Bytes kept locally once segments are in remote storage; accepted without effect "
            "while there is no remote storage.",
        ),
        _key(
            "local.retention.ms",
            _LONG,
            -2,
            "log.local.retention.ms",
            Range(-2),
            "Time segments are kept locally once they are in remote storage; accepted without "
            "effect while there is no remote storage.",
        ),
        _key(
            "max.compaction.lag.ms",
            _LONG,
            _FOREVER,
            "log.cleaner.max.compaction.lag.ms",
            Range(1),
            "The longest time a record of a compacted topic may wait for compaction.",
        ),
        _key(
            "max.message.bytes",
            _INT,
            1024 * 1024 + 12,
            "message.max.bytes",
            Range(0),
            "The largest batch a producer may append, as it is stored.",
        ),
        _key(
            "message.timestamp.after.max.ms",
            _LONG,
            HOUR_MS,
            "log.message.timestamp.after.max.ms",
            Range(0),
            "How far a record's timestamp may lie ahead of the broker's clock.",
        ),
        _key(
            "message.timestamp.before.max.ms",
            _LONG,
            _FOREVER,
            "log.message.timestamp.before.max.ms",
            Range(0),
            "How far a record's timestamp may lie behind the broker's clock.",
        ),
        _key(
            "message.timestamp.type",
            _STRING,
            "CreateTime",
            "log.message.timestamp.type",
            OneOf(TIMESTAMP_TYPES),
            "Whose clock stamps records: the producer's, or the broker's on append.",
        ),
        _key(
            "min.cleanable.dirty.ratio",
            _DOUBLE,
            "0.5",
            "log.cleaner.min.cleanable.ratio",
            Range(0, 1),
            "The share of a log that must be uncompacted before compaction starts.",
        ),
        _key(
            "min.compaction.lag.ms",
            _LONG,
            0,
            "log.cleaner.min.compaction.lag.ms",
            Range(0),
            "The shortest time a record stays uncompacted.",
        ),
        _key(
            "min.insync.replicas",
            _INT,
            1,
            "min.insync.replicas",
            Range(1),
            "In-sync replicas that an append with acks=all needs.",
        ),
        _key(
            "preallocate",
            _BOOLEAN,
            "false",
            "log.preallocate",
            _ANY,
            "Reserve a new segment's space on disk at once.",
        ),
        _key(
            "remote.log.copy.disable",
            _BOOLEAN,
            "false",
            (),
            _ANY,
            "Make data in remote storage read-only; accepted without effect while there is none.",
        ),
        _key(
            "remote.log.delete.on.disable",
            _BOOLEAN,
            "false",
            (),
            _ANY,
            "Drop remote data when remote storage is disabled; accepted without effect while "
            "there is none.",
        ),
        _key(
            "remote.storage.enable",
            _BOOLEAN,
            "false",
            (),
            _ANY,
            "Keep old segments in remote storage; only false is possible while there is none.",
        ),
        _key(
            "retention.bytes",
            _LONG,
            -1,
            "log.retention.bytes",
            _ANY,
            "Size a partition may grow to before its oldest segments go; negative is no limit.",
        ),
        _key(
            "retention.ms",
            _LONG,
            WEEK_MS,
            (
                BrokerName("log.retention.ms"),
                BrokerName("log.retention.minutes", 60_000),
                BrokerName("log.retention.hours", HOUR_MS),
            ),
            Range(-1),
            "Age of the newest record at which a segment goes; -1 is no limit.",
        ),
        _key(
            "segment.bytes",
            _INT,
            1024 * 1024 * 1024,
            "log.segment.bytes",
            Range(1024 * 1024),
            "Size at which a new segment begins.",
        ),
        _key(
            "segment.index.bytes",
            _INT,
            10 * 1024 * 1024,
            "log.index.size.max.bytes",
            Range(4),
            "The largest size of a segment's index; a full index begins a new segment.",
        ),
        _key(
            "segment.jitter.ms",
            _LONG,
            0,
            (BrokerName("log.roll.jitter.ms"), BrokerName("log.roll.jitter.hours", HOUR_MS)),
            Range(0),
            "Random time taken off segment.ms, so that many logs do not roll at once.",
        ),
        _key(
            "segment.ms",
            _LONG,
            WEEK_MS,
            (BrokerName("log.roll.ms"), BrokerName("log.roll.hours", HOUR_MS)),
            Range(1),
            "Age at which a new segment begins even if the old one is not full.",
        ),
        _key(
            "unclean.leader.election.enable",
            _BOOLEAN,
            "false",
            "unclean.leader.election.enable",
            _ANY,
            "Let a replica outside the in-sync set become leader, losing what it does not have.",
        ),
    ]
)


def check_topic_configs(overrides: Mapping[str, str]) -> None:
    """Pass when a topic may have these configurations together.

    Raises ConfigInvalid for an unknown name, a bad value, or values that contradict each other.
    """
    for name in overrides:
        if name not in TOPIC_CONFIGS:
            raise ConfigInvalid(f"Unknown topic config name: {name}")
    values = {name: TOPIC_CONFIGS[name].parse(text) for name, text in overrides.items()}
    if values.get("remote.storage.enable"):
        raise ConfigInvalid(
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage."
        )
    lag_ms_min = values.get("min.compaction.lag.ms", 0)
    lag_ms_max = values.get("max.compaction.lag.ms", LONG_MAX)
    assert isinstance(lag_ms_min, int)
    assert isinstance(lag_ms_max, int)
    if lag_ms_min > lag_ms_max:
        raise ConfigInvalid(
            f"conflict topic config setting min.compaction.lag.ms ({lag_ms_min}) > "
            f"max.compaction.lag.ms ({lag_ms_max})"
        )
