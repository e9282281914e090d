"""From a topic's effective configurations to the values that its log and its producers meet."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ..kernel.config_keys import ConfigValue
from ..kernel.topic_configs import TOPIC_CONFIGS
from ..records.batch import TimestampType
from ..records.compression import Codec
from ..records.validate import ProducePolicy
from ..storage.cleanable import CleaningPolicy
from ..storage.config import LogConfig

LONG_MAX: Final = 2**63 - 1
_CODECS: Final = {
    "producer": None,
    "uncompressed": Codec.NONE,
    "gzip": Codec.GZIP,
    "snappy": Codec.SNAPPY,
    "lz4": Codec.LZ4,
    "zstd": Codec.ZSTD,
}
_LEVEL_NAMES: Final = {
    Codec.GZIP: "compression.gzip.level",
    Codec.LZ4: "compression.lz4.level",
    Codec.ZSTD: "compression.zstd.level",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSettings:
    """Everything a hosted partition needs to know of its topic's configuration."""

    log: LogConfig
    policy: ProducePolicy
    min_insync_replicas: int


def topic_settings(
    effective: Mapping[str, str | None], *, producer_id_expiration_ms: int
) -> TopicSettings:
    """Typed settings out of *effective*: every topic configuration by name, as checked text."""
    values = {
        name: key.parse(text)
        for name, key in TOPIC_CONFIGS.items()
        if (text := effective.get(name, key.default)) is not None
    }
    policies = values["cleanup.policy"]
    assert isinstance(policies, tuple)
    stamp = str(values["message.timestamp.type"])
    codec = _CODECS[str(values["compression.type"])]
    level = None if codec not in _LEVEL_NAMES else _whole(values, _LEVEL_NAMES[codec])
    return TopicSettings(
        log=LogConfig(
            segment_bytes=_whole(values, "segment.bytes"),
            segment_ms=_segment_ms(values, is_compacted="compact" in policies),
            segment_jitter_ms=_whole(values, "segment.jitter.ms"),
            segment_index_bytes=_whole(values, "segment.index.bytes"),
            index_interval_bytes=_whole(values, "index.interval.bytes"),
            retention_ms=_bound(values, "retention.ms"),
            retention_bytes=_bound(values, "retention.bytes"),
            file_delete_delay_ms=_whole(values, "file.delete.delay.ms"),
            flush_messages=_whole(values, "flush.messages"),
            flush_ms=_bound(values, "flush.ms"),
            message_timestamp_type="LogAppendTime" if stamp == "LogAppendTime" else "CreateTime",
            producer_id_expiration_ms=producer_id_expiration_ms,
            preallocate=bool(values["preallocate"]),
            cleanup_delete="delete" in policies,
            cleanup_compact="compact" in policies,
            cleaning=CleaningPolicy(
                dirty_ratio_min=_share(values, "min.cleanable.dirty.ratio"),
                lag_ms_min=_whole(values, "min.compaction.lag.ms"),
                lag_ms_max=_bound(values, "max.compaction.lag.ms"),
            ),
            delete_retention_ms=_whole(values, "delete.retention.ms"),
        ),
        policy=ProducePolicy(
            message_bytes_max=_whole(values, "max.message.bytes"),
            timestamp_type=(
                TimestampType.LOG_APPEND_TIME
                if stamp == "LogAppendTime"
                else TimestampType.CREATE_TIME
            ),
            timestamp_before_ms_max=_whole(values, "message.timestamp.before.max.ms"),
            timestamp_after_ms_max=_whole(values, "message.timestamp.after.max.ms"),
            compression=codec,
            compression_level=level,
            is_compacted="compact" in policies,
        ),
        min_insync_replicas=_whole(values, "min.insync.replicas"),
    )


def _whole(values: Mapping[str, ConfigValue], name: str) -> int:
    value = values[name]
    assert isinstance(value, int), name
    return value


def _segment_ms(values: Mapping[str, ConfigValue], *, is_compacted: bool) -> int:
    """What ``max.compaction.lag.ms`` is to bound must not wait in the active segment for longer."""
    segment_ms = _whole(values, "segment.ms")
    return min(segment_ms, _whole(values, "max.compaction.lag.ms")) if is_compacted else segment_ms


def _share(values: Mapping[str, ConfigValue], name: str) -> float:
    value = values[name]
    assert isinstance(value, int | float), name
    return float(value)


def _bound(values: Mapping[str, ConfigValue], name: str) -> int | None:
    """A bound, None where the text says "no bound": below zero, or the largest long."""
    value = _whole(values, name)
    return None if value < 0 or value == LONG_MAX else value
