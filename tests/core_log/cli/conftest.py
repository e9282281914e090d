"""One broker for all tests of this package; each has topics and groups of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.core_log.testing.process import BrokerProcess

from .commands import Commands

SETTINGS = {"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "2"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Starting a process takes longer than a quarter of a second."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    with BrokerProcess(tmp_path_factory.mktemp("cli"), settings=SETTINGS) as running:
        yield running


@pytest.fixture(scope="session")
def headwater(broker: BrokerProcess) -> Commands:
    return Commands(broker.bootstrap)
