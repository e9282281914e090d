"""Keys as 128 bits, many at once, by a hash that no client can foresee.

Pure. The map of a cleaning keeps hashes, not keys, and takes two keys of one hash for one: the
older record would be lost. So the hash is one with a proof, *multilinear hashing* (Lemire and
Kaser, "Strongly universal string hashing is fast", 2014): a key as 32-bit words s1, s2, … with
random 64-bit numbers a0, a1, … gives ::

    (a0 + a1 * s1 + a2 * s2 + …) mod 2^64, of which the upper 32 bits

and two different keys agree in them with probability 2^-32, whoever chose the keys, as long as the
numbers were drawn afterwards. Four independent ones make 128 bits. The length is the first word,
so that zeros at the end count. A cleaning of a thousand million keys then takes two for one
with a probability of 2^-128 * 10^18 / 2, which is below 10^-20; disks err more often.

The numbers come from the job's secret by SHAKE-256, as many as the longest key asks for.
"""

import hashlib
from typing import Final, TypeAlias, final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from ...records.varints import Bytes, Ints

Words: TypeAlias = NDArray[np.uint64]

BLOCK_BYTES: Final = 32
"""Of every key so much is taken in the first step; steps double from the third on."""

_LANES: Final = 4
_LOW: Final = np.uint64(0xFFFF_FFFF)
_HALF: Final = np.uint64(32)
"""Bits of a lane that count: the upper ones."""


@final
class KeyHasher:
    """The hash of one cleaning, drawn from its secret."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._factors = self._draw(2 + BLOCK_BYTES // 4)  # a0, the length's, then the words'

    def hash(self, data: Bytes, starts: Ints, lengths: Ints) -> tuple[Words, Words]:
        """128 bits for each of the keys [start, start + length) of *data*, in two halves.

        Lengths are >= 0 and no key leaves *data*.
        """
        first, of_length = self._factors[:, :1], self._factors[:, 1:2]
        sums = first + of_length * lengths.astype(np.uint64)
        done, width = 0, BLOCK_BYTES
        going: Ints | slice = slice(None)
        longest = int(lengths.max()) if len(lengths) else 0
        while done < longest:
            words = _words(data, starts[going] + done, lengths[going] - done, width)
            sums[:, going] += self._products(words, 2 + done // 4)
            done += width
            width = max(BLOCK_BYTES, done)
            going = np.flatnonzero(lengths > done)
        upper = sums >> _HALF
        return upper[0] << _HALF | upper[1], upper[2] << _HALF | upper[3]

    def _products(self, words: Words, first_factor: int) -> Words:
        """The sum of each key's words times their factors, in four lanes."""
        if first_factor + len(words) > self._factors.shape[1]:
            self._factors = self._draw(first_factor + len(words))
        sums = np.zeros((_LANES, words.shape[1]), np.uint64)
        product = np.empty(words.shape[1], np.uint64)
        for index, word in enumerate(words):
            for lane in range(_LANES):
                np.multiply(word, self._factors[lane, first_factor + index], out=product)
                sums[lane] += product
        return sums

    def _draw(self, count: int) -> Words:
        """At least *count* factors for each lane; more of them begin with the same ones."""
        drawn = hashlib.shake_256(self._secret).digest(count * _LANES * 8)
        return np.frombuffer(drawn, "<u8").reshape(count, _LANES).T.astype(np.uint64)


def _words(data: Bytes, at: Ints, left: Ints, width: int) -> Words:
    """*width* bytes from each position as columns of 32-bit words, zero where the key has ended."""
    rows = _rows(data, at, width).view("<u8")
    rows &= _MASKS[np.clip(left[:, np.newaxis] - np.arange(0, width, 8), 0, 8)]
    words = np.empty((width // 4, len(at)), np.uint64)
    np.bitwise_and(rows.T, _LOW, out=words[::2])
    np.right_shift(rows.T, _HALF, out=words[1::2])
    return words


def _rows(data: Bytes, at: Ints, width: int) -> Bytes:
    """*width* bytes from each position on; what would lie behind *data* is anything."""
    if len(data) < width:
        data = np.concatenate((data, np.zeros(width, np.uint8)))
    last = len(data) - width
    rows: Bytes = sliding_window_view(data, width)[np.minimum(at, last)]
    # At most a few keys reach into the last block of the data: no window begins there.
    for row in np.flatnonzero(at > last).tolist():
        tail = data[at[row] :]
        rows[row, : len(tail)] = tail
    return rows


_MASKS: Final[Words] = np.array([(1 << (8 * count)) - 1 for count in range(9)], np.uint64)
