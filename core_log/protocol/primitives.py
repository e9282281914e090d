"""The pieces that compiled and hand-written codecs share: varints, tagged fields, integer arrays.

An unsigned varint is little-endian in groups of seven bits, the high bit saying that more follows
(KIP-482). Metadata records are framed with it too. Nearly all of them are one byte long, so callers
handle that byte themselves and come here for the rest.
"""

import struct
from collections.abc import Callable
from typing import Final

from ..kernel.ports import Buffer

VARINT_BYTES_MAX: Final = 5
"""A 32-bit number needs five groups of seven bits."""

STRING_BYTES_MAX: Final = 2**15 - 1
"""Kafka's limit in every version: what a two-byte length can say."""

VARINTS: Final = tuple(bytes((number,)) for number in range(128))
"""The varints of one byte, ready to be written."""

SMALL_ARRAY: Final = 8
"""Arrays of integers below this length are packed and unpacked by a prepared struct."""


class WireProblem(Exception):
    """What is wrong, without the place; codec knows the field from the line that raised."""


class TooManyElements(WireProblem):
    """The element budget is used up."""


def write_uvarint(number: int) -> bytes:
    """The varint of a number from 0 to 2**32 - 1."""
    if not 0 <= number < 2**32:
        raise WireProblem(f"holds {number}, which is not an unsigned 32-bit number")
    groups = bytearray()
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    groups.append(number)
    return bytes(groups)


def read_uvarint(data: Buffer, offset: int) -> tuple[int, int]:
    """The varint at *offset* and the offset behind it.

    Raises IndexError where the data ends, WireProblem for more than five bytes or 32 bits.
    """
    number = 0
    for group in range(VARINT_BYTES_MAX):
        byte = data[offset + group]
        number |= (byte & 127) << 7 * group
        if byte < 128:
            if number >= 2**32:
                break
            return number, offset + group + 1
    raise WireProblem("has a varint beyond 32 bits")


def skip_tags(data: Buffer, offset: int, count: int) -> int:
    """The offset behind *count* tagged fields that nobody here knows.

    Raises IndexError or WireProblem when they do not fit into the data.
    """
    for _ in range(count):
        _, offset = read_uvarint(data, offset)
        size, offset = read_uvarint(data, offset)
        offset += size
        if offset > len(data):
            raise WireProblem("ends early")
    return offset


def array_unpackers(code: str) -> tuple[Callable[[Buffer, int], tuple[int, ...]], ...]:
    """Unpackers for arrays of 0, 1, … below SMALL_ARRAY integers of a struct code."""
    return tuple(struct.Struct(f">{count}{code}").unpack_from for count in range(SMALL_ARRAY))


def array_packers(length_code: str, code: str) -> tuple[Callable[..., bytes], ...]:
    """Packers for a length and 0, 1, … below SMALL_ARRAY integers behind it."""
    return tuple(struct.Struct(f">{length_code}{count}{code}").pack for count in range(SMALL_ARRAY))
