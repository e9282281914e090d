"""How one log behaves, as values; the broker builds them from topic configurations."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .cleanable import KAFKA_POLICY, CleaningPolicy

TimestampType: TypeAlias = Literal["CreateTime", "LogAppendTime"]

_DAY_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class LogConfig:
    """Settings of one partition's log, named after Kafka's topic configurations.

    Values come checked: their bounds are declared where topic configurations are. The defaults are
    Kafka's, but for ``flush_messages``: see ``docs`` of that configuration.
    """

    segment_bytes: int = 1024 * 1024 * 1024
    segment_ms: int = 7 * _DAY_MS
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10 * 1024 * 1024
    index_interval_bytes: int = 4096
    retention_ms: int | None = 7 * _DAY_MS
    retention_bytes: int | None = None
    file_delete_delay_ms: int = 60_000
    flush_messages: int = 1
    flush_ms: int | None = None
    message_timestamp_type: TimestampType = "CreateTime"
    producer_id_expiration_ms: int = _DAY_MS
    preallocate: bool = False
    """Accepted for Kafka's sake: appending costs these file systems no more than overwriting."""
    cleanup_delete: bool = True
    """``cleanup.policy`` names ``delete``: retention applies, not only the log start offset."""
    cleanup_compact: bool = False
    """``cleanup.policy`` names ``compact``: of each key the newest record is kept."""
    cleaning: CleaningPolicy = KAFKA_POLICY
    delete_retention_ms: int = _DAY_MS
    """How long compaction keeps a tombstone, or a transaction's marker, once it has seen it."""
