"""One partition's log: appended to in memory, written once per turn, flushed by group commit.

A batch's way: ``append_as_leader`` gives it offsets and queues its bytes, ``write`` puts what is
queued into the file, from when on it can be read, and a FlushJob run elsewhere makes it durable.
The log never waits for a disk between; who acknowledges what, and when, is the caller's affair.
"""

from bisect import bisect_right
from typing import Final, NamedTuple, final

from ..kernel.errors import ApiError, ErrorCode
from ..kernel.ids import NO_LEADER_EPOCH, NO_TIMESTAMP
from ..kernel.ports import Buffer
from ..records.batch import Batch, CorruptBatch, patch, scan, set_log_append_time
from . import compacting, expiry, truncation
from .cleanable import Dirtiness
from .cleaning import CleanLimits
from .compaction.job import CleanJob, CleanResult
from .config import LogConfig
from .epochs import encode_epochs
from .errors import DiskFull
from .flush import FlushJob, Unflushed
from .lookup import RecordTime, find_by_timestamp, find_newest
from .notes import Note
from .producers import ActiveProducer, Duplicate
from .segment import Segment
from .slices import LogSlice
from .state import LogState, base_offset_of
from .swap import SwapJob

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
class PartitionLog(LogState):
    """One owner, the event loop; not thread safe.

    Invariants: log_start <= log_end; flushed <= written <= log_end; segments follow each other, the
    last one is active and its base at most log_end; what is between written and log_end is queued.
    Any method raises LogDirectoryFailed when a file operation fails, and from then on.
    """

    def configure(self, config: LogConfig) -> None:
        """Behave by *config* from now on; the index interval counts from the next segment on."""
        self.config = config
        self.producers.expiration_ms = config.producer_id_expiration_ms

    # Appending

    def append_as_leader(self, batch: Batch, *, leader_epoch: int, now_ms: int) -> Appended:
        """Give a validated batch its offsets and queue it; write() puts it into the file.

        The batch is patched in place and its memory kept until write(): the caller gives it away.
        Raises ApiError when the producer state refuses it, when it is larger than a segment, and
        while the disk is full or the directory is offline; the log is then unchanged.
        """
        if self.volume.failure is not None or self.damage is not None or self.disk_was_full:
            self._check_may_append(batch.size_bytes)
        if batch.producer_id >= 0 and not batch.is_control:
            verdict = self.producers.check(batch)
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
            raise self.out_of_range(start_offset)
        end_offset = min(end_offset, self.written_offset)
        if self.damage is not None:
            if start_offset >= self.damage.offset:
                raise self.damage
            end_offset = min(end_offset, self.damage.offset)
        if start_offset >= end_offset or (bytes_max <= 0 and not at_least_one):
            return _empty(start_offset)
        try:
            for segment in self.segments_from(start_offset):
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
            raise self.volume.fail(error) from error
        return _empty(start_offset)

    def offset_for_timestamp(self, timestamp_ms: int, *, end_offset: int) -> RecordTime | None:
        """(timestamp, offset, leader epoch) of the first record not older than *timestamp_ms*.

        None when there is none below *end_offset*.
        """
        with self.translated():
            return find_by_timestamp(
                self.segments,
                timestamp_ms,
                start_offset=self.log_start_offset,
                end_offset=min(end_offset, self.written_offset),
            )

    def max_timestamp_offset(self, *, end_offset: int) -> RecordTime | None:
        """(timestamp, offset, leader epoch) of the highest timestamp's first record."""
        with self.translated():
            return find_newest(
                self.segments,
                start_offset=self.log_start_offset,
                end_offset=min(end_offset, self.written_offset),
            )

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """The largest epoch not above *epoch* and where it ends; (-1, -1) when unknown."""
        return self.epochs.end_offset_for(epoch, log_end_offset=self.log_end_offset)

    def epoch_at(self, offset: int) -> int:
        """Leader epoch under which *offset* was, or would be, written; -1 when unknown."""
        epoch = self.epochs.epoch_for_offset(offset)
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
        self.producers.check_marker(
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            coordinator_epoch=coordinator_epoch,
            transaction_version=transaction_version,
        )

    def knows_producer(self, producer_id: int) -> bool:
        """The log remembers the producer's last batch or marker."""
        return self.producers.knows(producer_id)

    def late_transactions(self, *, since_ms: int) -> int:
        """How many open transactions have had no record since then: some may never end."""
        return self.producers.late_transactions(since_ms=since_ms)

    def has_open_transaction(self, producer_id: int, producer_epoch: int) -> bool:
        """The producer has records of an undecided transaction here, of that epoch."""
        return self.producers.has_open_transaction(producer_id, producer_epoch)

    def active_producers(self) -> list[ActiveProducer]:
        """Every producer the log remembers, in order of producer id."""
        return self.producers.active()

    # Retention and truncation

    def raise_log_start(self, offset: int) -> list[Note]:
        """Hide everything below *offset*; whole segments below it go with the next checkpoint.

        Raises OffsetOutOfRange above the log end offset; lower than now changes nothing.
        """
        return expiry.raise_log_start(self, offset)

    def delete_expired(self, *, now_ms: int, high_watermark: int) -> list[Note]:
        """Raise the log start over segments that retention no longer keeps.

        Their files go once a checkpoint of the directory has made the new log start durable. When
        the active segment's turn has come too, a new one is begun. Raises DiskFull.
        """
        return expiry.delete_expired(self, now_ms=now_ms, high_watermark=high_watermark)

    def expire_producers(self, now_ms: int) -> None:
        """Forget producers that have been silent for ``producer.id.expiration.ms``."""
        self.producers.remove_expired(now_ms)

    def truncate_to(self, offset: int) -> None:
        """Remove everything at and above *offset*, or at and above its batch's first record.

        Not durable before the next flush; checkpoint then, or a crash takes it for a loss.
        """
        truncation.truncate_to(self, offset)

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Remove everything; the next record gets *offset*. Durable when it returns; blocks."""
        truncation.truncate_fully_and_start_at(self, offset)

    # Compaction

    def fits(self, job: CleanJob) -> bool:
        """The job is under way, and all that it is about is still there."""
        return compacting.fits(self, job)

    def dirtiness(self, *, high_watermark: int, now_ms: int) -> Dirtiness | None:
        """How much could be compacted now; None when nothing, or when the topic is not compacted.

        What is not flushed yet does not count.
        """
        return compacting.dirtiness(self, high_watermark=high_watermark, now_ms=now_ms)

    def begin_clean(self, found: Dirtiness, limits: CleanLimits, *, now_ms: int) -> CleanJob | None:
        """What ``compaction.cleaner`` needs to clean what dirtiness() found; None for nothing.

        The directory must be checkpointed between this and begin_swap(): recovery takes gaps
        beyond the recovery point *on disk* for losses. Raises DiskFull.
        """
        return compacting.begin_clean(self, found, limits, now_ms=now_ms)

    def begin_swap(self, job: CleanJob, result: CleanResult) -> SwapJob | None:
        """The job's work is done: what decides the swap, to be run on any thread.

        None when the log has changed in a way that the result does not fit; discard it then.
        """
        return compacting.begin_swap(self, job, result)

    def switch(self, job: SwapJob, *, count_max: int | None = None) -> bool:
        """Put up to *count_max* cleaned segments in their place; True when none is left.

        The swap has run; ``complete`` it then, and tell end_clean(). Reads that are under way go
        on in the old files.
        """
        return compacting.switch(self, job, count_max=count_max)

    def end_clean(self, job: CleanJob, clean_until_offset: int | None) -> None:
        """The job has ended, one way or the other; with an offset so far the log is clean."""
        compacting.end_clean(self, job, clean_until_offset)

    # The end, and the checks

    def close(self) -> None:
        """Flush, write the active indexes and the producer snapshot; the log is used no more.

        Blocks. Raises DiskFull.
        """
        self.write()
        compacting.end_cleaning(self)
        with self.translated():
            if self.active.is_active and self.active.is_created:
                self.active.seal()
                self.unsaved.append(self.active)
            if (self.snapshots.newest_offset or self.first_base_offset) < self.log_end_offset:
                self.snapshots.queue(self.log_end_offset, self.producers.encode_snapshot())
        self.save_sealed()
        self.flush()

    def retire(self) -> None:
        """The directory has been renamed: no file of this log is opened any more."""
        self.unwritten, self.unsaved, self.doomed = [], [], []
        self.unflushed = Unflushed(self.volume, self.path, is_new=False)
        self.cleaning = None
        self.snapshots.clear()
        for segment in self.segments:
            for path in segment.paths:
                self.volume.forget(path)

    def take_epochs(self) -> bytes | None:
        """The content of the epochs' file when it is stale; who takes it writes it."""
        if not self.epochs_changed:
            return None
        self.epochs_changed = False
        return encode_epochs(self.epochs.entries)

    def take_replaced(self) -> list[str]:
        """Files that a compaction put aside since the last call; who takes them removes them."""
        replaced, self.replaced = self.replaced, []
        return replaced

    def take_doomed(self) -> list[Segment]:
        """Segments whose files may go now that the log start is durable; they are the caller's."""
        doomed, self.doomed = self.doomed, []
        return doomed

    def check(self) -> None:
        """Assert the invariants; simulation calls it after every event."""
        assert self.log_start_offset <= self.log_end_offset, self
        assert self.flushed_offset <= self.written_offset <= self.log_end_offset, self
        assert self.active is self.segments[-1], self
        bases = [segment.base_offset for segment in self.segments]
        assert bases == sorted(set(bases)), self
        assert bases[-1] <= self.log_end_offset, self
        assert bases[0] <= self.log_start_offset, self
        assert self.cleaned_offset is None or self.cleaned_offset <= self.log_end_offset, self
        pending = sum(len(view) for segment in self.segments for view in segment.pending)
        assert pending == self.pending_bytes, self
        assert (pending == 0) == (self.written_offset == self.log_end_offset), self
        for segment in self.segments:
            segment.check()
        self.producers.check_invariants()

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
        segment = self.active
        if not segment.is_active:
            with self.translated():
                self.activate()
        if batch.size_bytes > self.config.segment_bytes:
            raise ApiError(
                ErrorCode.RECORD_LIST_TOO_LARGE,
                f"the batch takes {batch.size_bytes} bytes, a segment of {self.topic} at most "
                f"{self.config.segment_bytes} (segment.bytes)",
            )
        if segment.must_roll(batch, last_offset, self.config, now_ms):
            return self.begin_segment(now_ms)
        return segment

    def _queue(self, segment: Segment, batch: Batch, last_offset: int, now_ms: int) -> None:
        leader_epoch = batch.partition_leader_epoch
        if leader_epoch != self.latest_epoch and leader_epoch >= 0:
            self.epochs.assign(leader_epoch, batch.base_offset)
            self.latest_epoch = leader_epoch
            self.epochs_changed = True
        if not segment.pending:
            self.unwritten.append(segment)
        segment.append(batch, last_offset)
        self.log_end_offset = last_offset + 1
        self.pending_bytes += batch.size_bytes
        if batch.producer_id >= 0:
            ended = self.producers.update(batch, now_ms=now_ms)
            if ended is not None and ended.is_aborted:
                segment.transactions.append(ended.index_entry())

    def _check_may_append(self, size_bytes: int) -> None:
        self.check_online()
        if self.damage is not None:
            raise self.damage
        if self.disk_was_full:
            with self.translated():
                free_bytes = self.volume.fs.free_bytes(self.path)
            if free_bytes < size_bytes + SPACE_TO_RESUME_BYTES:
                raise DiskFull(self.path)
            self.disk_was_full = False

    def _bound(self, segment: Segment, end_position: int) -> int:
        """An offset that no batch of the segment before *end_position* reaches, and a near one."""
        bound = segment.offset_bound(end_position)
        if bound is not None:
            return bound
        following = bisect_right(self.segments, segment.base_offset, key=base_offset_of)
        return (
            self.segments[following].base_offset
            if following < len(self.segments)
            else self.log_end_offset
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
