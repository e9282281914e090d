"""Types for the numbers and names that must not be mixed.

A topic id is the sixteen raw bytes of a Kafka UUID: it is a dictionary key on the fetch path,
and bytes hash an order of magnitude faster than ``uuid.UUID``. Its text form, in files and on
screens, is Kafka's: URL-safe base64 without padding.
"""

import base64
import binascii
from typing import Final, NewType

TopicName = NewType("TopicName", str)
TopicId = NewType("TopicId", bytes)
PartitionIndex = NewType("PartitionIndex", int)
Offset = NewType("Offset", int)
LeaderEpoch = NewType("LeaderEpoch", int)
ProducerId = NewType("ProducerId", int)
ProducerEpoch = NewType("ProducerEpoch", int)
NodeId = NewType("NodeId", int)

ID_BYTES: Final = 16
NO_TOPIC_ID: Final = TopicId(bytes(ID_BYTES))
NO_OFFSET: Final = Offset(-1)
NO_LEADER_EPOCH: Final = LeaderEpoch(-1)
NO_PRODUCER_ID: Final = ProducerId(-1)
NO_PRODUCER_EPOCH: Final = ProducerEpoch(-1)
NO_SEQUENCE: Final = -1
NO_TIMESTAMP: Final = -1


def id_text(identity: bytes) -> str:
    """Kafka's text form of a 16-byte id: 22 characters of URL-safe base64."""
    return base64.urlsafe_b64encode(identity).rstrip(b"=").decode("ascii")


def parse_id(text: str) -> bytes:
    """The 16 bytes behind Kafka's text form. Raises ValueError when *text* is not one."""
    try:
        identity = base64.urlsafe_b64decode(text + "==")
    except (binascii.Error, ValueError) as error:
        raise ValueError(
            f"{text!r} is not a Kafka id: expected 22 URL-safe base64 characters"
        ) from error
    if len(identity) != ID_BYTES:
        raise ValueError(
            f"{text!r} is not a Kafka id: it holds {len(identity)} bytes, not {ID_BYTES}"
        )
    return identity
