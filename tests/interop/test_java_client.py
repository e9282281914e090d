"""The contract with java (Apache's own client, every newest version of every API)."""

import pytest

from .contract import ClientContract

pytestmark = pytest.mark.jvm


class TestJavaClient(ClientContract):
    client_name = "java"
