"""Reading a segment's file in windows of whole batches. Synchronous over the file port."""

from collections.abc import Iterator
from contextlib import contextmanager
from struct import Struct
from typing import Final, NamedTuple

import numpy as np

from ...kernel.ports import FileSystem, OpenMode
from ...records.batch import HEADER_BYTES, LENGTH_END, CorruptBatch
from ...records.batch_columns import BatchColumns, read_batches
from .. import names
from .damage import damaged
from .job import CleanJob, Pace, SourceSegment

WINDOW_BYTES_MIN: Final = 4 * 1024 * 1024
"""Columns pay off from some hundred batches on, so ``io_buffer_bytes`` only raises it."""

_LENGTH: Final = Struct(">i")


class Window(NamedTuple):
    """Whole batches of a file, from byte ``position`` on."""

    path: str
    position: int
    batches: BatchColumns

    @contextmanager
    def places(self) -> Iterator[None]:
        """Give a CorruptBatch from inside its place in the file. Raises Damaged for it."""
        try:
            yield
        except CorruptBatch as error:
            raise damaged(self.path, self.position + error.position, error.reason) from error


def windows(
    fs: FileSystem, job: CleanJob, segment: SourceSegment, *, verify_crc: bool, pace: Pace
) -> Iterator[Window]:
    """All batches of a segment; a window holds one batch at least, however large that is.

    Raises Damaged where no whole batch follows, or one with a wrong checksum.
    """
    path = f"{job.directory}/{names.offset_name(segment.base_offset, names.LOG)}"
    file = fs.open(path, OpenMode.READ)
    try:
        position, wanted = 0, max(job.io_buffer_bytes, WINDOW_BYTES_MIN)
        next_offset = segment.base_offset
        size = wanted
        while position < segment.size_bytes:
            data = file.read_at(min(size, segment.size_bytes - position), position)
            pace(len(data))
            try:
                batches = read_batches(data, verify_crc=verify_crc)
            except CorruptBatch as error:
                raise damaged(path, position + error.position, error.reason) from error
            if not len(batches):
                size = _claimed(data, path, position, segment.size_bytes - position)
                continue
            if (index := _disorder(batches, next_offset, segment.end_offset)) is not None:
                at = position + int(batches.starts[index])
                raise damaged(path, at, "its offsets do not follow those before it")
            next_offset = int(batches.last_offsets[-1]) + 1
            yield Window(path, position, batches)
            position += int(batches.ends[-1])
            size = wanted
    finally:
        file.close()


def _disorder(batches: BatchColumns, next_offset: int, end_offset: int) -> int | None:
    """The first batch whose offsets do not rise or leave the segment; None when all is well."""
    following = np.concatenate(([next_offset], batches.last_offsets[:-1] + 1))
    wrong = (batches.base_offsets < following) | (batches.last_offsets < batches.base_offsets)
    wrong |= batches.last_offsets >= end_offset
    return int(np.argmax(wrong)) if wrong.any() else None


def _claimed(data: bytes, path: str, position: int, left: int) -> int:
    """The size of the batch that a window has cut. Raises Damaged when the file has cut it."""
    if len(data) < HEADER_BYTES:
        raise damaged(path, position, f"{len(data)} bytes are left, too few for a header")
    size_bytes: int = _LENGTH.unpack_from(data, 8)[0] + LENGTH_END
    if size_bytes > left or size_bytes <= len(data):
        raise damaged(path, position, f"it takes {size_bytes} bytes, {left} are left")
    return size_bytes
