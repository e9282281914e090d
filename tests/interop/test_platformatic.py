"""The contract with platformatic (a client that speaks only high versions)."""

import pytest

from .contract import ClientContract
from .contract_transactions import CopyContract

pytestmark = pytest.mark.node


class TestPlatformatic(ClientContract, CopyContract):
    client_name = "platformatic"
