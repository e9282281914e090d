"""Records in the logs of coordinators and of the quorum, and what clients put into groups.

Three framings of two bytes, all big-endian, stand before these messages:

- a key of ``__consumer_offsets``, ``__transaction_state`` or ``__share_group_state`` begins with
  its record type, ``[2 type][fields in version 0]``;
- a value there, and an end-transaction marker, begins with its version, ``[2 version][fields]``;
- a consumer's subscription or assignment inside a classic group begins with its version too, but a
  reader takes a version it does not know for the newest it knows and leaves what is behind.

The other control records of the quorum carry their version as a field and have no frame.
"""

import struct
from functools import cache
from importlib import import_module
from typing import Final, TypeVar

from ...kernel.ports import Buffer
from ..codec import decode, decode_prefix, encode
from ..errors import DecodeError
from ..schema import Message

M = TypeVar("M", bound=Message)

_PREFIX: Final = struct.Struct(">h")

GROUP_RECORDS: Final = {
    0: "legacy_offset_commit",
    1: "offset_commit",
    2: "group_metadata",
    3: "consumer_group_metadata",
    4: "consumer_group_partition_metadata",
    5: "consumer_group_member_metadata",
    6: "consumer_group_target_assignment_metadata",
    7: "consumer_group_target_assignment_member",
    8: "consumer_group_current_member_assignment",
    10: "share_group_member_metadata",
    11: "share_group_metadata",
    12: "share_group_target_assignment_metadata",
    13: "share_group_target_assignment_member",
    14: "share_group_current_member_assignment",
    15: "share_group_state_partition_metadata",
    16: "consumer_group_regular_expression",
    17: "streams_group_metadata",
    19: "streams_group_member_metadata",
    20: "streams_group_target_assignment_metadata",
    21: "streams_group_target_assignment_member",
    22: "streams_group_current_member_assignment",
    23: "streams_group_topology",
}
"""Module of key and value by record type, in ``__consumer_offsets``."""

TRANSACTION_RECORDS: Final = {0: "transaction_log"}
"""The same for ``__transaction_state``."""

SHARE_RECORDS: Final = {0: "share_snapshot", 1: "share_update"}
"""The same for ``__share_group_state``."""


def encode_key(key: Message) -> bytes:
    """A coordinator record's key behind its type. Raises EncodeError."""
    return _PREFIX.pack(key.API_KEY) + encode(key, 0)


def decode_group_key(data: Buffer) -> Message | None:
    """The key of a record in ``__consumer_offsets``; None for a type nobody here knows.

    A newer Kafka may have written such a record: its owner leaves it alone. Raises DecodeError for
    a key of a known type that is not well formed.
    """
    key_type = _prefix(data, "key in __consumer_offsets")
    if key_type not in GROUP_RECORDS:
        return None
    return decode(_class(GROUP_RECORDS[key_type], "Key"), 0, data, offset=_PREFIX.size)


def decode_transaction_key(data: Buffer) -> Message | None:
    """The same for a record in ``__transaction_state``."""
    key_type = _prefix(data, "key in __transaction_state")
    if key_type not in TRANSACTION_RECORDS:
        return None
    return decode(_class(TRANSACTION_RECORDS[key_type], "Key"), 0, data, offset=_PREFIX.size)


def group_value_class(key_type: int) -> type[Message]:
    """The class of the values beside keys of a type. Raises KeyError for an unknown one."""
    return _class(GROUP_RECORDS[key_type], "Value")


def encode_versioned(message: Message, version: int) -> bytes:
    """A message behind its version. Raises EncodeError."""
    return _PREFIX.pack(version) + encode(message, version)


def decode_versioned(cls: type[M], data: Buffer) -> M:
    """The message behind its version, which must be known. Raises DecodeError."""
    return decode(cls, _prefix(data, cls.__name__), data, offset=_PREFIX.size)


def decode_consumer_protocol(cls: type[M], data: Buffer) -> M:
    """A consumer's subscription or assignment, as far as this version knows it.

    Raises DecodeError. Other clients and other protocol types put their own bytes in this place: a
    broker that cannot read them takes no harm.
    """
    version = min(_prefix(data, cls.__name__), cls.VERSIONS.last)
    return decode_prefix(cls, version, data, _PREFIX.size)[0]


def _prefix(data: Buffer, what: str) -> int:
    if len(data) < _PREFIX.size:
        raise DecodeError(what, "ends early")
    number: int = _PREFIX.unpack_from(data)[0]
    return number


@cache
def _class(module: str, suffix: str) -> type[Message]:
    name = "".join(word.capitalize() for word in module.split("_")) + suffix
    found: type[Message] = getattr(import_module(f".{module}", __name__), name)
    return found
