"""The contract with aiokafka."""

from .contract import ClientContract


class TestAioKafka(ClientContract):
    client_name = "aiokafka"
