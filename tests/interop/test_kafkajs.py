"""The contract with kafkajs."""

import pytest

from .contract import ClientContract

pytestmark = pytest.mark.node


class TestKafkaJs(ClientContract):
    client_name = "kafkajs"
