"""What a partition log is made of, and how it gets into its files: segments, queue, flushes.

``PartitionLog`` (log.py) is what the rest of the broker sees. The subjects that are not on the way
of every request have modules of their own, which work on a LogState: ``expiry``, ``truncation``,
``compacting``.
"""

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager

from ..kernel.errors import ApiError
from ..kernel.ids import NO_LEADER_EPOCH
from .aborted import AbortedTransaction, collect_aborted
from .cleaning import Cleaning
from .config import LogConfig
from .errors import DiskFull, LogDirectoryFailed, OffsetOutOfRange
from .flush import FlushJob, Unflushed
from .recovery import LoadedLog
from .segment import Segment
from .volume import NO_SPACE, Volume


class LogState:
    """See PartitionLog, which is the only one to be made of it, for owner and invariants."""

    def __init__(
        self,
        volume: Volume,
        path: str,
        *,
        topic: str,
        partition: int,
        topic_id: bytes,
        config: LogConfig,
        loaded: LoadedLog,
        is_new: bool = False,
    ) -> None:
        self.topic = topic
        self.partition = partition
        self.topic_id = topic_id
        self.path = path
        self.config = config
        self.log_start_offset = loaded.log_start_offset
        self.log_end_offset = loaded.log_end_offset
        """Next offset to be assigned; what is queued is included."""
        self.written_offset = loaded.log_end_offset
        """Below it everything is in the file and can be read."""
        self.flushed_offset = loaded.log_end_offset
        """Below it every batch is on disk."""
        self.pending_bytes = 0
        """Appended since the last write()."""
        self.doomed: list[Segment] = []
        """Segments below the log start whose files a checkpoint may remove, oldest first."""
        self.epochs_changed = loaded.epochs_changed
        """The file of leader epochs is older than the log."""
        self.cleaned_offset = loaded.cleaned_offset
        """How far the last compaction came, None before the first; see ``cleanable``."""
        self.volume = volume
        self.segments = loaded.segments
        """Oldest first, without a gap between one's end and the next one's base; never empty."""
        self.active = loaded.segments[-1]
        self.active.roll_jitter_ms = self._jitter_ms()
        self.epochs = loaded.epochs
        self.latest_epoch = NO_LEADER_EPOCH if (e := loaded.epochs.latest_epoch) is None else e
        """Leader epoch of the newest batch, -1 in an empty log."""
        self.producers = loaded.producers
        self.snapshots = loaded.snapshots
        self.damage = loaded.damage
        self.unwritten: list[Segment] = []  # with queued batches, oldest first
        self.unsaved: list[Segment] = []  # sealed, their indexes not yet in files
        self.unflushed = Unflushed(volume, path, is_new=is_new)
        self.disk_was_full = False
        self.cleaning: Cleaning | None = None
        self.replaced: list[str] = []  # files that a compaction put aside

    def __repr__(self) -> str:
        return (
            f"<PartitionLog {self.topic}-{self.partition} [{self.log_start_offset}, "
            f"{self.log_end_offset}), flushed {self.flushed_offset}>"
        )

    @property
    def size_bytes(self) -> int:
        """Bytes of all segments, what is queued included."""
        return sum(segment.size_bytes for segment in self.segments)

    @property
    def segment_count(self) -> int:
        return len(self.segments)

    @property
    def recovery_point(self) -> int:
        """What a checkpoint may promise: below it batches, and the indexes of them, are on disk."""
        floor = self.unflushed.index_floor
        return self.flushed_offset if floor is None else min(self.flushed_offset, floor)

    @property
    def first_base_offset(self) -> int:
        """Where the oldest segment begins, at or below the log start."""
        return self.segments[0].base_offset

    @property
    def active_base_offset(self) -> int:
        """Where the active segment begins; what lies before it is not appended to any more."""
        return self.active.base_offset

    def last_stable(self, high_watermark: int) -> int:
        """First offset of the oldest undecided transaction, at most the high watermark."""
        unstable = self.producers.first_unstable_offset(high_watermark)
        if unstable is None or unstable >= high_watermark:
            return high_watermark
        return max(unstable, self.log_start_offset)

    def aborted_transactions(self, start_offset: int, end_offset: int) -> list[AbortedTransaction]:
        """Aborted transactions with records in [start_offset, end_offset), in log order."""
        aborted: list[AbortedTransaction] = []
        with self.translated():
            for segment in self.segments_from(start_offset):
                entries = segment.transactions.entries
                if entries:
                    found, is_all = collect_aborted(
                        entries, start_offset=start_offset, end_offset=end_offset
                    )
                    aborted += found
                    if is_all:
                        break
        return aborted

    def write(self) -> None:
        """Put all that is queued into the files, with one write per segment.

        Raises DiskFull when there is no space: what could not be written is dropped and the log
        ends where the file does.
        """
        if not self.unwritten:
            return
        self.check_online()
        unwritten = self.unwritten
        try:
            while unwritten:
                segment = unwritten[0]
                if not segment.is_created:
                    self.unflushed.named()
                segment.write()
                del unwritten[0]
                self.unflushed.written(segment)
                self.written_offset = unwritten[0].base_offset if unwritten else self.log_end_offset
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise self.volume.fail(error) from error
            self._drop_queue()
            raise DiskFull(self.path) from error
        self.pending_bytes = 0
        if self.unsaved or self.snapshots.is_queued:
            self.save_sealed()

    def begin_flush(self) -> FlushJob | None:
        """The work that makes everything written durable; None when it is already.

        A job that is still running is included, so that the order in which they end is no matter.
        """
        self.check_online()
        with self.translated():
            return self.unflushed.begin(self.written_offset)

    def end_flush(self, job: FlushJob) -> None:
        """The job's run() has returned: the recovery point advances."""
        self.flushed_offset = max(self.flushed_offset, self.unflushed.end(job))

    def flush_failed(self, error: OSError) -> LogDirectoryFailed:
        """The job's run() has raised: the directory is offline from now on."""
        return self.volume.fail(error)

    def flush(self) -> None:
        """Write and flush here and now; blocks. For start, stop and tests."""
        self.write()
        job = self.begin_flush()
        if job is not None:
            with self.translated():
                job.run()
            self.end_flush(job)

    def roll(self) -> None:
        """Begin a new segment, unless the active one is empty. Raises DiskFull."""
        self.write()
        if not self.active.size_bytes:
            return
        self.check_online()
        with self.translated():
            self.activate()
        self.begin_segment(self.volume.clock.now_ms())
        self.create_active()
        self.save_sealed()

    def roll_if_old(self, now_ms: int) -> bool:
        """Roll when ``segment.ms`` is over for the active segment. Raises DiskFull."""
        active = self.active
        if not active.size_bytes or not active.is_active:
            return False  # not written to since the start: its time runs from the next append on
        with self.translated():
            waited_ms = active.waited_ms(now_ms, now_ms)
        if waited_ms <= self.config.segment_ms - active.roll_jitter_ms:
            return False
        self.roll()
        return True

    # For the modules of a log

    def activate(self) -> None:
        """Have an active segment that takes batches, after a restart."""
        if not self.active.is_active:
            end_offset = self.active.activate()
            assert end_offset == self.log_end_offset, (self, end_offset)

    def begin_segment(self, now_ms: int) -> Segment:
        """Seal the active segment and have a new one, in memory. Its turn to be written comes."""
        self.active.seal()
        self.unsaved.append(self.active)
        self.snapshots.queue(self.log_end_offset, self.producers.encode_snapshot())
        self.active = self.new_segment(self.log_end_offset, now_ms)
        self.segments.append(self.active)
        return self.active

    def new_segment(self, base_offset: int, now_ms: int) -> Segment:
        """A segment without a file."""
        return Segment(
            self.volume,
            self.path,
            base_offset,
            created_ms=now_ms,
            interval_bytes=self.config.index_interval_bytes,
            roll_jitter_ms=self._jitter_ms(),
        )

    def create_active(self) -> None:
        """Have the active segment's file, though empty. Raises DiskFull."""
        self.unflushed.named()
        try:
            self.active.create()
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise self.volume.fail(error) from error
            raise DiskFull(self.path) from error

    def save_sealed(self) -> None:
        """Write what a roll leaves behind: caches, so a full disk only postpones it."""
        try:
            while self.unsaved:
                segment = self.unsaved[0]
                self.unflushed.indexed(segment, segment.save_indexes())
                self.unflushed.named()
                if segment is not self.active:
                    segment.unload()
                del self.unsaved[0]
            self.snapshots.save({segment.base_offset for segment in self.segments})
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise self.volume.fail(error) from error

    def segments_from(self, offset: int) -> Iterator[Segment]:
        """The segments that may hold offsets from *offset* on."""
        if offset >= self.active.base_offset:
            yield self.active
        else:
            first = max(bisect_right(self.segments, offset, key=base_offset_of) - 1, 0)
            yield from self.segments[first:]

    def restore_derived(self) -> None:
        """Epochs and producers again say what the log up to its new end says."""
        end_offset = self.log_end_offset
        self.epochs_changed |= self.epochs.truncate_from_end(end_offset)
        latest = self.epochs.latest_epoch
        self.latest_epoch = NO_LEADER_EPOCH if latest is None else latest
        self.snapshots.forget_above(end_offset)
        self.producers = self.snapshots.restore(
            self.segments,
            end_offset=end_offset,
            expiration_ms=self.config.producer_id_expiration_ms,
        )

    def remove_files(self, segments: list[Segment]) -> None:
        """Remove the segments' files, the newest first."""
        for segment in reversed(segments):
            for path in reversed(segment.paths):
                self.volume.forget(path)
                self.volume.fs.remove(path)

    def check_online(self) -> None:
        """Raise LogDirectoryFailed once a file operation has failed."""
        if self.volume.failure is not None:
            raise self.volume.failure

    @contextmanager
    def translated(self) -> Iterator[None]:
        """A failed file operation takes the directory offline."""
        try:
            yield
        except OSError as error:
            raise self.volume.fail(error) from error

    def out_of_range(self, offset: int) -> ApiError:
        """The error for an offset that cannot be read."""
        if self.damage is not None and offset >= self.damage.offset:
            return self.damage
        return OffsetOutOfRange(
            offset=offset, start_offset=self.log_start_offset, end_offset=self.log_end_offset
        )

    def _jitter_ms(self) -> int:
        jitter_ms = min(self.config.segment_jitter_ms, self.config.segment_ms)
        return self.volume.rng.randrange(0, jitter_ms) if jitter_ms > 0 else 0

    def _drop_queue(self) -> None:
        """Be as the files are: what no space was found for never was."""
        failed = self.unwritten[0]
        index = self.segments.index(failed)
        later = self.segments[index + 1 :]
        with self.translated():
            failed.drop_pending(self.written_offset)
            del self.segments[index + 1 :]
            self.active = failed
            self.unsaved = [segment for segment in self.unsaved if segment not in later]
            self.unsaved = [segment for segment in self.unsaved if segment is not failed]
            self.unwritten = []
            self.pending_bytes = 0
            self.log_end_offset = self.written_offset
            self.restore_derived()
        self.disk_was_full = True


def base_offset_of(segment: Segment) -> int:
    """The key by which segments are searched."""
    return segment.base_offset
