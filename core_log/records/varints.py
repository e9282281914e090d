"""Many varints at once, for ``columns``. Pure.

Zigzag, least significant seven bits first, as in ``record``. Nearly all of them have one or two
bytes: a table of all pairs of bytes gives value and size by one look.
"""

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]
Ints: TypeAlias = NDArray[np.int64]

BEYOND: Final = 1 << 40
"""The size of a varint that does not end: past every record, so that checks of bounds catch it."""

_VARINT_BYTES_MAX: Final = 10  # ceil(64 bits / 7)


def read_varints(data: Bytes, at: Ints) -> tuple[Ints, Ints]:
    """Value and size in bytes of the varint at each position; one that does not end is BEYOND.

    Positions are >= 0. Those past the data are read at its end: whoever asks compares with the
    bounds afterwards.
    """
    if not len(at):
        return at, at
    pair = overlapping_pairs(data)[np.minimum(at, len(data) - 2)]
    if at.max() > len(data) - 2:
        # The last byte has none behind it: as if one came that does not end.
        pair[at > len(data) - 2] = data[-1] | np.uint16(0xFF00)
    values, sizes = (
        SHORT_VALUES.take(pair).astype(np.int64),
        SHORT_SIZES.take(pair).astype(np.int64),
    )
    if not sizes.all():
        rare = np.flatnonzero(sizes == 0)
        values[rare], sizes[rare] = _long_varints(data, at[rare])
    return values, sizes


def overlapping_pairs(data: Bytes) -> NDArray[np.uint16]:
    """The two bytes at each position but the last, as a number."""
    return np.ndarray((max(len(data) - 1, 0),), "<u2", data, strides=(1,))


def _long_varints(data: Bytes, at: Ints) -> tuple[Ints, Ints]:
    values = np.zeros(len(at), np.uint64)
    sizes = np.full(len(at), BEYOND, np.int64)
    going = np.arange(len(at))
    for index in range(_VARINT_BYTES_MAX):
        byte = data.take(at[going] + index, mode="clip").astype(np.uint64)
        values[going] |= (byte & np.uint64(0x7F)) << np.uint64(7 * index)
        is_last = byte < 0x80
        sizes[going[is_last]] = index + 1
        going = going[~is_last]
        if not len(going):
            break
    sign = (values & np.uint64(1)).astype(np.int64)
    return (values >> np.uint64(1)).astype(np.int64) ^ -sign, sizes


def _short_varints() -> tuple[NDArray[np.int16], NDArray[np.uint8]]:
    """What two bytes, taken as a little-endian number, begin with: a varint's value and size.

    Size 0: the varint is longer.
    """
    pairs = np.arange(2**16)
    low, high = pairs & 0xFF, pairs >> 8
    is_one, is_two = low < 0x80, (low >= 0x80) & (high < 0x80)
    zigzag = np.where(is_one, low, low & 0x7F | high << 7)
    values = np.where(is_one | is_two, (zigzag >> 1) ^ -(zigzag & 1), 0)
    return values.astype(np.int16), (is_one + 2 * is_two).astype(np.uint8)


SHORT_VALUES, SHORT_SIZES = _short_varints()
