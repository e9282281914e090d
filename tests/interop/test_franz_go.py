"""The contract with franz-go."""

import pytest

from .client import Client
from .contract import ClientContract
from .data import records

pytestmark = pytest.mark.go


class TestFranzGo(ClientContract):
    client_name = "franz-go"

    def test_a_session_copies_exactly_once(self, client: Client, topic: str, group: str) -> None:
        """Consumer and producer in one, as this client sends positions; it aborts half the time."""
        client.create_topic(topic)
        client.create_topic(f"{topic}-copy")
        source = records("source", 40, partition=0)
        client.produce(topic, source)
        copied = client.call(
            "copy",
            transactional_id=f"id-{topic}",
            group=group,
            topic=topic,
            target=f"{topic}-copy",
            count=40,
        )
        assert copied == 40
        read = client.fetch(f"{topic}-copy", count=41, timeout_ms=2_000, isolation="read_committed")
        assert [each.value for each in read] == [b"copy of " + (e.value or b"") for e in source]
        assert client.committed(group, topic) == 40
