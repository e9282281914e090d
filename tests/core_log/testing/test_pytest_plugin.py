"""The fixture gives each test a broker of its own that answers."""

from collections.abc import Mapping

import pytest

from headwater.core_log.testing.process import HOST, BrokerProcess, answers_metadata

pytest_plugins = ["headwater.core_log.testing.pytest_plugin"]


@pytest.fixture
def headwater_broker_settings() -> Mapping[str, str]:
    return {"num.partitions": "3"}


@pytest.mark.slow
def test_the_fixture_starts_a_broker_with_the_settings_of_its_tests(
    headwater_broker: BrokerProcess,
) -> None:
    assert headwater_broker.is_running
    assert answers_metadata(HOST, headwater_broker.port)
    assert headwater_broker.settings == {"num.partitions": "3"}
    assert headwater_broker.data_directory.is_dir()
