"""Configurations of groups and of metrics subscriptions."""

import pytest

from headwater.core_log.kernel.config_keys import ConfigInvalid
from headwater.core_log.kernel.group_configs import (
    CLIENT_METRICS_CONFIGS,
    GROUP_CONFIGS,
    check_client_metrics_configs,
    check_group_configs,
)


@pytest.mark.parametrize("timeout_ms", [45_000, 60_000])
def test_a_groups_session_timeout_within_bounds_passes(timeout_ms: int) -> None:
    """Both ends included."""
    check_group_configs({"consumer.session.timeout.ms": str(timeout_ms)})


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("consumer.session.timeout.ms", "44999", "greater than or equal to group.consumer.min"),
        ("consumer.session.timeout.ms", "60001", "less than or equal to group.consumer.max"),
        ("consumer.session.timeout.ms", "0", "Value must be at least 1"),
        ("consumer.heartbeat.interval.ms", "x", "Not a number of type INT"),
        ("other", "1", "Unknown group config name: other"),
    ],
)
def test_a_groups_configuration_is_refused(name: str, value: str, reason: str) -> None:
    """Bounds are those of Kafka's broker defaults."""
    with pytest.raises(ConfigInvalid, match=reason):
        check_group_configs({name: value})


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("interval.ms", "99", "interval must be between 100 and 3600000"),
        ("interval.ms", "3600001", "interval must be between 100 and 3600000"),
        ("other", "1", "Unknown client metrics configuration: other"),
    ],
)
def test_a_subscriptions_configuration_is_refused(name: str, value: str, reason: str) -> None:
    """Too often would flood, too seldom would tell nothing."""
    with pytest.raises(ConfigInvalid, match=reason):
        check_client_metrics_configs({name: value})


def test_a_subscription_within_bounds_passes() -> None:
    """Both ends included, lists as they come."""
    check_client_metrics_configs({"interval.ms": "100", "metrics": "a,b"})
    check_client_metrics_configs({"interval.ms": "3600000", "match": "client_id=x"})


def test_defaults_are_allowed_values() -> None:
    """What holds when nothing is set could also be set."""
    check_group_configs({name: key.default or "" for name, key in GROUP_CONFIGS.items()})
    check_client_metrics_configs(
        {name: key.default or "" for name, key in CLIENT_METRICS_CONFIGS.items()}
    )
