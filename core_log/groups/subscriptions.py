"""The one thing the broker reads in what consumers tell each other: their topics."""

from collections.abc import Iterable
from typing import Final

from ..protocol.codec import decode_prefix
from ..protocol.coordinator.consumer_protocol_subscription import ConsumerProtocolSubscription
from ..protocol.errors import DecodeError

_VERSION_BYTES: Final = 2


def subscribed_topics(metadata: Iterable[bytes]) -> frozenset[str] | None:
    """Every topic in these subscriptions, None when one of them cannot be read.

    Topics and user data stand first in every version, so version 0 of the layout reads them all.
    """
    topics: set[str] = set()
    try:
        for blob in metadata:
            if len(blob) < _VERSION_BYTES:
                return None
            subscription, _ = decode_prefix(ConsumerProtocolSubscription, 0, blob, _VERSION_BYTES)
            topics.update(subscription.topics)
    except DecodeError:
        return None  # a client of another kind calls itself a consumer; it may, as in Kafka
    return frozenset(topics)
