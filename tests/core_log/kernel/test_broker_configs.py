"""The broker configurations that are listed."""

import pytest

from headwater.core_log.kernel.broker_configs import (
    BROKER_CONFIGS,
    TOPIC_DEFAULT_NAMES,
    check_static_configs,
)
from headwater.core_log.kernel.config_keys import ConfigInvalid, Dynamic
from headwater.core_log.kernel.topic_configs import TOPIC_CONFIGS


def test_every_name_that_stands_in_for_a_topic_configuration_is_listed() -> None:
    """A default that nobody can look up would be a riddle."""
    for key in TOPIC_CONFIGS.values():
        for broker_name in key.broker_names:
            assert broker_name.name in BROKER_CONFIGS
            assert broker_name.name in TOPIC_DEFAULT_NAMES


def test_the_defaults_agree_whatever_the_unit() -> None:
    """168 hours are the milliseconds of the topic's default."""
    for key in TOPIC_CONFIGS.values():
        if not key.broker_names or key.default is None:
            continue
        found = next(
            (name, default)
            for name in key.broker_names
            if (default := BROKER_CONFIGS[name.name].default) is not None
        )
        name, default = found
        expected = default if name.factor == 1 else str(int(default) * name.factor)
        assert expected == key.default, key.name


def test_fallbacks_are_listed_too() -> None:
    """A chain of names ends inside the table."""
    for key in BROKER_CONFIGS.values():
        assert set(key.fallbacks) <= BROKER_CONFIGS.keys()
        assert key.doc.endswith(".")


@pytest.mark.parametrize(
    ("name", "dynamic"),
    [
        ("num.partitions", Dynamic.READ_ONLY),
        ("log.retention.ms", Dynamic.CLUSTER_WIDE),
        ("log.retention.hours", Dynamic.READ_ONLY),
        ("listeners", Dynamic.PER_BROKER),
    ],
)
def test_what_can_change_while_the_broker_runs(name: str, dynamic: Dynamic) -> None:
    """As in Kafka."""
    assert BROKER_CONFIGS[name].dynamic is dynamic


def test_a_broker_does_not_start_with_a_bad_value() -> None:
    """Names of other software's are its own affair."""
    check_static_configs({"log.retention.hours": "24", "plugin.own": "x"})
    with pytest.raises(ConfigInvalid, match=r"log\.retention\.hours: Not a number"):
        check_static_configs({"log.retention.hours": "a day"})
