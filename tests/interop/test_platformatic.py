"""The contract with platformatic (a client that speaks only high versions)."""

import pytest

from .contract import ClientContract

pytestmark = pytest.mark.node


class TestPlatformatic(ClientContract):
    client_name = "platformatic"
