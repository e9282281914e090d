"""A segment's sparse indexes, in Kafka's formats: where an offset is, and what was when.

Pure. Both are one run of entries, big-endian, in memory as on disk, so that reading and writing
one costs no decoding::

    .index      [4 offset - base offset][4 position]                 8 bytes
    .timeindex  [8 timestamp][4 offset - base offset]               12 bytes

An offset entry says: the batch that *ends* with this offset starts at this position. A time entry
says: records newer than this timestamp come after this offset. Neither is trusted: a reader goes
on from the found position through batch headers, which say the truth, and an index that makes no
sense is built anew from its segment.
"""

from array import array
from bisect import bisect_left, bisect_right
from struct import Struct
from typing import Final, NamedTuple, final

from ..kernel.ids import NO_TIMESTAMP
from ..kernel.ports import Buffer
from ..records.batch import Batch

OFFSET_ENTRY_BYTES: Final = 8
TIME_ENTRY_BYTES: Final = 12
RELATIVE_OFFSET_MAX: Final = 2**31 - 1
"""Entries hold a signed 32-bit difference to the base offset."""

_OFFSET_ENTRY: Final = Struct(">ii")
_TIME_ENTRY: Final = Struct(">qi")


class OffsetPosition(NamedTuple):
    """The batch whose last offset is ``offset`` starts at byte ``position`` of the segment."""

    offset: int
    position: int


class TimestampOffset(NamedTuple):
    """A timestamp and the last offset of the batch that brought it."""

    timestamp_ms: int
    offset: int


@final
class OffsetIndex:
    """The ``.index`` of one segment. Invariant: offsets and positions rise from entry to entry."""

    __slots__ = ("base_offset", "entries")

    def __init__(self, base_offset: int, entries: Buffer = b"") -> None:
        """Take *entries*, a file's bytes; a bytearray is taken over and may grow."""
        self.base_offset = base_offset
        self.entries = entries if isinstance(entries, bytearray) else bytearray(entries)

    def __len__(self) -> int:
        return len(self.entries) // OFFSET_ENTRY_BYTES

    def __getitem__(self, index: int) -> OffsetPosition:
        relative, position = _OFFSET_ENTRY.unpack_from(self.entries, index * OFFSET_ENTRY_BYTES)
        return OffsetPosition(self.base_offset + relative, position)

    def append(self, offset: int, position: int) -> None:
        """Note that the batch ending with *offset* starts at *position*."""
        self.entries += _OFFSET_ENTRY.pack(offset - self.base_offset, position)

    def floor(self, offset: int) -> OffsetPosition:
        """The last entry at or below *offset*; the segment's start when there is none."""
        count = self._count_below(offset + 1)
        return self[count - 1] if count else OffsetPosition(self.base_offset, 0)

    def first_from(self, position: int) -> int | None:
        """The last offset of the first batch known to start at or behind *position*, if any.

        No batch that starts before *position* reaches it.
        """
        index = bisect_left(range(len(self)), position, key=lambda place: self[place].position)
        return self[index].offset if index < len(self) else None

    def truncate_to(self, offset: int) -> None:
        """Forget the entries at and above *offset*."""
        del self.entries[self._count_below(offset) * OFFSET_ENTRY_BYTES :]

    def fault(self, segment_bytes: int) -> str | None:
        """Why this cannot be the index of a segment of *segment_bytes*; None when it can.

        Looks at the last entry only: a crash tears or zeroes an index at its end.
        """
        if len(self.entries) % OFFSET_ENTRY_BYTES:
            return f"{len(self.entries)} bytes are no whole number of entries"
        if not self.entries:
            return None
        offset, position = self[len(self) - 1]
        if offset < self.base_offset or not 0 < position < segment_bytes:
            return f"its last entry puts offset {offset} at byte {position}"
        return None

    def _count_below(self, offset: int) -> int:
        entries, wanted = self.entries, offset - self.base_offset
        low, high = 0, len(entries) // OFFSET_ENTRY_BYTES
        while low < high:
            middle = (low + high) // 2
            if _OFFSET_ENTRY.unpack_from(entries, middle * OFFSET_ENTRY_BYTES)[0] < wanted:
                low = middle + 1
            else:
                high = middle
        return low


