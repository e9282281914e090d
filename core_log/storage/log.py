"""One partition's log: appended to in memory, written once per turn, flushed by group commit.

A batch's way: ``append_as_leader`` gives it offsets and queues its bytes, ``write`` puts what is
queued into the file, from when on it can be read, and a FlushJob run elsewhere makes it durable.
The log never waits for a disk between; who acknowledges what, and when, is the caller's affair.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Final, NamedTuple, final

from ..kernel.errors import ApiError, ErrorCode
from ..kernel.ids import NO_LEADER_EPOCH, NO_TIMESTAMP
from ..kernel.ports import Buffer
from ..records.batch import Batch, CorruptBatch, patch, scan, set_log_append_time
from . import swap
from .aborted import AbortedTransaction, collect_aborted
from .cleanable import Dirtiness, DirtySegment, dirtiness, valid_first_dirty_offset
from .cleaning import SECRET_BYTES, Cleaning, CleanLimits, clean_job
from .compaction.job import CleanedSegment, CleanJob, CleanResult
from .config import LogConfig
from .epochs import encode_epochs
from .errors import DiskFull, LogDirectoryFailed, OffsetOutOfRange
from .flush import FlushJob, Unflushed
from .lookup import RecordTime, find_by_timestamp, find_newest
from .notes import Note
from .producers import ActiveProducer, Duplicate
from .recovery import LoadedLog
from .retention import RetentionPolicy, SegmentFacts, expired_count
from .segment import Segment
from .slices import LogSlice
from .swap import Replacement, SwapJob
from .volume import NO_SPACE, Volume

__all__ = ["Appended", "FlushJob", "LogConfig", "LogSlice", "PartitionLog"]

SPACE_TO_RESUME_BYTES: Final = 64 * 1024
"""A disk that was full takes appends again when there is so much more than the batch needs."""


class Appended(NamedTuple):
    """Where a batch lies in the log: offsets [base_offset, last_offset]."""

    base_offset: int
    last_offset: int
    log_append_time_ms: int = NO_TIMESTAMP
    """-1 unless the topic stamps records with the time of the append."""
    duplicate: bool = False
    """The batch had been appended before, there; nothing was written now."""


@final
class PartitionLog:
    """One owner, the event loop; not thread safe.

    Invariants: log_start <= log_end; flushed <= written <= log_end; segments follow each other, the
    last one is active and its base at most log_end; what is between written and log_end is queued.
    Any method raises LogDirectoryFailed when a file operation fails, and from then on.
    """

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
        self._volume = volume
        self._segments = loaded.segments
        self._active = loaded.segments[-1]
        self._active.roll_jitter_ms = self._jitter_ms()
        self._epochs = loaded.epochs
        self._latest_epoch = NO_LEADER_EPOCH if (e := loaded.epochs.latest_epoch) is None else e
        self._producers = loaded.producers
        self._snapshots = loaded.snapshots
        self._damage = loaded.damage
        self._unwritten: list[Segment] = []  # with queued batches, oldest first
        self._unsaved: list[Segment] = []  # sealed, their indexes not yet in files
        self._unflushed = Unflushed(volume, path, is_new=is_new)
        self._disk_was_full = False
        self._cleaning: Cleaning | None = None
        self._replaced: list[str] = []  # files that a compaction put aside

    def __repr__(self) -> str:
        return (
            f"<PartitionLog {self.topic}-{self.partition} [{self.log_start_offset}, "
            f"{self.log_end_offset}), flushed {self.flushed_offset}>"
        )

    @property
    def size_bytes(self) -> int:
        """Bytes of all segments, what is queued included."""
        return sum(segment.size_bytes for segment in self._segments)

    @property
    def segment_count(self) -> int:
        return len(self._segments)

    @property
    def recovery_point(self) -> int:
        """What a checkpoint may promise: below it batches, and the indexes of them, are on disk."""
        floor = self._unflushed.index_floor
        return self.flushed_offset if floor is None else min(self.flushed_offset, floor)

    @property
    def first_base_offset(self) -> int:
        """Where the oldest segment begins, at or below the log start."""
        return self._segments[0].base_offset

    @property
    def active_base_offset(self) -> int:
        """Where the active segment begins; what lies before it is not appended to any more."""
        return self._active.base_offset

    @property
    def latest_epoch(self) -> int:
        """Leader epoch of the newest batch, -1 in an empty log."""
        return self._latest_epoch

    def configure(self, config: LogConfig) -> None:
        """Behave by *config* from now on; the index interval counts from the next segment on."""
        self.config = config
        self._producers.expiration_ms = config.producer_id_expiration_ms

    # Appending

    def append_as_leader(self, batch: Batch, *, leader_epoch: int, now_ms: int) -> Appended:
        """Give a validated batch its offsets and queue it; write() puts it into the file.

        The batch is patched in place and its memory kept until write(): the caller gives it away.
        Raises ApiError when the producer state refuses it, when it is larger than a segment, and
        while the disk is full or the directory is offline; the log is then unchanged.
        """
        if self._volume.failure is not None or self._damage is not None or self._disk_was_full:
            self._check_may_append(batch.size_bytes)
        if batch.producer_id >= 0 and not batch.is_control:
            verdict = self._producers.check(batch)
            if type(verdict) is Duplicate:
                return self._known(verdict)
        config = self.config
        base_offset = self.log_end_offset
        last_offset = base_offset + batch.last_offset_delta
        segment = self._ready_segment(batch, last_offset, now_ms)
        append_time_ms = NO_TIMESTAMP
        if config.message_timestamp_type == "LogAppendTime":
            append_time_ms = now_ms
            set_log_append_time(batch, now_ms)
        patch(batch, base_offset=base_offset, leader_epoch=leader_epoch)
        self._queue(segment, batch, last_offset, now_ms)
        return Appended(base_offset, last_offset, append_time_ms)

    def append_as_follower(
        self, records: Buffer, *, now_ms: int, may_leave_gaps: bool = False
    ) -> list[Appended]:
        """Queue whole batches that carry their offsets and epochs; the memory is given away.

        The first begins at the log end offset, each other where the one before it ended; with
        *may_leave_gaps*, as compaction does, or behind it. Raises ApiError(CORRUPT_MESSAGE) for
        anything else, a failed checksum or a batch that is cut short; the log is then unchanged.
        """
        self._check_may_append(len(records))
        batches = _whole_batches(records)
        expected = self.log_end_offset
        for batch in batches:
            _check_place(batch, expected, may_leave_gaps=may_leave_gaps)
            expected = batch.next_offset
        appended: list[Appended] = []
        for batch in batches:
            last_offset = batch.last_offset
            segment = self._ready_segment(batch, last_offset, now_ms)
            self._queue(segment, batch, last_offset, now_ms)
            appended.append(Appended(batch.base_offset, last_offset))
        return appended

    def write(self) -> None:
        """Put all that is queued into the files, with one write per segment.

        Raises DiskFull when there is no space: what could not be written is dropped and the log
        ends where the file does.
        """
        if not self._unwritten:
            return
        self._check_online()
        unwritten = self._unwritten
        try:
            while unwritten:
                segment = unwritten[0]
                if not segment.is_created:
                    self._unflushed.named()
                segment.write()
                del unwritten[0]
                self._unflushed.written(segment)
                self.written_offset = unwritten[0].base_offset if unwritten else self.log_end_offset
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise self._volume.fail(error) from error
            self._drop_queue()
            raise DiskFull(self.path) from error
        self.pending_bytes = 0
        if self._unsaved or self._snapshots.is_queued:
            self._save_sealed()

    # Flushing

    def begin_flush(self) -> FlushJob | None:
        """The work that makes everything written durable; None when it is already.

        A job that is still running is included, so that the order in which they end is no matter.
        """
        self._check_online()
        with self._translated():
            return self._unflushed.begin(self.written_offset)

    def end_flush(self, job: FlushJob) -> None:
        """The job's run() has returned: the recovery point advances."""
        self.flushed_offset = max(self.flushed_offset, self._unflushed.end(job))

    def flush_failed(self, error: OSError) -> LogDirectoryFailed:
        """The job's run() has raised: the directory is offline from now on."""
        return self._volume.fail(error)

    def flush(self) -> None:
        """Write and flush here and now; blocks. For start, stop and tests."""
        self.write()
        job = self.begin_flush()
        if job is not None:
            with self._translated():
                job.run()
            self.end_flush(job)

    # Reading

    def read(
        self, start_offset: int, *, bytes_max: int, end_offset: int, at_least_one: bool = True
    ) -> LogSlice:
        """Where the batches from *start_offset* on are, within one segment.

        At most *bytes_max* bytes, but with *at_least_one* the first batch in any case, whole;
        without it, a first batch that does not fit gives an empty slice. Nothing at or above
        *end_offset*. The first batch holds *start_offset*, or comes next where compaction removed
        it. Raises OffsetOutOfRange below log_start_offset or above log_end_offset, LogDamaged.
        """
        if not self.log_start_offset <= start_offset <= self.log_end_offset:
            raise self._out_of_range(start_offset)
        end_offset = min(end_offset, self.written_offset)
        if self._damage is not None:
            if start_offset >= self._damage.offset:
                raise self._damage
            end_offset = min(end_offset, self._damage.offset)
        if start_offset >= end_offset or (bytes_max <= 0 and not at_least_one):
            return _empty(start_offset)
        try:
            for segment in self._segments_from(start_offset):
                if segment.base_offset >= end_offset:
                    break
                located = segment.locate(start_offset)
                if located is not None:
                    base_offset, position, first_end = located
                    wanted = max(position + bytes_max, first_end if at_least_one else 0)
                    end = segment.end_position(end_offset, position_max=wanted)
                    if end < first_end:
                        break
                    return LogSlice(
                        segment.file(),
                        position=position,
                        size_bytes=end - position,
                        base_offset=base_offset,
                        end_offset=min(end_offset, self._bound(segment, end)),
                    )
        except OSError as error:
            raise self._volume.fail(error) from error
        return _empty(start_offset)

    def last_stable(self, high_watermark: int) -> int:
        """First offset of the oldest undecided transaction, at most the high watermark."""
        unstable = self._producers.first_unstable_offset(high_watermark)
        if unstable is None or unstable >= high_watermark:
            return high_watermark
        return max(unstable, self.log_start_offset)

    def aborted_transactions(self, start_offset: int, end_offset: int) -> list[AbortedTransaction]:
        """Aborted transactions with records in [start_offset, end_offset), in log order."""
        aborted: list[AbortedTransaction] = []
        with self._translated():
            for segment in self._segments_from(start_offset):
                entries = segment.transactions.entries
                if entries:
                    found, is_all = collect_aborted(
                        entries, start_offset=start_offset, end_offset=end_offset
                    )
                    aborted += found
                    if is_all:
                        break
        return aborted

    def offset_for_timestamp(self, timestamp_ms: int, *, end_offset: int) -> RecordTime | None:
        """(timestamp, offset, leader epoch) of the first record not older than *timestamp_ms*.

        None when there is none below *end_offset*.
        """
        with self._translated():
            return find_by_timestamp(
                self._segments,
                timestamp_ms,
                start_offset=self.log_start_offset,
                end_offset=min(end_offset, self.written_offset),
            )

    def max_timestamp_offset(self, *, end_offset: int) -> RecordTime | None:
        """(timestamp, offset, leader epoch) of the highest timestamp's first record."""
        with self._translated():
            return find_newest(
                self._segments,
                start_offset=self.log_start_offset,
                end_offset=min(end_offset, self.written_offset),
            )

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """The largest epoch not above *epoch* and where it ends; (-1, -1) when unknown."""
        return self._epochs.end_offset_for(epoch, log_end_offset=self.log_end_offset)

    def epoch_at(self, offset: int) -> int:
        """Leader epoch under which *offset* was, or would be, written; -1 when unknown."""
        epoch = self._epochs.epoch_for_offset(offset)
        return NO_LEADER_EPOCH if epoch is None else epoch

    def check_marker(
        self,
        *,
        producer_id: int,
        producer_epoch: int,
        coordinator_epoch: int,
        transaction_version: int,
    ) -> None:
        """Return when a coordinator may append this marker; ProducerStates.check_marker raises."""
        self._producers.check_marker(
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            coordinator_epoch=coordinator_epoch,
            transaction_version=transaction_version,
        )

    def knows_producer(self, producer_id: int) -> bool:
        """The log remembers the producer's last batch or marker."""
        return self._producers.knows(producer_id)

    def late_transactions(self, *, since_ms: int) -> int:
        """How many open transactions have had no record since then: some may never end."""
        return self._producers.late_transactions(since_ms=since_ms)

    def has_open_transaction(self, producer_id: int, producer_epoch: int) -> bool:
        """The producer has records of an undecided transaction here, of that epoch."""
        return self._producers.has_open_transaction(producer_id, producer_epoch)

    def active_producers(self) -> list[ActiveProducer]:
        """Every producer the log remembers, in order of producer id."""
        return self._producers.active()

    # Retention and truncation

    def raise_log_start(self, offset: int) -> list[Note]:
        """Hide everything below *offset*; whole segments below it go with the next checkpoint.

        Raises OffsetOutOfRange above the log end offset; lower than now changes nothing.
        """
        if offset > self.log_end_offset:
            raise self._out_of_range(offset)
        if offset <= self.log_start_offset:
            return []
        self._check_online()
        self.log_start_offset = offset
        self.epochs_changed |= self._epochs.truncate_from_start(offset)
        if self._cleaning is not None and self._cleaning.swap is not None:
            return []  # names are being changed: retention removes these files later
        count = bisect_right(self._segments, offset, key=_base_offset) - 1
        return self._doom(count, "below_log_start")

    def delete_expired(self, *, now_ms: int, high_watermark: int) -> list[Note]:
        """Raise the log start over segments that retention no longer keeps.

        Their files go once a checkpoint of the directory has made the new log start durable. When
        the active segment's turn has come too, a new one is begun. Raises DiskFull.
        """
        self._check_online()
        if self._cleaning is not None:
            return []  # the next look comes; a result for segments that are gone is of no use
        policy = RetentionPolicy(age_ms_max=None, log_bytes_max=None)
        if self.config.cleanup_delete:
            policy = RetentionPolicy(
                age_ms_max=self.config.retention_ms, log_bytes_max=self.config.retention_bytes
            )
        with self._translated():
            facts = self._facts()
        # As if a new segment had been begun: then the active one is judged like the others.
        beyond = SegmentFacts(
            end_offset=self.log_end_offset, size_bytes=0, timestamp_ms_max=NO_TIMESTAMP
        )
        count = expired_count(
            [*facts, beyond],
            policy,
            now_ms=now_ms,
            high_watermark=high_watermark,
            log_start_offset=self.log_start_offset,
        )
        if count == len(facts) and self._active.size_bytes:
            self.roll()
        count = min(count, len(self._segments) - 1)
        if count:
            offset = self._segments[count].base_offset
            if offset > self.log_start_offset:
                self.log_start_offset = offset
                self.epochs_changed |= self._epochs.truncate_from_start(offset)
        return self._doom(count, "expired")

    def expire_producers(self, now_ms: int) -> None:
        """Forget producers that have been silent for ``producer.id.expiration.ms``."""
        self._producers.remove_expired(now_ms)

    def roll(self) -> None:
        """Begin a new segment, unless the active one is empty. Raises DiskFull."""
        self.write()
        if not self._active.size_bytes:
            return
        self._check_online()
        with self._translated():
            self._activate()
        self._begin_segment(self._volume.clock.now_ms())
        self._create_active()
        self._save_sealed()

    def roll_if_old(self, now_ms: int) -> bool:
        """Roll when ``segment.ms`` is over for the active segment. Raises DiskFull."""
        active = self._active
        if not active.size_bytes or not active.is_active:
            return False  # not written to since the start: its time runs from the next append on
        with self._translated():
            waited_ms = active.waited_ms(now_ms, now_ms)
        if waited_ms <= self.config.segment_ms - active.roll_jitter_ms:
            return False
        self.roll()
        return True

    def truncate_to(self, offset: int) -> None:
        """Remove everything at and above *offset*, or at and above its batch's first record.

        Not durable before the next flush; checkpoint then, or a crash takes it for a loss.
        """
        if offset < self.log_start_offset:
            self.truncate_fully_and_start_at(offset)
            return
        self.write()
        self._check_online()
        if offset >= self.log_end_offset:
            return
        if self._cleaning is not None and offset < self._cleaning.end_offset:
            self._end_cleaning()
        index = max(bisect_right(self._segments, offset, key=_base_offset) - 1, 0)
        with self._translated():
            self._remove(self._segments[index + 1 :])
            del self._segments[index + 1 :]
            self._active = self._segments[index]
            end_offset = self._active.truncate_to(offset)
            self._ends_at(end_offset)
        self._unflushed.truncated(self._active)
        if end_offset < self.log_start_offset:  # which lies within the batch that was cut
            self.truncate_fully_and_start_at(self.log_start_offset)

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Remove everything; the next record gets *offset*. Durable when it returns; blocks."""
        self.write()
        self._check_online()
        self._end_cleaning()
        with self._translated():
            old = [segment for segment in self._segments if segment.base_offset != offset]
            self._remove([segment for segment in self._segments if segment.base_offset == offset])
            self._segments = [self._new_segment(offset, self._volume.clock.now_ms())]
            self._active = self._segments[0]
            self._active.create()
            self._volume.fs.sync_directory(self.path)
            self._remove(old)
            self.log_start_offset = offset
            self._ends_at(offset)
            self._volume.fs.sync_directory(self.path)
        self._unflushed.truncated()
        self.flushed_offset = offset

    # Compaction

    def fits(self, job: CleanJob) -> bool:
        """The job is under way, and all that it is about is still there."""
        cleaning = self._cleaning
        first_base_offset = job.segments[0].base_offset
        return (
            cleaning is not None
            and cleaning.job is job
            and self._segments[0].base_offset == first_base_offset
        )

    def dirtiness(self, *, high_watermark: int, now_ms: int) -> Dirtiness | None:
        """How much could be compacted now; None when nothing, or when the topic is not compacted.

        What is not flushed yet does not count.
        """
        sealed = self._segments[:-1]
        is_idle = self._cleaning is None and self._damage is None
        if not (sealed and self.config.cleanup_compact and is_idle):
            return None
        first_dirty_offset = valid_first_dirty_offset(
            self.cleaned_offset,
            log_start_offset=self.log_start_offset,
            log_end_offset=self.log_end_offset,
        )
        if first_dirty_offset >= self._active.base_offset:
            return None
        self._check_online()
        policy = self.config.cleaning
        with self._translated():
            return dirtiness(
                [
                    DirtySegment(
                        base_offset=segment.base_offset,
                        end_offset=following.base_offset,
                        size_bytes=segment.size_bytes,
                        first_timestamp_ms=(
                            segment.first_timestamp_ms() if policy.lag_ms_max is not None else -1
                        ),
                        newest_timestamp_ms=(
                            segment.newest().timestamp_ms if policy.lag_ms_min else -1
                        ),
                    )
                    for segment, following in pairwise(self._segments)
                ],
                policy,
                first_dirty_offset=first_dirty_offset,
                stable_offset=min(self.last_stable(high_watermark), self.recovery_point),
                now_ms=now_ms,
            )

    def begin_clean(self, found: Dirtiness, limits: CleanLimits, *, now_ms: int) -> CleanJob | None:
        """What ``compaction.cleaner`` needs to clean what dirtiness() found; None for nothing.

        The directory must be checkpointed between this and begin_swap(): recovery takes gaps
        beyond the recovery point *on disk* for losses. Raises DiskFull.
        """
        self._check_online()
        assert self._cleaning is None, self
        segments = [
            segment for segment in self._segments[:-1] if segment.base_offset < found.end_offset
        ]
        if not segments or not found.cleanable_bytes:
            return None
        # The active segment's name tells where the log ends once the batches before it are gone.
        if not self._active.is_created:
            self._create_active()
        with self._translated():
            job = clean_job(
                self.path,
                topic=self.topic,
                partition=self.partition,
                segments=segments,
                found=found,
                config=self.config,
                limits=limits,
                producers=self._producers.last_batches(),
                aborted=self.aborted_transactions(segments[0].base_offset, found.end_offset),
                secret=self._volume.rng.randbytes(SECRET_BYTES),
                now_ms=now_ms,
            )
        self._cleaning = Cleaning(job)
        return job

    def begin_swap(self, job: CleanJob, result: CleanResult) -> SwapJob | None:
        """The job's work is done: what decides the swap, to be run on any thread.

        None when the log has changed in a way that the result does not fit; discard it then.
        """
        self._check_online()
        cleaning = self._cleaning
        if cleaning is None or cleaning.job is not job or not self.config.cleanup_compact:
            return None
        return cleaning.begin_swap(
            self._volume.fs, result, first_base_offset=self._segments[0].base_offset
        )

    def switch(self, job: SwapJob, *, count_max: int | None = None) -> bool:
        """Put up to *count_max* cleaned segments in their place; True when none is left.

        The swap has run; ``complete`` it then, and tell end_clean(). Reads that are under way go
        on in the old files.
        """
        cleaning = self._cleaning
        if cleaning is None or cleaning.swap is not job:
            return True
        self._check_online()
        with self._translated():
            for place, cleaned in cleaning.pending[:count_max]:
                self._replace(place, cleaned)
        del cleaning.pending[:count_max]
        return not cleaning.pending

    def end_clean(self, job: CleanJob, clean_until_offset: int | None) -> None:
        """The job has ended, one way or the other; with an offset so far the log is clean."""
        if self._cleaning is not None and self._cleaning.job is job:
            self._cleaning = None
            if clean_until_offset is not None:
                self.cleaned_offset = clean_until_offset

    # The end, and the checks

    def close(self) -> None:
        """Flush, write the active indexes and the producer snapshot; the log is used no more.

        Blocks. Raises DiskFull.
        """
        self.write()
        self._end_cleaning()
        with self._translated():
            if self._active.is_active and self._active.is_created:
                self._active.seal()
                self._unsaved.append(self._active)
            if (self._snapshots.newest_offset or self.first_base_offset) < self.log_end_offset:
                self._snapshots.queue(self.log_end_offset, self._producers.encode_snapshot())
        self._save_sealed()
        self.flush()

    def retire(self) -> None:
        """The directory has been renamed: no file of this log is opened any more."""
        self._unwritten, self._unsaved, self.doomed = [], [], []
        self._unflushed = Unflushed(self._volume, self.path, is_new=False)
        self._cleaning = None
        self._snapshots.clear()
        for segment in self._segments:
            for path in segment.paths:
                self._volume.forget(path)

    def take_epochs(self) -> bytes | None:
        """The content of the epochs' file when it is stale; who takes it writes it."""
        if not self.epochs_changed:
            return None
        self.epochs_changed = False
        return encode_epochs(self._epochs.entries)

    def take_replaced(self) -> list[str]:
        """Files that a compaction put aside since the last call; who takes them removes them."""
        replaced, self._replaced = self._replaced, []
        return replaced

    def take_doomed(self) -> list[Segment]:
        """Segments whose files may go now that the log start is durable; they are the caller's."""
        doomed, self.doomed = self.doomed, []
        return doomed

    def check(self) -> None:
        """Assert the invariants; simulation calls it after every event."""
        assert self.log_start_offset <= self.log_end_offset, self
        assert self.flushed_offset <= self.written_offset <= self.log_end_offset, self
        assert self._active is self._segments[-1], self
        bases = [segment.base_offset for segment in self._segments]
        assert bases == sorted(set(bases)), self
        assert bases[-1] <= self.log_end_offset, self
        assert bases[0] <= self.log_start_offset, self
        assert self.cleaned_offset is None or self.cleaned_offset <= self.log_end_offset, self
        pending = sum(len(view) for segment in self._segments for view in segment.pending)
        assert pending == self.pending_bytes, self
        assert (pending == 0) == (self.written_offset == self.log_end_offset), self
        for segment in self._segments:
            segment.check()
        self._producers.check_invariants()

    def _known(self, duplicate: Duplicate) -> Appended:
        is_append_time = self.config.message_timestamp_type == "LogAppendTime"
        return Appended(
            duplicate.base_offset,
            duplicate.last_offset,
            duplicate.timestamp_ms if is_append_time else NO_TIMESTAMP,
            duplicate=True,
        )

    def _ready_segment(self, batch: Batch, last_offset: int, now_ms: int) -> Segment:
        """The segment that takes the batch, a new one if it must be."""
        segment = self._active
        if not segment.is_active:
            with self._translated():
                self._activate()
        if batch.size_bytes > self.config.segment_bytes:
            raise ApiError(
                ErrorCode.RECORD_LIST_TOO_LARGE,
                f"the batch takes {batch.size_bytes} bytes, a segment of {self.topic} at most "
                f"{self.config.segment_bytes} (segment.bytes)",
            )
        if segment.must_roll(batch, last_offset, self.config, now_ms):
            return self._begin_segment(now_ms)
        return segment

    def _queue(self, segment: Segment, batch: Batch, last_offset: int, now_ms: int) -> None:
        leader_epoch = batch.partition_leader_epoch
        if leader_epoch != self._latest_epoch and leader_epoch >= 0:
            self._epochs.assign(leader_epoch, batch.base_offset)
            self._latest_epoch = leader_epoch
            self.epochs_changed = True
        if not segment.pending:
            self._unwritten.append(segment)
        segment.append(batch, last_offset)
        self.log_end_offset = last_offset + 1
        self.pending_bytes += batch.size_bytes
        if batch.producer_id >= 0:
            ended = self._producers.update(batch, now_ms=now_ms)
            if ended is not None and ended.is_aborted:
                segment.transactions.append(ended.index_entry())

    def _check_may_append(self, size_bytes: int) -> None:
        self._check_online()
        if self._damage is not None:
            raise self._damage
        if self._disk_was_full:
            with self._translated():
                free_bytes = self._volume.fs.free_bytes(self.path)
            if free_bytes < size_bytes + SPACE_TO_RESUME_BYTES:
                raise DiskFull(self.path)
            self._disk_was_full = False

    def _activate(self) -> None:
        if not self._active.is_active:
            end_offset = self._active.activate()
            assert end_offset == self.log_end_offset, (self, end_offset)

    def _begin_segment(self, now_ms: int) -> Segment:
        self._active.seal()
        self._unsaved.append(self._active)
        self._snapshots.queue(self.log_end_offset, self._producers.encode_snapshot())
        self._active = self._new_segment(self.log_end_offset, now_ms)
        self._segments.append(self._active)
        return self._active

    def _new_segment(self, base_offset: int, now_ms: int) -> Segment:
        return Segment(
            self._volume,
            self.path,
            base_offset,
            created_ms=now_ms,
            interval_bytes=self.config.index_interval_bytes,
            roll_jitter_ms=self._jitter_ms(),
        )

    def _jitter_ms(self) -> int:
        jitter_ms = min(self.config.segment_jitter_ms, self.config.segment_ms)
        return self._volume.rng.randrange(0, jitter_ms) if jitter_ms > 0 else 0

    def _drop_queue(self) -> None:
        """Be as the files are: what no space was found for never was."""
        failed = self._unwritten[0]
        index = self._segments.index(failed)
        later = self._segments[index + 1 :]
        with self._translated():
            failed.drop_pending(self.written_offset)
            del self._segments[index + 1 :]
            self._active = failed
            self._unsaved = [segment for segment in self._unsaved if segment not in later]
            self._unsaved = [segment for segment in self._unsaved if segment is not failed]
            self._unwritten = []
            self.pending_bytes = 0
            self.log_end_offset = self.written_offset
            self._restore_derived()
        self._disk_was_full = True

    def _save_sealed(self) -> None:
        """Write what a roll leaves behind: caches, so a full disk only postpones it."""
        try:
            while self._unsaved:
                segment = self._unsaved[0]
                self._unflushed.indexed(segment, segment.save_indexes())
                self._unflushed.named()
                if segment is not self._active:
                    segment.unload()
                del self._unsaved[0]
            self._snapshots.save({segment.base_offset for segment in self._segments})
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise self._volume.fail(error) from error

    def _create_active(self) -> None:
        self._unflushed.named()
        try:
            self._active.create()
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise self._volume.fail(error) from error
            raise DiskFull(self.path) from error

    def _segments_from(self, offset: int) -> Iterator[Segment]:
        if offset >= self._active.base_offset:
            yield self._active
        else:
            first = max(bisect_right(self._segments, offset, key=_base_offset) - 1, 0)
            yield from self._segments[first:]

    def _facts(self) -> list[SegmentFacts]:
        ends = [segment.base_offset for segment in self._segments[1:]] + [self.log_end_offset]
        return [
            SegmentFacts(
                end_offset=end_offset,
                size_bytes=segment.size_bytes,
                timestamp_ms_max=segment.newest().timestamp_ms if segment.size_bytes else -1,
            )
            for segment, end_offset in zip(self._segments, ends, strict=True)
        ]

    def _doom(self, count: int, reason: str) -> list[Note]:
        doomed = self._segments[:count]
        if not doomed:
            return []
        # The file that stays must exist before others go: its name tells where the log begins.
        if not self._active.is_created:
            self._create_active()
        del self._segments[:count]
        self._unflushed.forget(doomed)
        self._unsaved = [segment for segment in self._unsaved if segment not in doomed]
        for segment in doomed:
            for path in segment.paths:
                self._volume.forget(path)
        self.doomed += doomed
        return [
            Note(
                event="segment_deleted",
                path=segment.log_path,
                facts={
                    "base_offset": segment.base_offset,
                    "bytes": segment.size_bytes,
                    "reason": reason,
                },
            )
            for segment in doomed
        ]

    def _replace(self, place: Replacement, cleaned: CleanedSegment) -> None:
        first = bisect_left(self._segments, place.base_offset, key=_base_offset)
        end = bisect_left(self._segments, place.end_offset, key=_base_offset)
        old = self._segments[first:end]
        for segment in old:
            for path in segment.paths:
                self._volume.forget(path)
        self._replaced += swap.switch(
            self._volume.fs,
            self.path,
            [segment.base_offset for segment in old],
            place.base_offset,
        )
        segment = Segment(
            self._volume,
            self.path,
            place.base_offset,
            created_ms=self._volume.clock.now_ms(),
            interval_bytes=self.config.index_interval_bytes,
            size_bytes=cleaned.size_bytes,
        )
        segment.unload()
        self._segments[first:end] = [segment]

    def _end_cleaning(self) -> None:
        """Have a job that is under way end here and now: the log is about to change or to close.

        A swap that is decided is carried out, since the next start would do so; any other result
        comes too late.
        """
        cleaning = self._cleaning
        if cleaning is not None and cleaning.swap is not None and cleaning.swap.settle():
            self.switch(cleaning.swap)
            with self._translated():
                swap.complete(self._volume.fs, self.path)
        self._cleaning = None

    def _ends_at(self, offset: int) -> None:
        self._unwritten, self.pending_bytes = [], 0
        if self.cleaned_offset is not None:
            self.cleaned_offset = min(self.cleaned_offset, offset)
        self._unsaved = [segment for segment in self._unsaved if segment in self._segments[:-1]]
        self.log_end_offset = self.written_offset = offset
        self.flushed_offset = min(self.flushed_offset, offset)
        self._restore_derived()

    def _restore_derived(self) -> None:
        """Epochs and producers again say what the log up to its new end says."""
        end_offset = self.log_end_offset
        self.epochs_changed |= self._epochs.truncate_from_end(end_offset)
        latest = self._epochs.latest_epoch
        self._latest_epoch = NO_LEADER_EPOCH if latest is None else latest
        self._snapshots.forget_above(end_offset)
        self._producers = self._snapshots.restore(
            self._segments,
            end_offset=end_offset,
            expiration_ms=self.config.producer_id_expiration_ms,
        )

    def _remove(self, segments: list[Segment]) -> None:
        for segment in reversed(segments):
            for path in reversed(segment.paths):
                self._volume.forget(path)
                self._volume.fs.remove(path)

    def _check_online(self) -> None:
        if self._volume.failure is not None:
            raise self._volume.failure

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """A failed file operation takes the directory offline."""
        try:
            yield
        except OSError as error:
            raise self._volume.fail(error) from error

    def _bound(self, segment: Segment, end_position: int) -> int:
        """An offset that no batch of the segment before *end_position* reaches, and a near one."""
        bound = segment.offset_bound(end_position)
        if bound is not None:
            return bound
        following = bisect_right(self._segments, segment.base_offset, key=_base_offset)
        return (
            self._segments[following].base_offset
            if following < len(self._segments)
            else self.log_end_offset
        )

    def _out_of_range(self, offset: int) -> ApiError:
        if self._damage is not None and offset >= self._damage.offset:
            return self._damage
        return OffsetOutOfRange(
            offset=offset, start_offset=self.log_start_offset, end_offset=self.log_end_offset
        )


def _whole_batches(records: Buffer) -> list[Batch]:
    batches = scan(records, verify_crc=True)
    try:
        found = list(batches)
    except CorruptBatch as error:
        raise ApiError(ErrorCode.CORRUPT_MESSAGE, str(error)) from error
    if batches.is_cut or not found:
        raise ApiError(ErrorCode.CORRUPT_MESSAGE, "the last batch is not whole")
    return found


def _check_place(batch: Batch, expected: int, *, may_leave_gaps: bool) -> None:
    is_there = batch.base_offset == expected or (may_leave_gaps and batch.base_offset > expected)
    if not is_there or batch.last_offset_delta < 0:
        raise ApiError(
            ErrorCode.CORRUPT_MESSAGE,
            f"a batch takes offsets {batch.base_offset} to {batch.last_offset}, "
            f"the next one here is {expected}",
        )


def _empty(offset: int) -> LogSlice:
    return LogSlice(None, position=0, size_bytes=0, base_offset=offset, end_offset=offset)


def _base_offset(segment: Segment) -> int:
    return segment.base_offset
