"""Writing one cleaned segment: its batches, indexes as Kafka makes them, its transaction index.

Synchronous over the file port.
"""

from collections.abc import Sequence
from typing import Final, final

import numpy as np

from ...kernel.ids import NO_TIMESTAMP
from ...kernel.ports import Buffer, File, FileSystem, OpenMode
from ...records.varints import Ints
from .. import names
from ..aborted import AbortedTransaction
from ..index import (
    OFFSET_ENTRY_BYTES,
    RELATIVE_OFFSET_MAX,
    TIME_ENTRY_BYTES,
    OffsetIndex,
    TimeIndex,
    TimestampOffset,
)
from .damage import damaged
from .job import CleanedSegment, CleanJob, SourceSegment

POSITION_MAX: Final = 2**31 - 1
"""Index entries hold a signed 32-bit position."""


@final
class CleanedWriter:
    """A segment that grows: ``append`` batches, ``end_source`` each segment, ``finish``."""

    def __init__(self, fs: FileSystem, job: CleanJob, first: SourceSegment) -> None:
        """Create the file, in the place of one that was left behind. Raises OSError."""
        self._fs = fs
        self._job = job
        self.base_offset = first.base_offset
        self.size_bytes = 0
        self._replaced: list[int] = []
        self._stem = f"{job.directory}/{names.offset_name(first.base_offset, '')}"
        self._offsets = OffsetIndex(first.base_offset)
        self._times = TimeIndex(first.base_offset)
        self._newest = TimestampOffset(NO_TIMESTAMP, first.base_offset)
        self._entry_position = 0
        discard(fs, job.directory, first.base_offset)
        self._log = self._create(names.LOG)
        self._transactions: list[AbortedTransaction] = []

    def has_room(self, source: SourceSegment) -> bool:
        """Whether all of *source* would fit, by size, index sizes and offsets."""
        job = self._job
        if not self._replaced:
            return True
        entries = source.size_bytes // max(job.index_interval_bytes, 1) + 2
        return (
            self.size_bytes + source.size_bytes <= job.segment_bytes
            and len(self._offsets.entries) + entries * OFFSET_ENTRY_BYTES <= job.segment_index_bytes
            and len(self._times.entries) + entries * TIME_ENTRY_BYTES <= job.segment_index_bytes
            and source.end_offset - 1 - self.base_offset <= RELATIVE_OFFSET_MAX
        )

    def append(
        self, pieces: Sequence[Buffer], sizes: Ints, last_offsets: Ints, max_timestamps: Ints
    ) -> int:
        """Add batches: their bytes in *pieces*, cut anyhow, the rest an entry each.

        The result is the bytes written. Raises OSError, and Damaged in the one case that batches,
        compressed again, have grown a segment past what positions can say.
        """
        ends = self.size_bytes + np.cumsum(sizes)
        if not len(ends):
            return 0
        if int(ends[-1]) > POSITION_MAX:
            raise damaged(
                self._stem + names.LOG,
                self.size_bytes,
                f"its batches grow past {POSITION_MAX} bytes when they are compressed again",
            )
        written_bytes = int(ends[-1]) - self.size_bytes
        self._log.write_at(pieces, self.size_bytes)
        self._index(ends - sizes, last_offsets, max_timestamps)
        self.size_bytes = int(ends[-1])
        return written_bytes

    def end_source(self, source: SourceSegment, transactions: list[AbortedTransaction]) -> None:
        """All of *source* is in; *transactions* were found aborted in it."""
        self._replaced.append(source.base_offset)
        self._transactions += transactions

    def finish(self) -> CleanedSegment:
        """Have all files on disk. Raises OSError."""
        if self._newest.timestamp_ms != NO_TIMESTAMP:
            self._times.append(*self._newest)
        contents = [(names.OFFSET_INDEX, self._offsets.entries)]
        contents.append((names.TIME_INDEX, self._times.entries))
        if self._transactions:
            entries = bytearray().join(entry.encode() for entry in self._transactions)
            contents.append((names.TRANSACTION_INDEX, entries))
        self._log.sync()
        self._log.close()
        for suffix, content in contents:
            file = self._create(suffix)
            file.write_at([content], 0)
            file.sync()
            file.close()
        return CleanedSegment(
            base_offset=self.base_offset,
            replaces=tuple(self._replaced),
            size_bytes=self.size_bytes,
            newest_timestamp_ms=self._newest.timestamp_ms,
            has_transaction_index=bool(self._transactions),
        )

    def discard(self) -> None:
        """Remove what was written. Raises OSError."""
        self._log.close()
        discard(self._fs, self._job.directory, self.base_offset)

    def _index(self, starts: Ints, last_offsets: Ints, max_timestamps: Ints) -> None:
        """Entries as ``SegmentIndexes`` makes them; one look for each, not for each batch."""
        newest = np.maximum.accumulate(np.maximum(max_timestamps, self._newest.timestamp_ms))
        is_newer = np.diff(newest, prepend=self._newest.timestamp_ms) > 0
        bringer = np.maximum.accumulate(np.where(is_newer, np.arange(len(starts)), -1))
        interval = self._job.index_interval_bytes
        while self._entry_position + interval < starts[-1]:
            index = int(np.searchsorted(starts, self._entry_position + interval, "right"))
            self._entry_position, brought_by = int(starts[index]), int(bringer[index])
            self._offsets.append(int(last_offsets[index]), self._entry_position)
            offset = int(last_offsets[brought_by]) if brought_by >= 0 else self._newest.offset
            self._times.append(int(newest[index]), offset)
        last = int(bringer[-1])
        if last >= 0:
            self._newest = TimestampOffset(int(newest[-1]), int(last_offsets[last]))

    def _create(self, suffix: str) -> File:
        return self._fs.open(self._stem + suffix + names.CLEANED, OpenMode.REPLACE)


def discard(fs: FileSystem, directory: str, base_offset: int) -> None:
    """Remove the files of a cleaned segment, whichever there are. Raises OSError."""
    for suffix in names.SEGMENT_SUFFIXES:
        fs.remove(f"{directory}/{names.offset_name(base_offset, suffix)}{names.CLEANED}")
