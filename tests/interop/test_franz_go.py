"""The contract with franz-go."""

import pytest

from .contract import ClientContract
from .contract_transactions import CopyContract

pytestmark = pytest.mark.go


class TestFranzGo(ClientContract, CopyContract):
    client_name = "franz-go"