@final
class TimeIndex:
    """The ``.timeindex`` of one segment. Invariant: timestamps and offsets never fall."""

    __slots__ = ("base_offset", "entries")

    def __init__(self, base_offset: int, entries: Buffer = b"") -> None:
        """Take *entries*, a file's bytes; a bytearray is taken over and may grow."""
        self.base_offset = base_offset
        self.entries = entries if isinstance(entries, bytearray) else bytearray(entries)

    def __len__(self) -> int:
        return len(self.entries) // TIME_ENTRY_BYTES

    def __getitem__(self, index: int) -> TimestampOffset:
        timestamp_ms, relative = _TIME_ENTRY.unpack_from(self.entries, index * TIME_ENTRY_BYTES)
        return TimestampOffset(timestamp_ms, self.base_offset + relative)

    @property
    def last(self) -> TimestampOffset:
        """The last entry, so the highest timestamp; (-1, base offset) when there is none."""
        count = len(self)
        return self[count - 1] if count else TimestampOffset(NO_TIMESTAMP, self.base_offset)

    def append(self, timestamp_ms: int, offset: int) -> None:
        """Note the highest timestamp so far and its offset; nothing happens unless it is higher."""
        if timestamp_ms > self.last.timestamp_ms:
            self.entries += _TIME_ENTRY.pack(timestamp_ms, offset - self.base_offset)

    def floor(self, timestamp_ms: int) -> TimestampOffset:
        """The last entry at or below *timestamp_ms*; (-1, base offset) when there is none.

        A record newer than *timestamp_ms* lies at or behind the entry's offset.
        """
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if _TIME_ENTRY.unpack_from(self.entries, middle * TIME_ENTRY_BYTES)[0] <= timestamp_ms:
                low = middle + 1
            else:
                high = middle
        return self[low - 1] if low else TimestampOffset(NO_TIMESTAMP, self.base_offset)

    def newest_up_to(self, offset: int) -> TimestampOffset:
        """The last entry at or below *offset*; (-1, base offset) when there is none.

        Where the offset index has an entry for *offset*, no record up to there is newer.
        """
        index = bisect_right(range(len(self)), offset, key=lambda place: self[place].offset)
        return self[index - 1] if index else TimestampOffset(NO_TIMESTAMP, self.base_offset)

    def truncate_to(self, offset: int) -> None:
        """Forget the entries at and above *offset*."""
        count = len(self)
        while count and self[count - 1].offset >= offset:
            count -= 1
        del self.entries[count * TIME_ENTRY_BYTES :]

    def fault(self) -> str | None:
        """Why this cannot be a time index; None when it can. Looks at the last entry only."""
        if len(self.entries) % TIME_ENTRY_BYTES:
            return f"{len(self.entries)} bytes are no whole number of entries"
        if not self.entries:
            return None
        last = self.last
        if not any(self.entries[-TIME_ENTRY_BYTES:]):
            return "its last entry is all zeros"
        if last.offset < self.base_offset or last.timestamp_ms < self[0].timestamp_ms:
            return f"its last entry puts time {last.timestamp_ms} at offset {last.offset}"
        return None


@final
class SegmentIndexes:
    """Both indexes of a segment that grows, made as Kafka makes them while it appends.

    An entry comes with the first batch that starts more than ``interval_bytes`` behind the last.
    """

    __slots__ = ("_bytes_since_entry", "interval_bytes", "newest", "offsets", "times")

    def __init__(self, offsets: OffsetIndex, times: TimeIndex, *, interval_bytes: int) -> None:
        """Go on from two indexes; ``add`` the batches from the last offset entry's on."""
        self.offsets = offsets
        self.times = times
        self.interval_bytes = interval_bytes
        self.newest = times.last
        """The highest timestamp so far, with the last offset of the batch that brought it."""
        self._bytes_since_entry = 0

    def add(self, batch: Batch, last_offset: int, position: int) -> None:
        """Note the next batch, which starts at *position* of the segment."""
        newest = self.newest
        if batch.max_timestamp > newest.timestamp_ms:
            newest = self.newest = TimestampOffset(batch.max_timestamp, last_offset)
        if self._bytes_since_entry > self.interval_bytes:
            self.offsets.append(last_offset, position)
            self.times.append(*newest)
            self._bytes_since_entry = 0
        self._bytes_since_entry += batch.size_bytes

    def seal(self) -> None:
        """No batch follows now: the last time entry covers the whole segment."""
        self.times.append(*self.newest)

    def is_full(self, bytes_max: int) -> bool:
        """A file of *bytes_max* has no room for another entry and for the one that seals it."""
        return (
            len(self.offsets.entries) > bytes_max - OFFSET_ENTRY_BYTES
            or len(self.times.entries) > bytes_max - 2 * TIME_ENTRY_BYTES
        )


@final
class RecentBatches:
    """Where the last batches of a log begin: consumers at the tail ask for one of them.

    It knows the batches of [first, ``end_offset``) without a gap, and ``end_position`` ends them.
    """

    __slots__ = ("_offsets", "_positions", "end_offset", "end_position")

    COUNT_MAX: Final = 256  # 4 KB per partition that is written to

    def __init__(self) -> None:
        self._offsets = array("q")
        self._positions = array("q")
        self.end_offset = 0
        self.end_position = 0

    def add(self, base_offset: int, end_offset: int, position: int, end_position: int) -> None:
        """Note the next batch. One that leaves a gap makes the earlier ones forgotten."""
        offsets, positions = self._offsets, self._positions
        if base_offset != self.end_offset:
            del offsets[:], positions[:]
        offsets.append(base_offset)
        positions.append(position)
        self.end_offset = end_offset
        self.end_position = end_position
        if len(offsets) > self.COUNT_MAX:
            del offsets[: self.COUNT_MAX // 2]
            del positions[: self.COUNT_MAX // 2]

    def first_from(self, position: int) -> int | None:
        """The base offset of the first batch known to start at or behind *position*, if any."""
        index = bisect_left(self._positions, position)
        return self._offsets[index] if index < len(self._offsets) else None

    def find(self, offset: int) -> tuple[int, int, int] | None:
        """(base offset, position, end position) of the batch with *offset*; None if unknown."""
        if offset >= self.end_offset:
            return None
        index = bisect_right(self._offsets, offset)
        if not index:
            return None
        is_last = index == len(self._offsets)
        end_position = self.end_position if is_last else self._positions[index]
        return self._offsets[index - 1], self._positions[index - 1], end_position
