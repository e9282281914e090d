"""What an operator may set about transactions, with Kafka 4.3's defaults.

A value: the server builds it once from its settings and hands it to every shard.
"""

from dataclasses import dataclass
from typing import Final

SECOND_MS: Final = 1_000
MINUTE_MS: Final = 60 * SECOND_MS
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionConfig:
    """Settings of the transaction coordinator; each comment names Kafka's setting.

    Raises ValueError when a value is below 1: no bound and no interval here may be zero.
    """

    transaction_timeout_ms_max: int = 15 * MINUTE_MS  # transaction.max.timeout.ms
    transactional_id_expiration_ms: int = 7 * DAY_MS  # transactional.id.expiration.ms
    abort_check_ms: int = 10 * SECOND_MS
    """transaction.abort.timed.out.transaction.cleanup.interval.ms"""
    expiration_check_ms: int = HOUR_MS
    """transaction.remove.expired.transaction.cleanup.interval.ms"""

    batch_bytes_max: int = 1_048_588
    """Bytes one batch may take: max.message.bytes of __transaction_state. The record of a
    transaction names all its partitions and must fit."""

    transactional_ids_max: int = 100_000
    """Transactional ids one shard keeps. Kafka has no bound; a client that makes up ids in a loop
    would fill its memory for the seven days that an id lives."""

    transactional_id_bytes_max: int = 1_024
    """Bytes of one transactional id in UTF-8. Kafka takes 32,767."""

    transaction_partitions_max: int = 10_000
    """Partitions in one transaction. Kafka has no bound but the record's size; each partition that
    joins writes the whole list again."""

    pattern_chars_max: int = 256
    """Length of the pattern that lists transactional ids."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
