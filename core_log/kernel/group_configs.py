"""Configurations of a consumer group (KIP-848) and of a client metrics subscription (KIP-714).

Share and streams group configurations are not listed: those groups do not exist here.
"""

from collections.abc import Mapping
from typing import Final

from .config_keys import ANYTHING, Check, ConfigInvalid, ConfigKey, ConfigType, Range, table


def _key(
    name: str, type_: ConfigType, default: str | int, doc: str, *, check: Check = ANYTHING
) -> ConfigKey:
    return ConfigKey(name=name, type=type_, default=str(default), doc=doc, check=check)


GROUP_CONFIGS: Final[Mapping[str, ConfigKey]] = table(
    [
        _key(
            "consumer.assignment.interval.ms",
            ConfigType.INT,
            1000,
            "Shortest time between two assignments of a group.",
            check=Range(0),
        ),
        _key(
            "consumer.heartbeat.interval.ms",
            ConfigType.INT,
            5000,
            "Time between two heartbeats of a member.",
            check=Range(1),
        ),
        _key(
            "consumer.session.timeout.ms",
            ConfigType.INT,
            45_000,
            "Silence after which a member is taken for gone.",
            check=Range(1),
        ),
    ]
)

CLIENT_METRICS_CONFIGS: Final[Mapping[str, ConfigKey]] = table(
    [
        _key("interval.ms", ConfigType.INT, 300_000, "Time between two pushes of a client."),
        _key("match", ConfigType.LIST, "", "Which clients push, as attribute=pattern."),
        _key("metrics", ConfigType.LIST, "", "Prefixes of the metrics that clients push."),
    ]
)

_GROUP_BOUNDS: Final[Mapping[str, tuple[int, int]]] = {
    # Kafka's defaults of group.consumer.{min,max}.*.
    "consumer.assignment.interval.ms": (0, 15_000),
    "consumer.heartbeat.interval.ms": (5000, 15_000),
    "consumer.session.timeout.ms": (45_000, 60_000),
}
_CLIENT_METRICS_INTERVAL_MS: Final = (100, 3_600_000)


def check_group_configs(overrides: Mapping[str, str]) -> None:
    """Raises ConfigInvalid for an unknown name or a bad value."""
    for name, text in overrides.items():
        key = GROUP_CONFIGS.get(name)
        if key is None:
            raise ConfigInvalid(f"Unknown group config name: {name}")
        value = key.parse(text)
        assert isinstance(value, int)
        low, high = _GROUP_BOUNDS[name]
        subject = name.removeprefix("consumer.")
        if value < low:
            raise ConfigInvalid(
                f"{name} must be greater than or equal to group.consumer.min.{subject}"
            )
        if value > high:
            raise ConfigInvalid(
                f"{name} must be less than or equal to group.consumer.max.{subject}"
            )


def check_client_metrics_configs(overrides: Mapping[str, str]) -> None:
    """Raises ConfigInvalid for an unknown name or a bad value."""
    for name, text in overrides.items():
        key = CLIENT_METRICS_CONFIGS.get(name)
        if key is None:
            raise ConfigInvalid(f"Unknown client metrics configuration: {name}")
        value = key.parse(text)
        low, high = _CLIENT_METRICS_INTERVAL_MS
        if isinstance(value, int) and not low <= value <= high:
            raise ConfigInvalid(
                f"Invalid value {value} for {name}, interval must be between {low} and "
                f"{high} (1 hour)"
            )
