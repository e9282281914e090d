"""A run of stored bytes that an answer carries away: a file and a range, read when it is sent."""

from typing import final

from ..kernel.ports import Buffer, File


@final
class LogSlice:
    """Bytes [position, position + size_bytes) of a segment file.

    Whole batches but for the last, which may be cut. The bytes are written and stay as they are
    while somebody holds the slice, whatever happens to the log.
    """

    __slots__ = ("base_offset", "end_offset", "file", "position", "size_bytes")

    def __init__(
        self,
        file: File | None,
        *,
        position: int,
        size_bytes: int,
        base_offset: int,
        end_offset: int,
    ) -> None:
        self.file = file
        """None when the slice is empty."""
        self.position = position
        self.size_bytes = size_bytes
        self.base_offset = base_offset
        """Base offset of the first batch; of an empty slice the offset that was asked for."""
        self.end_offset = end_offset
        """No record in the slice reaches it; the last one may lie well below."""

    def __repr__(self) -> str:
        return f"<LogSlice from {self.base_offset}, {self.size_bytes} bytes at {self.position}>"

    def read(self) -> bytes:
        """The bytes; waits for the disk, so call it off the loop. Any thread. Raises OSError."""
        if self.file is None:
            return b""
        return self.file.read_at(self.size_bytes, self.position)

    def read_cached(self) -> Buffer | None:
        """The bytes if they are in the page cache, else None. Raises OSError."""
        if self.file is None:
            return b""
        return self.file.read_cached(self.size_bytes, self.position)
