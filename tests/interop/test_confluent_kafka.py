"""The contract with confluent-kafka (librdkafka, newest)."""

from .contract import ClientContract


class TestConfluentKafka(ClientContract):
    client_name = "confluent-kafka"
