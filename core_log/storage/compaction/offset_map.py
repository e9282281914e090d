"""Which offset is each key's last: an open-addressing hash table that takes many keys at once.

Pure. 24 bytes a slot, as in Kafka: the two halves of the key's hash and the offset. A slot is
looked for by double hashing: from ``first half mod slots`` in steps of ``1 + second half mod
(slots - 1)``; the number of slots is prime, so that every step visits all of them. The keys of a
call probe in lockstep; those that have found their slot drop out.

The table starts small and doubles, so a cleaning with few keys takes little memory; while it grows
to its last size it holds a third as much again for a moment.
"""

from typing import Final, final

import numpy as np

from ...records.varints import Ints
from .keys import Words

SLOT_BYTES: Final = 24
SLOTS_MIN: Final = 61
"""Of whatever is configured; a batch with more keys than fit raises it, see ``reserve``."""

_SLOTS_FIRST: Final = 4093

_LOAD_MAX: Final = 0.9
"""Of the largest table, as ``log.cleaner.io.buffer.load.factor``; ten probes for a new key."""
_LOAD_GROWING: Final = 0.6
_NONE: Final = -1
_PORTION: Final = 2**15
"""Entries that move at once when the table grows."""


@final
class OffsetMap:
    """Keys and offsets. Invariant: ``count <= capacity``, so a free slot always ends a search."""

    def __init__(self, *, bytes_max: int) -> None:
        """A table of at most *bytes_max*, though never less than SLOTS_MIN slots."""
        self._slots_max = _prime_at_most(max(bytes_max // SLOT_BYTES, SLOTS_MIN))
        self.capacity = int(self._slots_max * _LOAD_MAX)
        """Keys that fit at most."""
        self.count = 0
        self._allocate(min(_SLOTS_FIRST, self._slots_max))

    @property
    def size_bytes(self) -> int:
        return len(self._offsets) * SLOT_BYTES

    def put(self, first: Words, second: Words, offsets: Ints) -> None:
        """Remember for each key its offset; of one key several times the last.

        There must be room: ``count + len(offsets) <= capacity``, or all the keys are known.
        """
        while self._must_grow(len(offsets)):
            self._grow()
        self._insert(first, second, offsets)

    def fits(self, count: int) -> bool:
        """Whether *count* more keys have room, though all of them were new."""
        return self.count + count <= self.capacity

    def reserve(self, count: int) -> None:
        """Have room for *count* keys at least, whatever the bound; the map is still empty."""
        if count > self.capacity:
            self._slots_max = _prime_at_most(2 * count + SLOTS_MIN)
            self.capacity = count

    def contains(self, first: Words, second: Words) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which of the keys are in the map."""
        found = np.zeros(len(first), np.bool_)
        going = np.arange(len(first))
        slots, steps = self._probes(first, second)
        while len(going):
            is_taken = self._offsets[slots] != _NONE
            is_same = self._firsts[slots] == first[going]
            is_same &= self._seconds[slots] == second[going]
            is_same &= is_taken
            found[going[is_same]] = True
            on = is_taken & ~is_same
            going, steps = going[on], steps[on]
            slots = self._next(slots[on], steps)
        return found

    def sorted_offsets(self) -> Ints:
        """The offsets of all keys, rising."""
        return np.sort(self._offsets[self._offsets != _NONE])

    def _insert(self, first: Words, second: Words, offsets: Ints) -> None:
        going = np.arange(len(first))
        slots, steps = self._probes(first, second)
        while len(going):
            firsts, seconds = first[going], second[going]
            free = np.flatnonzero(self._offsets[slots] == _NONE)
            if len(free):
                # Of several keys that want one slot, the last one written has it. Both halves are
                # written in the same order, so they are one key's; the look below finds out whose.
                at = slots[free]
                self._firsts[at] = firsts[free]
                self._seconds[at] = seconds[free]
                self._offsets[at] = 0
            is_here = self._firsts[slots] == firsts
            is_here &= self._seconds[slots] == seconds
            here = np.flatnonzero(is_here)
            self._offsets[slots[here]] = offsets[going[here]]  # of one slot's the last again
            if len(free):
                self.count += len(np.unique(slots[free]))
            on = ~is_here
            going, steps = going[on], steps[on]
            slots = self._next(slots[on], steps)

    def _probes(self, first: Words, second: Words) -> tuple[Ints, Ints]:
        count = len(self._offsets)
        slots = (first % np.uint64(count)).astype(np.int64)
        steps = (second % np.uint64(count - 1)).astype(np.int64) + 1
        return slots, steps

    def _next(self, slots: Ints, steps: Ints) -> Ints:
        slots = slots + steps
        slots[slots >= len(self._offsets)] -= len(self._offsets)
        return slots

    def _must_grow(self, count: int) -> bool:
        slots = len(self._offsets)
        return slots < self._slots_max and self.count + count > slots * _LOAD_GROWING

    def _grow(self) -> None:
        is_taken = self._offsets != _NONE
        entries = self._firsts[is_taken], self._seconds[is_taken], self._offsets[is_taken]
        slots = min(2 * len(self._offsets), self._slots_max)
        self._allocate(slots if slots == self._slots_max else _prime_at_most(slots))
        self.count = 0
        for start in range(0, len(entries[0]), _PORTION):
            self._insert(*(column[start : start + _PORTION] for column in entries))

    def _allocate(self, slots: int) -> None:
        # The old ones are given back first.
        self._firsts: Words = np.empty(0, np.uint64)
        self._seconds: Words = np.empty(0, np.uint64)
        self._offsets: Ints = np.empty(0, np.int64)
        self._firsts = np.zeros(slots, np.uint64)
        self._seconds = np.zeros(slots, np.uint64)
        self._offsets = np.full(slots, _NONE, np.int64)


def _prime_at_most(number: int) -> int:
    while any(number % divisor == 0 for divisor in range(2, int(number**0.5) + 1)):
        number -= 1
    return number
