"""The topics in what consumers tell each other."""

import pytest

from headwater.core_log.groups.subscriptions import subscribed_topics
from headwater.core_log.protocol.codec import encode
from headwater.core_log.protocol.coordinator.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
)


def blob(version: int, *topics: str) -> bytes:
    body = ConsumerProtocolSubscription(topics=list(topics), user_data=b"data")
    return version.to_bytes(2) + encode(body, version)


@pytest.mark.parametrize("version", range(4))
def test_topics_of_all_members_in_every_version(version: int) -> None:
    """Versions to come add fields behind; those are not read."""
    blobs = [blob(version, "t", "u"), blob(0, "v"), blob(version) + b"more"]
    assert subscribed_topics(blobs) == frozenset("tuv")
    assert subscribed_topics([]) == frozenset()


@pytest.mark.parametrize("broken", [b"", b"\0", b"range", blob(1, "t")[:-9]])
def test_one_that_cannot_be_read_hides_all(broken: bytes) -> None:
    """Half the truth would let offsets expire that somebody needs."""
    assert subscribed_topics([blob(1, "t"), broken]) is None
