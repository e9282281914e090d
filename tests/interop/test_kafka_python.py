"""The contract with kafka-python."""

from .contract import ClientContract


class TestKafkaPython(ClientContract):
    client_name = "kafka-python"
