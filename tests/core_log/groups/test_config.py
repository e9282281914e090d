"""Settings that contradict themselves never reach a shard."""

import re

import pytest

from headwater.core_log.groups.config import GroupConfig


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"offsets_retention_ms": -1}, "offsets_retention_ms must not be negative, got -1"),
        (
            {"session_timeout_ms_min": 7, "session_timeout_ms_max": 6},
            "session_timeout_ms_min (7) must not be above session_timeout_ms_max (6)",
        ),
        ({"group_size_max": 0}, "group_size_max must be at least 1, got 0"),
    ],
)
def test_the_error_names_the_setting(settings: dict[str, int], message: str) -> None:
    """And what it was."""
    with pytest.raises(ValueError, match=re.escape(message)):
        GroupConfig(**settings)


def test_the_defaults_are_those_of_kafka() -> None:
    """Version 4.3."""
    config = GroupConfig()
    assert config.session_timeout_ms_min == 6_000
    assert config.session_timeout_ms_max == 1_800_000
    assert config.initial_rebalance_delay_ms == 3_000
    assert config.offsets_retention_ms == 7 * 24 * 3_600_000
    assert config.offset_metadata_chars_max == 4_096
