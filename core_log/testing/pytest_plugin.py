"""Fixtures for test suites that want a real broker: a process of its own, on loopback.

Name the module in the ``conftest.py`` at the root of a suite, or in a test module::

    pytest_plugins = ["headwater.core_log.testing.pytest_plugin"]


    def test_produce(headwater_broker):
        producer = Producer({"bootstrap.servers": headwater_broker.bootstrap})

Each test gets a broker with an empty data directory of its own, stopped when the test ends. To
change its settings, define ``headwater_broker_settings`` beside the tests: a dictionary of broker
configurations by Kafka's names.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from .process import BrokerProcess

__all__ = ["headwater_broker", "headwater_broker_settings"]


@pytest.fixture
def headwater_broker_settings() -> Mapping[str, str]:
    """Broker configurations by Kafka's names; override it to change them."""
    return {"group.initial.rebalance.delay.ms": "0"}


@pytest.fixture
def headwater_broker(
    tmp_path: Path, headwater_broker_settings: Mapping[str, str]
) -> Iterator[BrokerProcess]:
    """A running broker; its ``bootstrap`` is what clients take."""
    with BrokerProcess(tmp_path / "headwater", settings=headwater_broker_settings) as broker:
        yield broker
