"""Frames on a connection: ``[4 size, big-endian signed][size bytes]``, in both directions.

The size is judged before anything is allocated for it.
"""

from typing import Final

from ..kernel.ports import Buffer
from .errors import FrameError

PREFIX_BYTES: Final = 4


def frame_size(prefix: Buffer, bytes_max: int) -> int:
    """The size in *prefix*, whose first four bytes count: from 1 to *bytes_max*.

    Raises FrameError for every other size. No request is empty, so neither is a frame.
    """
    size = int.from_bytes(prefix[:PREFIX_BYTES], "big", signed=True)
    if not 0 < size <= bytes_max:
        raise FrameError(size, bytes_max)
    return size


class FrameReader:
    """Cuts a stream of bytes into frames.

    Invariant: between calls the buffer holds less than one whole frame.
    """

    def __init__(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max
        """The largest frame from now on; may be raised when the peer has made itself known."""
        self._buffer = bytearray()

    def feed(self, data: Buffer) -> list[bytearray]:
        """The frames that *data* completes, without their size prefixes; each the caller's own.

        Raises FrameError at a size that no frame may have. The stream cannot be followed from
        there: the connection ends, and frames before it in the same data are lost with it.
        """
        buffer = self._buffer
        buffer += data
        frames: list[bytearray] = []
        start = 0
        while len(buffer) - start >= PREFIX_BYTES:
            body = start + PREFIX_BYTES
            end = body + frame_size(buffer[start:body], self.bytes_max)
            if len(buffer) < end:
                break
            frames.append(buffer[body:end])
            start = end
        del buffer[:start]
        return frames

    def missing_bytes(self) -> int:
        """How many bytes at least must come before the next frame is whole."""
        if len(self._buffer) < PREFIX_BYTES:
            return PREFIX_BYTES - len(self._buffer)
        size = frame_size(self._buffer, self.bytes_max)
        return PREFIX_BYTES + size - len(self._buffer)
