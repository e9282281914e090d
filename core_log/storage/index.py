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

from struct import Struct
from typing import Final, NamedTuple, final

from ..kernel.ids import NO_TIMESTAMP
from ..kernel.ports import Buffer

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
        """Note the highest timestamp so far and its offset; nothing happens unless it is new."""
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
        if last.offset < self.base_offset or last.timestamp_ms < self[0].timestamp_ms:
            return f"its last entry puts time {last.timestamp_ms} at offset {last.offset}"
        return None
