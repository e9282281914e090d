"""What the metadata log is written to: a partition's log, as far as this package needs one.

``storage.log.PartitionLog`` fits. The packages stand side by side and import nothing of each other,
so that a simulation of many voters can bring a log of its own.
"""

from typing import Any, Protocol

from ..kernel.ports import Buffer


class Slice(Protocol):
    """A run of stored batches."""

    def read(self) -> bytes:
        """The bytes; may wait for the disk. Raises OSError."""
        ...


class FlushJob(Protocol):
    """What one flush has to put on disk."""

    def run(self) -> None:
        """Make it durable. Any thread; blocks. Raises OSError."""
        ...


class SegmentLog(Protocol):
    """A log of batches that carry their own offsets and epochs; one owner, not thread safe."""

    path: str

    @property
    def log_start_offset(self) -> int: ...
    @property
    def log_end_offset(self) -> int: ...
    @property
    def flushed_offset(self) -> int: ...
    @property
    def latest_epoch(self) -> int: ...

    def append_as_follower(self, records: Buffer, *, now_ms: int) -> object:
        """Queue whole batches; ``write`` puts them into the file. Raises ApiError, unchanged."""
        ...

    def write(self) -> None:
        """Raises ApiError when the disk is full, and the queue is dropped, or when it fails."""
        ...

    def begin_flush(self) -> FlushJob | None: ...
    def end_flush(self, job: Any, /) -> None:
        """*job* is one that ``begin_flush`` gave."""
        ...

    def flush_failed(self, error: OSError, /) -> Exception:
        """A file operation has failed: the log is offline, and this is the condition to raise."""
        ...

    def flush(self) -> None: ...
    def read(self, start_offset: int, *, bytes_max: int, end_offset: int) -> Slice: ...
    def raise_log_start(self, offset: int) -> object: ...
    def truncate_fully_and_start_at(self, offset: int) -> None: ...
    def roll(self) -> None: ...
