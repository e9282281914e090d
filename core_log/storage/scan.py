"""Walking over the batches of a segment file: by headers only, or whole and with checksums.

Synchronous over the file port. Memory is bounded by the window, whatever sizes the file claims.
"""

from collections.abc import Iterator
from struct import Struct
from typing import Final, NamedTuple

from crc32c import crc32c

from ..kernel.ports import File
from ..records.batch import CRC_START, HEADER_BYTES, LENGTH_END, MAGIC, Batch, CorruptBatch

LOOKUP_WINDOW_BYTES: Final = 8 * 1024
"""One index interval of small batches, or a few headers of large ones."""
WALK_WINDOW_BYTES: Final = 64 * 1024
WHOLE_WINDOW_BYTES: Final = 4 * 1024 * 1024

_LENGTH_TO_MAGIC: Final = Struct(">iib")


class Found(NamedTuple):
    """A batch in a file."""

    position: int
    batch: Batch
    """Its header; the view reaches over the records only where the walk read them."""
    fault: str | None
    """The checksum does not match; the size may still be right."""

    @property
    def end_position(self) -> int:
        return self.position + self.batch.size_bytes


def walk_headers(
    file: File, start: int, end: int, *, window_bytes: int = WALK_WINDOW_BYTES
) -> Iterator[Found]:
    """Headers of the batches in bytes [start, end) of the file; records are not looked at.

    Raises CorruptBatch, with the position in the file, where no whole batch follows.
    """
    window, window_start, position = memoryview(b""), start, start
    while position < end:
        at = position - window_start
        if at + HEADER_BYTES > len(window):
            size = min(window_bytes, end - position)
            window, window_start, at = memoryview(file.read_at(size, position)), position, 0
        size_bytes = _checked_size(window, at, position, end)
        yield Found(position, Batch(window[at : at + min(size_bytes, len(window) - at)]), None)
        position += size_bytes


def walk_batches(
    file: File, start: int, end: int, *, window_bytes: int = WHOLE_WINDOW_BYTES
) -> Iterator[Found]:
    """The batches in bytes [start, end) of the file, whole, their checksums verified.

    A batch with a wrong checksum is found with its fault, and the walk goes on behind it. Of a
    batch larger than the window the view is its beginning. Raises CorruptBatch, with the position
    in the file, where no whole batch follows.
    """
    window, window_start, position = memoryview(b""), start, start
    while position < end:
        at = position - window_start
        if at + HEADER_BYTES > len(window) or at + _claimed_size(window, at) > len(window):
            size = min(window_bytes, end - position)
            window, window_start, at = memoryview(file.read_at(size, position)), position, 0
        size_bytes = _checked_size(window, at, position, end)
        batch = Batch(window[at : at + size_bytes])
        crc = crc32c(batch.view[CRC_START:])
        read_end = position + len(batch.view)
        while read_end < position + size_bytes:
            data = file.read_at(min(window_bytes, position + size_bytes - read_end), read_end)
            if not data:
                raise CorruptBatch("the file ends within it", position)
            crc = crc32c(data, crc)
            read_end += len(data)
        fault = None if crc == batch.crc else "its bytes do not match its CRC-32C"
        yield Found(position, batch, fault)
        position += size_bytes


def _claimed_size(window: memoryview, at: int) -> int:
    batch_length: int = _LENGTH_TO_MAGIC.unpack_from(window, at + 8)[0]
    return batch_length + LENGTH_END


def _checked_size(window: memoryview, at: int, position: int, end: int) -> int:
    if len(window) - at < HEADER_BYTES:
        raise CorruptBatch(f"{end - position} bytes are left, too few for a header", position)
    batch_length, _, magic = _LENGTH_TO_MAGIC.unpack_from(window, at + 8)
    size_bytes: int = batch_length + LENGTH_END
    if magic != MAGIC:
        raise CorruptBatch(f"its magic is {magic}, not {MAGIC}", position)
    if size_bytes < HEADER_BYTES:
        raise CorruptBatch(f"its size is {size_bytes}, less than a header's", position)
    if position + size_bytes > end:
        raise CorruptBatch(f"it takes {size_bytes} bytes, {end - position} are left", position)
    return size_bytes
