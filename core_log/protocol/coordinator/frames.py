"""The frame around a coordinator's keys and values: ``[2 type or version][body]``, big endian."""

from typing import Final, TypeVar

from ..codec import decode_prefix, encode
from ..errors import DecodeError
from ..schema import Message

_PREFIX_BYTES: Final = 2
_BATCH_HEADER_BYTES: Final = 61
_RECORD_BYTES_MAX: Final = 26
"""A record's frame at most: length 5, attributes 1, timestamp 10, offset 5, sizes 2 * 5, less the
five bytes that no batch of a megabyte needs."""

M = TypeVar("M", bound=Message)


class UnreadableRecordError(Exception):
    """A record that says it is a coordinator's and is not.

    ``topic`` is the coordinator's, ``key`` the record's key, ``reason`` what is wrong.
    """

    def __init__(self, topic: str, key: bytes, reason: str) -> None:
        super().__init__(topic, key, reason)
        self.topic: Final = topic
        self.key: Final = key
        self.reason: Final = reason

    def __str__(self) -> str:
        return (
            f"the record of {self.topic} with the key {self.key[:64].hex()} cannot be read: "
            f"{self.reason}; look at it with 'headwater log dump'"
        )


def with_prefix(prefix: int, message: Message, version: int) -> bytes:
    """*message* in that version, behind *prefix*."""
    return prefix.to_bytes(_PREFIX_BYTES) + encode(message, version)


def read_prefix(data: bytes) -> int:
    """The type of a key or the version of a value. Raises DecodeError when there is none."""
    if len(data) < _PREFIX_BYTES:
        raise DecodeError("the prefix", f"needs {_PREFIX_BYTES} bytes, there are {len(data)}")
    return int.from_bytes(data[:_PREFIX_BYTES])


def read_body(cls: type[M], version: int, data: bytes) -> M:
    """The message behind the prefix. Raises DecodeError, for an unknown version too."""
    if version not in cls.VERSIONS:
        raise DecodeError(cls.__name__, f"version {version} is not known, only {cls.VERSIONS}")
    message, end = decode_prefix(cls, version, data, _PREFIX_BYTES)
    if end != len(data):
        raise DecodeError(cls.__name__, f"ends {len(data) - end} bytes before its record")
    return message


def batch_bytes(records: list[tuple[bytes, bytes | None]]) -> int:
    """An upper bound of the size of a batch of these records without compression."""
    return _BATCH_HEADER_BYTES + sum(
        _RECORD_BYTES_MAX + len(key) + len(value or b"") for key, value in records
    )
