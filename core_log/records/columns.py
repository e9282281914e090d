"""Many batches at once as columns: where each record's key and value lie, its offset and time.

Pure. A record costs Python a microsecond when it is decoded alone; compaction and the makers of
tables read millions. Here record k of all batches is found in lockstep, then each field of all
records is decoded with a few operations of numpy, some 100 ns a record. Nothing is copied out:
columns hold positions in the bytes that were given, or in what compressed batches unpacked to.

Nothing that a batch claims is believed: no position leaves its record, no record its batch.
The formats are drawn in ``batch`` and ``record``. numpy comes with this module, so whoever must
start quickly imports it late.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .batch import TIMESTAMP_TYPE_FLAG, CorruptBatch
from .batch_columns import BatchColumns, Sections
from .record import RECORD_BYTES_MIN
from .varints import (
    BEYOND,
    SHORT_SIZES,
    SHORT_VALUES,
    Ints,
    overlapping_pairs,
    read_varints,
)

LANES_MIN: Final = 40
"""Fewer batches than this are walked one by one: a step of numpy costs 5 us for however many."""

_WRONG_END: Final = "its records do not end where it does"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordColumns:
    """Records in order; positions are bytes of the sections' ``data``.

    ``sections`` tells each record's section. A null key or value has length -1. Timestamps are
    milliseconds: the record's own, or its batch's with LogAppendTime. Headers are passed over:
    ``header_counts`` of them lie in [header_starts, ends).
    """

    sections: Ints
    starts: Ints
    ends: Ints
    offsets: Ints
    timestamps: Ints
    key_starts: Ints
    key_lengths: Ints
    value_starts: Ints
    value_lengths: Ints
    header_starts: Ints
    header_counts: Ints

    def __len__(self) -> int:
        return len(self.starts)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KeyColumns:
    """The part of RecordColumns that ends with the keys."""

    sections: Ints
    offsets: Ints
    key_starts: Ints
    key_lengths: Ints

    def __len__(self) -> int:
        return len(self.offsets)


def decode_keys(batches: BatchColumns, sections: Sections) -> KeyColumns:
    """Offset and key of every record; what lies behind a key is not looked at.

    Raises CorruptBatch when the records are not what their batch promises.
    """
    walk = _Walk(batches, sections)
    walk.skip_head()
    offsets = walk.offsets()
    key_starts, key_lengths = walk.bytes_field()
    # Behind a key there are the lengths of value and headers, a byte each at least.
    walk.doubt(walk.at > walk.ends - 2)
    walk.finish()
    return KeyColumns(
        sections=walk.sections, offsets=offsets, key_starts=key_starts, key_lengths=key_lengths
    )


def decode_columns(batches: BatchColumns, sections: Sections) -> RecordColumns:
    """Every record of *sections*, which are of *batches*.

    Raises CorruptBatch when the records are not what their batch promises.
    """
    walk = _Walk(batches, sections)
    timestamps = walk.timestamps()
    offsets = walk.offsets()
    key_starts, key_lengths = walk.bytes_field()
    value_starts, value_lengths = walk.bytes_field()
    header_counts = walk.varint()
    walk.doubt((header_counts < 0) | (header_counts > walk.ends - walk.at))
    walk.doubt((header_counts == 0) & (walk.at != walk.ends))
    walk.finish()
    return RecordColumns(
        sections=walk.sections,
        starts=walk.starts,
        ends=walk.ends,
        offsets=offsets,
        timestamps=timestamps,
        key_starts=key_starts,
        key_lengths=key_lengths,
        value_starts=value_starts,
        value_lengths=value_lengths,
        header_starts=walk.at,
        header_counts=header_counts,
    )


@cache
def _advance_list() -> list[int]:
    advances: list[int] = _ADVANCES.tolist()
    return advances


class _Walk:
    """All records at once, field after field: ``at`` is where each one's next field begins."""

    def __init__(self, batches: BatchColumns, sections: Sections) -> None:
        self._batches, self._sections = batches, sections
        self._data = sections.data
        counts = batches.record_counts[sections.batches]
        self._check_counts(counts)
        self.starts = self._find_records(counts)
        self.sections = np.repeat(np.arange(len(counts)), counts)
        self._of_batch = sections.batches[self.sections]
        self._first_records = np.cumsum(counts) - counts
        self.ends = np.empty_like(self.starts)
        self.ends[:-1] = self.starts[1:]
        self.ends[(np.cumsum(counts) - 1)[counts > 0]] = sections.ends[counts > 0]
        self._doubtful = np.zeros(len(self.starts), np.bool_)
        self.at = self.starts
        self.varint()  # the length, which the walk to here has believed and found right
        self.at += 1  # attributes, none defined

    def varint(self) -> Ints:
        """The next field, and step over it."""
        values, sizes = read_varints(self._data, self.at)
        self.at = self.at + sizes
        return values

    def skip_head(self) -> None:
        """Step over the timestamp."""
        self.varint()

    def timestamps(self) -> Ints:
        of_batch, batches = self._of_batch, self._batches
        own = batches.base_timestamps[of_batch] + self.varint()
        is_append_time = batches.attributes[of_batch] & TIMESTAMP_TYPE_FLAG != 0
        return np.where(is_append_time, batches.max_timestamps[of_batch], own)

    def offsets(self) -> Ints:
        base_offsets = self._batches.base_offsets[self._of_batch]
        last_deltas = self._batches.last_offsets[self._of_batch] - base_offsets
        deltas = self.varint()
        # Records were a client's: none may claim an offset that is another batch's.
        self.doubt((deltas < 0) | (deltas > last_deltas))
        return base_offsets + deltas

    def bytes_field(self) -> tuple[Ints, Ints]:
        """Start and length of a nullable field of bytes, which is stepped over."""
        lengths = self.varint()
        starts = self.at
        is_long = lengths > self.ends - starts
        self.doubt(is_long)
        lengths[is_long] = 0  # an absurd length must not overflow what is added to it
        np.maximum(lengths, -1, out=lengths)
        self.at = starts + np.maximum(lengths, 0)
        return starts, lengths

    def doubt(self, doubtful: NDArray[np.bool_]) -> None:
        self._doubtful |= doubtful

    def finish(self) -> None:
        """Raise CorruptBatch for the first record in doubt."""
        if self._doubtful.any():
            index = int(np.argmax(self._doubtful))
            section = int(self.sections[index])
            number = index - int(self._first_records[section])
            raise self._fault(section, f"record {number} is not as long as it says")

    def _fault(self, section: int, reason: str) -> CorruptBatch:
        return CorruptBatch(reason, int(self._batches.starts[self._sections.batches[section]]))

    def _check_counts(self, counts: Ints) -> None:
        sizes = self._sections.ends - self._sections.starts
        wrong = (counts < 0) | (counts > sizes // RECORD_BYTES_MIN) | ((counts == 0) & (sizes > 0))
        if wrong.any():
            section = int(np.argmax(wrong))
            raise self._fault(
                section, f"it promises {counts[section]} records in {sizes[section]} bytes"
            )

    def _find_records(self, counts: Ints) -> Ints:
        """Where each record begins. The last one of a batch has to end where the batch does."""
        order = np.argsort(-counts, kind="stable")
        falling = counts[order]
        position, end = self._sections.starts[order], self._sections.ends[order]
        last_start = end - RECORD_BYTES_MIN
        record = (np.cumsum(counts) - counts)[order]  # of each batch, its next record's number
        found = np.empty(int(counts.sum()), np.int64)
        steps = int(falling[LANES_MIN - 1]) if len(falling) >= LANES_MIN else 0
        alive = np.searchsorted(-falling, -np.arange(steps))  # batches with more records than that
        # One look for each record: two bytes tell how far it is to the next one, unless the record
        # is 8 KB long or wrong. Behind each start are RECORD_BYTES_MIN: no look leaves the data.
        pairs = overlapping_pairs(self._data)
        for count in alive.tolist():
            at = position[:count]
            if (is_past := at > last_start[:count]).any():
                raise self._fault(int(order[np.argmax(is_past)]), _WRONG_END)
            found[record[:count]] = at
            record[:count] += 1
            advances = _ADVANCES.take(pairs[at])
            if not advances.all():
                rare = np.flatnonzero(advances == 0)
                advances[rare] = self._long_advances(at[rare])
            at += advances
        self._walk_singly(found, position, end, record, falling - steps)
        wrong = position != end
        if wrong.any():
            raise self._fault(int(order[np.argmax(wrong)]), _WRONG_END)
        return found

    def _long_advances(self, at: Ints) -> Ints:
        lengths, sizes = read_varints(self._data, at)
        return np.where(lengths > 0, sizes + lengths, BEYOND)

    def _long_advance(self, at: int) -> int:
        return int(self._long_advances(np.array([at], np.int64))[0])

    def _walk_singly(
        self, found: Ints, position: Ints, end: Ints, record: Ints, left: Ints
    ) -> None:
        """Go on in the few batches that have records *left*, in Python."""
        advances = _advance_list()
        for lane in np.flatnonzero(left > 0).tolist():
            first, stop = int(position[lane]), int(end[lane])
            data = self._data[min(first, stop) : stop].tobytes()
            starts: list[int] = []
            found_one = starts.append  # this loop is a third of the work on large batches
            at, last_start = 0 if first <= stop else BEYOND, len(data) - RECORD_BYTES_MIN
            for _ in range(int(left[lane])):
                if at > last_start:
                    at = BEYOND
                    break
                found_one(at)
                at += advances[data[at] | data[at + 1] << 8] or self._long_advance(first + at)
            number = int(record[lane])
            found[number : number + len(starts)] = starts
            found[number : number + len(starts)] += first
            position[lane] = first + at


def _advances() -> Ints:
    """Bytes from a record to the next, by the two it begins with; 0: the two do not tell."""
    values, sizes = SHORT_VALUES.astype(np.int64), SHORT_SIZES.astype(np.int64)
    return np.where((sizes > 0) & (values > 0), sizes + values, 0)


_ADVANCES: Final = _advances()
