"""One partition's log: appended in memory, written once per turn, flushed by group commit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from .config import LogConfig
from .errors import LogDirectoryFailed
from .notes import Note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..kernel.ports import Buffer, File
    from ..records.batch import Batch
    from .aborted import AbortedTransaction

__all__ = ["Appended", "FlushJob", "LogConfig", "LogSlice", "PartitionLog"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """Where a batch lies in the log: offsets [base_offset, last_offset]."""

    base_offset: int
    last_offset: int
    log_append_time_ms: int
    """-1 unless the topic stamps records with the time of the append."""
    duplicate: bool = False
    """The batch had been appended before, there; nothing was written now."""


@final
class LogSlice:
    """A run of stored bytes: whole batches but for the last, which may be cut."""

    __slots__ = ("base_offset", "file", "position", "size_bytes")

    file: File | None
    position: int
    size_bytes: int
    base_offset: int
    """Base offset of the first batch; the offset asked for when the slice is empty."""

    def read(self) -> bytes:
        """The bytes; may wait for the disk, so call it off the loop. Any thread. Raises OSError."""
        raise NotImplementedError

    def read_cached(self) -> Buffer | None:
        """The bytes if they are in the page cache, else None."""
        raise NotImplementedError


@final
class FlushJob:
    """What one flush of one log has to put on disk."""

    __slots__ = ("end_offset",)

    end_offset: int
    """Everything below it is on disk when run() has returned."""

    def run(self) -> None:
        """Make it durable. Any thread; blocks. Raises OSError; do not run it again then."""
        raise NotImplementedError


@final
class PartitionLog:
    """One owner, the event loop; not thread safe."""

    topic: str
    partition: int
    topic_id: bytes
    path: str
    config: LogConfig
    log_start_offset: int
    log_end_offset: int
    """Next offset to be assigned; what is queued is included."""
    written_offset: int
    """Below it everything is in the file and can be read."""
    flushed_offset: int
    """Below it everything is on disk: the recovery point."""
    pending_bytes: int
    """Appended since the last write()."""

    @property
    def size_bytes(self) -> int:
        """Bytes of all segments, what is queued included."""
        raise NotImplementedError

    def configure(self, config: LogConfig) -> None: ...

    def last_stable(self, high_watermark: int) -> int:
        """First offset of the oldest open transaction, at most the high watermark."""
        raise NotImplementedError

    def append_as_leader(self, batch: Batch, *, leader_epoch: int, now_ms: int) -> Appended:
        """Give a validated batch its offsets and queue it; write() puts it into the file.

        The batch is patched in place and its memory kept until write(): the caller gives it away.
        Raises ApiError when the producer state refuses it, when it is larger than a segment, and
        while the disk is full or the directory is offline; the log is then unchanged.
        """
        raise NotImplementedError

    def append_as_follower(self, records: Buffer, *, now_ms: int) -> list[Appended]:
        """Queue whole batches that carry their offsets and epochs; the memory is given away.

        Raises ApiError(CORRUPT_MESSAGE) for a failed checksum, an incomplete batch, or one that
        does not begin at the log end offset; the log is then unchanged.
        """
        raise NotImplementedError

    def write(self) -> None:
        """Put all that is queued into the files, with one write per segment.

        Raises DiskFull (the queue is dropped and the log as before) or LogDirectoryFailed.
        """

    def begin_flush(self) -> FlushJob | None:
        """The work that makes everything written durable; None when it is already."""
        raise NotImplementedError

    def end_flush(self, job: FlushJob) -> None:
        """The job's run() has returned: the recovery point advances."""

    def flush_failed(self, error: OSError) -> LogDirectoryFailed:
        """The job's run() has raised: the directory is offline from now on."""
        raise NotImplementedError

    def flush(self) -> None:
        """Write and flush here and now; blocks. For start, stop and tests."""

    def read(
        self, start_offset: int, *, bytes_max: int, end_offset: int, at_least_one: bool = True
    ) -> LogSlice:
        """Where the batches from *start_offset* on are, within one segment.

        At most *bytes_max* bytes, but with *at_least_one* the first batch in any case, whole;
        without it, a first batch that does not fit gives an empty slice. Nothing at or above
        *end_offset*. The first batch holds *start_offset*, or comes next where compaction removed
        it. Raises OffsetOutOfRange below log_start_offset or above log_end_offset.
        """
        raise NotImplementedError

    def aborted_transactions(self, start_offset: int, end_offset: int) -> list[AbortedTransaction]:
        """Aborted transactions with records in [start_offset, end_offset), in log order."""
        raise NotImplementedError

    def offset_for_timestamp(
        self, timestamp_ms: int, *, end_offset: int
    ) -> tuple[int, int, int] | None:
        """(timestamp, offset, leader epoch) of the first record not older than *timestamp_ms*.

        None when there is none below *end_offset*.
        """
        raise NotImplementedError

    def max_timestamp_offset(self, *, end_offset: int) -> tuple[int, int, int] | None:
        """(timestamp, offset, leader epoch) of the highest timestamp's first record."""
        raise NotImplementedError

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """The largest epoch not above *epoch* and where it ends; (-1, -1) when unknown."""
        raise NotImplementedError

    def epoch_at(self, offset: int) -> int:
        """Leader epoch under which *offset* was, or would be, written; -1 when unknown."""
        raise NotImplementedError

    @property
    def latest_epoch(self) -> int:
        """Leader epoch of the newest batch, -1 in an empty log."""
        raise NotImplementedError

    def raise_log_start(self, offset: int) -> list[Note]:
        """Hide everything below *offset* (DeleteRecords); files go with the next checkpoint.

        Raises OffsetOutOfRange above the log end offset; lower than now changes nothing.
        """
        raise NotImplementedError

    def truncate_to(self, offset: int) -> None:
        """Remove everything at and above *offset*."""

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Remove everything; the next record gets *offset*."""

    def roll(self) -> None:
        """Begin a new segment, unless the active one is empty."""

    def roll_if_old(self, now_ms: int) -> bool:
        """Roll when ``segment.ms`` is over for the active segment."""
        raise NotImplementedError

    def delete_expired(self, *, now_ms: int, high_watermark: int) -> list[Note]:
        """Raise the log start over segments that retention no longer keeps.

        Their files go once a checkpoint of the directory has made the new log start durable.
        """
        raise NotImplementedError

    def expire_producers(self, now_ms: int) -> None:
        """Forget producers that have been silent for ``producer.id.expiration.ms``."""

    def close(self) -> None:
        """Flush, write the active index and the producer snapshot; the log is used no more."""

    def check(self) -> None:
        """Assert the invariants: log_start <= flushed <= written <= log_end, segments in line."""
