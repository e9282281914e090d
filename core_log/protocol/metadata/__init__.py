"""The records of the metadata log, one module per type, and their frame.

A value of the metadata log is framed as KRaft does (KIP-631), each number an unsigned varint::

    [frame version = 1][record type][record version][fields]

Records of a type or version that Kafka 4.3 does not know are refused: to pass over one would be to
forget a piece of the cluster's state.
"""

from functools import cache
from importlib import import_module
from typing import Final

from ...kernel.ports import Buffer
from ..codec import decode, encode
from ..errors import DecodeError
from ..primitives import WireProblem, read_uvarint, write_uvarint
from ..schema import Message

FRAME_VERSION: Final = 1

RECORD_NAMES: Final = {
    0: "RegisterBrokerRecord",
    1: "UnregisterBrokerRecord",
    2: "TopicRecord",
    3: "PartitionRecord",
    4: "ConfigRecord",
    5: "PartitionChangeRecord",
    7: "FenceBrokerRecord",
    8: "UnfenceBrokerRecord",
    9: "RemoveTopicRecord",
    10: "DelegationTokenRecord",
    11: "UserScramCredentialRecord",
    12: "FeatureLevelRecord",
    14: "ClientQuotaRecord",
    15: "ProducerIdsRecord",
    17: "BrokerRegistrationChangeRecord",
    18: "AccessControlEntryRecord",
    19: "RemoveAccessControlEntryRecord",
    20: "NoOpRecord",
    21: "ZkMigrationStateRecord",
    22: "RemoveUserScramCredentialRecord",
    23: "BeginTransactionRecord",
    24: "EndTransactionRecord",
    25: "AbortTransactionRecord",
    26: "RemoveDelegationTokenRecord",
    27: "RegisterControllerRecord",
    28: "ClearElrRecord",
}
"""Class name by record type."""


def encode_metadata_record(record: Message, version: int | None = None) -> bytes:
    """The framed record, in the newest version unless another is given. Raises EncodeError."""
    chosen = record.VERSIONS.last if version is None else version
    frame = write_uvarint(FRAME_VERSION) + write_uvarint(record.API_KEY) + write_uvarint(chosen)
    return frame + encode(record, chosen)


def decode_metadata_record(data: Buffer) -> Message:
    """The record in a value of the metadata log. Raises DecodeError."""
    try:
        frame_version, offset = read_uvarint(data, 0)
        key, offset = read_uvarint(data, offset)
        version, offset = read_uvarint(data, offset)
    except (IndexError, WireProblem) as error:
        raise DecodeError("metadata record", "ends inside its frame") from error
    if frame_version != FRAME_VERSION:
        raise DecodeError("metadata record", f"has the frame version {frame_version}, not 1")
    if key not in RECORD_NAMES:
        raise DecodeError("metadata record", f"has the type {key}, which nobody here knows")
    return decode(record_class(key), version, data, offset=offset)


@cache
def record_class(key: int) -> type[Message]:
    """The class of a record type. Raises KeyError for a type that is not in RECORD_NAMES."""
    name = RECORD_NAMES[key]
    found: type[Message] = getattr(import_module(f".{_snake(name)}", __name__), name)
    return found


def _snake(name: str) -> str:
    """``TopicRecord`` to ``topic_record``."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)[1:]
