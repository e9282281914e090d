"""The broker's configurations of compaction, as the values that its parts take. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ..kernel.broker_configs import BROKER_CONFIGS
from ..kernel.config_keys import ConfigValue
from ..storage.cleaning import CleanLimits

_KAFKA_LIMITS: Final = CleanLimits()
_UNBOUND_BYTES_PER_SECOND: Final = 1e15
"""Kafka's default is the largest double: whatever is far beyond any disk bounds nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionConfig:
    """Settings of compaction, named after Kafka's ``log.cleaner.…``."""

    is_enabled: bool = True
    backoff_ms: int = 15_000
    """Wait between two looks when there was nothing to do."""
    bytes_per_second_max: float | None = None
    """Read and written together; None is as fast as it goes."""
    limits: CleanLimits = _KAFKA_LIMITS


def compaction_config(value_of: Callable[[str], str | None]) -> CompactionConfig:
    """Typed settings out of the values in force; *value_of* gives them by name, as checked text."""

    def parsed(name: str) -> ConfigValue:
        key = BROKER_CONFIGS[name]
        text = value_of(name)
        return key.parse(text if text is not None else key.default or "")

    bytes_per_second = _number(parsed("log.cleaner.io.max.bytes.per.second"))
    return CompactionConfig(
        is_enabled=bool(parsed("log.cleaner.enable")),
        backoff_ms=int(_number(parsed("log.cleaner.backoff.ms"))),
        bytes_per_second_max=(
            None if bytes_per_second >= _UNBOUND_BYTES_PER_SECOND else bytes_per_second
        ),
        limits=CleanLimits(
            map_bytes_max=int(_number(parsed("log.cleaner.dedupe.buffer.size"))),
            io_buffer_bytes=int(_number(parsed("log.cleaner.io.buffer.size"))),
        ),
    )


def _number(value: ConfigValue) -> float:
    assert isinstance(value, int | float)
    return value
