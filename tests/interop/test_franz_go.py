"""The contract with franz-go."""

import pytest

from .contract import ClientContract

pytestmark = pytest.mark.go


class TestFranzGo(ClientContract):
    client_name = "franz-go"
