"""Opening a partition's directory: what it holds, and after a crash, what of that can be trusted.

After a clean stop only the last segment's end is read. Otherwise every segment from the recovery
point's on is read whole: checksums, sizes and offsets. What fails beyond the recovery point is the
torn tail of a crash; it and all behind it is cut, and a note says so. What fails *below* it had
been on disk and is damage: nothing is cut, a batch that only fails its checksum stays where it is
for consumers to see, and a log whose batches cannot even be told apart takes no more appends.
Indexes, producers, epochs and aborted transactions of what was read are built anew on the way.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple, final

from ..kernel.ports import File
from ..records.batch import Batch, CorruptBatch
from . import names, swap
from .aborted import AbortedTransaction
from .config import LogConfig
from .epochs import EpochEntry, EpochFileCorrupt, LeaderEpochs, decode_epochs
from .errors import LogDamaged
from .index import RELATIVE_OFFSET_MAX, OffsetIndex, SegmentIndexes, TimeIndex
from .notes import Note
from .producers import ProducerStates
from .scan import Found, walk_batches
from .segment import Segment
from .snapshots import ProducerSnapshots, replay
from .volume import Volume

WHOLE_LOG: Final = 0
REWRITE_BYTES: Final = 1024 * 1024


@dataclass(slots=True, kw_only=True)
class LoadedLog:
    """A partition's directory in memory, as PartitionLog takes it over."""

    segments: list[Segment]
    """Oldest first, never empty."""
    log_start_offset: int
    log_end_offset: int
    cleaned_offset: int | None
    """How far the last compaction came; None before the first."""
    epochs: LeaderEpochs
    epochs_changed: bool
    producers: ProducerStates
    snapshots: ProducerSnapshots
    damage: LogDamaged | None
    notes: list[Note] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the directory's checkpoints say of one log."""

    recovery_point: int | None
    """None when they say nothing: everything has to be looked at."""
    log_start_offset: int
    cleaned_offset: int | None
    """Compaction came so far: below it segments may lie with gaps between them."""
    is_cleaned_lost: bool = False
    """The checkpoint of compactions cannot be read: any gap may be one of theirs."""
    is_clean: bool
    """The last owner stopped cleanly: the log ends at the recovery point."""


def load_log(volume: Volume, path: str, *, config: LogConfig, known: Known) -> LoadedLog:
    """Open the partition directory at *path*. Raises OSError."""
    loading = _Loading(volume, path, config, known)
    loading.list_files()
    loading.read_epochs()
    if not (known.is_clean and loading.ends_cleanly()):
        loading.recover()
    return loading.finish()


def _base_offset(segment: Segment) -> int:
    return segment.base_offset


class _Stop(NamedTuple):
    """Where the batches of a segment end, and what is wrong there."""

    position: int
    next_offset: int
    fault: str | None


@final
class _Loading:
    """The work of load_log, step by step."""

    def __init__(self, volume: Volume, path: str, config: LogConfig, known: Known) -> None:
        self._volume = volume
        self._path = path
        self._config = config
        self._known = known
        self._notes: list[Note] = []
        self._segments: list[Segment] = []
        self._snapshots = ProducerSnapshots(volume, path)
        self._epochs: LeaderEpochs | None = None
        self._epochs_on_disk: list[EpochEntry] = []
        self._producers: ProducerStates | None = None
        self._end_offset = 0
        self._was_cut = False
        self._damage: LogDamaged | None = None
        self._now_ms = volume.clock.now_ms()

    def list_files(self) -> None:
        """Find segments and snapshots; remove what a crash left half done."""
        fs = self._volume.fs
        by_suffix: dict[str, list[int]] = {}
        found = fs.list(self._path)
        if (outcome := swap.recover(fs, self._path, found)) is not None:
            self._note("compaction_" + outcome)
            found = fs.list(self._path)
        for name in found:
            parsed = names.parse_offset_name(name)
            if name.endswith((names.DELETED, names.TEMPORARY)):
                fs.remove(f"{self._path}/{name}")
            elif parsed is not None:
                by_suffix.setdefault(parsed[1], []).append(parsed[0])
        bases = by_suffix.get(names.LOG, [])
        for suffix in names.SEGMENT_SUFFIXES[1:]:
            for orphan in set(by_suffix.get(suffix, ())) - set(bases):
                fs.remove(f"{self._path}/{names.offset_name(orphan, suffix)}")
        self._snapshots = ProducerSnapshots(
            self._volume, self._path, by_suffix.get(names.SNAPSHOT, ())
        )
        self._segments = [self._segment(base, is_there=True) for base in bases]
        if not self._segments:
            known = self._known
            start = max(known.log_start_offset, known.recovery_point or 0)
            if known.recovery_point:
                self._note("log_files_missing", severe=True, recovery_point=known.recovery_point)
            self._segments = [self._segment(start, is_there=False)]

    def read_epochs(self) -> None:
        """Read the leader epochs; without a sound file the batches have to tell them."""
        data = self._volume.read_all(f"{self._path}/{names.EPOCHS}")
        try:
            if data is not None:
                self._epochs_on_disk = decode_epochs(data)
                self._epochs = LeaderEpochs(self._epochs_on_disk)
        except EpochFileCorrupt as error:
            self._note("leader_epochs_unreadable", reason=error.reason)
        if not any(segment.size_bytes for segment in self._segments):
            self._epochs = self._epochs or LeaderEpochs()

    def ends_cleanly(self) -> bool:
        """The log ends where the clean stop said; nothing has to be recovered."""
        if self._epochs is None or self._known.recovery_point is None:
            return False
        last = self._segments[-1]
        try:
            self._end_offset = last.activate() if last.size_bytes else last.base_offset
            if self._end_offset != self._known.recovery_point:
                self._note(
                    "clean_stop_contradicted",
                    recovery_point=self._known.recovery_point,
                    log_end_offset=self._end_offset,
                )
                return False
            self._producers = self._read_producers(self._end_offset)
        except LogDamaged as error:
            self._note("clean_stop_contradicted", reason=error.reason)
            return False
        if last.size_bytes:
            last.unload()
        return True

    def recover(self) -> None:
        """Read every segment from the recovery point's on; cut the torn tail."""
        recovery_point = self._known.recovery_point or WHOLE_LOG
        first = max(bisect_right(self._segments, recovery_point, key=_base_offset) - 1, 0)
        if self._epochs is None:
            first, self._epochs = 0, LeaderEpochs()
        # Recovered snapshots would hold what a cut tail said.
        self._snapshots.forget_above(self._segments[first].base_offset)
        self._producers = self._producers_before(first)
        self._epochs.truncate_from_end(self._segments[first].base_offset)
        next_offset = self._end_offset = self._read_from(first, recovery_point)
        if next_offset < recovery_point and self._damage is None:
            self._note(
                "flushed_records_missing",
                severe=True,
                recovery_point=recovery_point,
                log_end_offset=next_offset,
            )
        if next_offset != recovery_point or self._was_cut or self._has_unsynced_files(first):
            self._sync_from(first)

    def finish(self) -> LoadedLog:
        """What was found, with the log start where the checkpoint and the files put it."""
        assert self._epochs is not None
        assert self._producers is not None
        start = max(self._known.log_start_offset, self._segments[0].base_offset)
        if start > self._end_offset:
            self._note(
                "log_start_beyond_end",
                severe=True,
                log_start_offset=start,
                log_end_offset=self._end_offset,
            )
            self._start_anew(start)
        self._epochs.truncate_from_end(self._end_offset)
        self._epochs.truncate_from_start(start)
        self._snapshots.forget_above(self._end_offset)
        return LoadedLog(
            segments=self._segments,
            log_start_offset=start,
            log_end_offset=self._end_offset,
            cleaned_offset=self._known.cleaned_offset,
            epochs=self._epochs,
            epochs_changed=self._epochs.entries != self._epochs_on_disk,
            producers=self._producers,
            snapshots=self._snapshots,
            damage=self._damage,
            notes=self._notes,
        )

    # Parts of the steps

    def _read_from(self, first: int, recovery_point: int) -> int:
        """Read the segments from *first* on; the offset after the last batch that stays."""
        next_offset = self._segments[first].base_offset
        for index, segment in enumerate(self._segments[first:], start=first):
            if segment.base_offset > next_offset >= recovery_point and self._is_torn(segment):
                # A later file's data can reach the disk before an earlier one's.
                self._cut_files(index, next_offset, "the records before it are missing")
                return next_offset
            stop = self._read_segment(segment, next_offset, recovery_point)
            next_offset = stop.next_offset
            if stop.fault is None:
                continue
            if next_offset >= recovery_point:
                self._cut(index, stop)
                return next_offset
            segment.hide_from(stop.position)
            self._damage = LogDamaged(
                f"{segment.log_path}, byte {stop.position}",
                offset=next_offset,
                reason=stop.fault,
            )
            self._note("log_damaged", severe=True, offset=next_offset, reason=stop.fault)
            return recovery_point
        return next_offset

    def _is_torn(self, segment: Segment) -> bool:
        """Whether a gap before the segment is a loss; compaction leaves such gaps too.

        Ours works below the recovery point. Kafka's need not, but says in its checkpoint how far.
        """
        known = self._known
        if known.is_cleaned_lost:
            return not self._config.cleanup_compact
        return known.cleaned_offset is None or segment.base_offset > known.cleaned_offset

    def _segment(self, base_offset: int, *, is_there: bool) -> Segment:
        path = f"{self._path}/{names.offset_name(base_offset, names.LOG)}"
        return Segment(
            self._volume,
            self._path,
            base_offset,
            created_ms=self._now_ms,
            interval_bytes=self._config.index_interval_bytes,
            size_bytes=self._volume.fs.size(path) if is_there else None,
        )

    def _read_producers(self, end_offset: int) -> ProducerStates:
        return self._snapshots.restore(
            self._segments,
            end_offset=end_offset,
            expiration_ms=self._config.producer_id_expiration_ms,
            refused=lambda offset, reason: self._note(
                "producer_snapshot_unreadable", offset=offset, reason=reason
            ),
        )

    def _producers_before(self, first: int) -> ProducerStates:
        try:
            return self._read_producers(self._segments[first].base_offset)
        except LogDamaged as error:
            self._damage = error
            self._note("log_damaged", severe=True, offset=error.offset, reason=error.reason)
            return ProducerStates(expiration_ms=self._config.producer_id_expiration_ms)

    def _read_segment(self, segment: Segment, next_offset: int, recovery_point: int) -> _Stop:
        """Read one segment's batches and build from them what is derived."""
        assert self._epochs is not None
        assert self._producers is not None
        indexes = SegmentIndexes(
            OffsetIndex(segment.base_offset),
            TimeIndex(segment.base_offset),
            interval_bytes=self._config.index_interval_bytes,
        )
        aborted: list[AbortedTransaction] = []
        position, fault = 0, None
        try:
            for found in _batches_of(segment):
                batch = found.batch
                fault = _offset_fault(segment, batch, next_offset)
                if fault is not None:
                    break
                fault = found.fault
                if fault is not None and next_offset >= recovery_point:
                    break
                if fault is not None:
                    self._note("batch_damaged", severe=True, offset=next_offset, reason=fault)
                else:
                    ended = replay(self._producers, segment, found, now_ms=self._now_ms)
                    if ended is not None and ended.is_aborted:
                        aborted.append(ended.index_entry())
                fault = None
                if batch.partition_leader_epoch >= 0:
                    self._epochs.assign(batch.partition_leader_epoch, batch.base_offset)
                indexes.add(batch, batch.last_offset, found.position)
                next_offset, position = batch.next_offset, found.end_position
        except CorruptBatch as error:
            fault = error.reason
        segment.adopt(indexes)
        segment.transactions.reset(aborted)
        is_last = segment is self._segments[-1]
        if fault is None and not is_last:
            segment.seal()
            for file in segment.save_indexes():
                file.sync()
            segment.unload()
        return _Stop(position, max(next_offset, segment.base_offset), fault)

    def _cut(self, index: int, stop: _Stop) -> None:
        """Remove the tail that the crash tore, from within a segment on."""
        segment = self._segments[index]
        self._cut_files(index + 1, stop.next_offset, stop.fault or "")
        self._note(
            "log_tail_truncated",
            offset=stop.next_offset,
            position=stop.position,
            bytes=segment.size_bytes - stop.position,
            reason=stop.fault or "",
        )
        segment.cut_file(stop.position)

    def _cut_files(self, index: int, next_offset: int, reason: str) -> None:
        """Remove the segments from *index* on, the newest first, so that no hole can appear."""
        cut = self._segments[index:]
        del self._segments[index:]
        self._was_cut = True
        for segment in reversed(cut):
            self._remove(segment)
            self._note(
                "torn_segment_removed",
                offset=next_offset,
                base_offset=segment.base_offset,
                bytes=segment.size_bytes,
                reason=reason,
            )

    def _has_unsynced_files(self, first: int) -> bool:
        """Though no record was found behind the recovery point, a file may not be on disk.

        That is one that a roll made and that got no record, which is written to without a thought
        of its name, and a list of aborted transactions, which has just been written anew.
        """
        return not self._segments[-1].size_bytes or any(
            segment.transactions.entries for segment in self._segments[first:]
        )

    def _sync_from(self, first: int) -> None:
        """What we call recovered is on disk, though a kill left it in the page cache only.

        Written again it is synced for sure. After a failed sync the system takes the pages for
        written: they read well, the next sync has nothing to do, and a power loss takes them.
        """
        recovery_point = self._known.recovery_point or WHOLE_LOG
        for segment in self._segments[first:]:
            if segment.is_created:
                located = segment.locate(recovery_point)
                if located is not None:
                    _rewrite(segment.file(), located.position, segment.size_bytes)
                segment.file().sync()
            transactions = segment.transactions.file()
            if transactions is not None:
                transactions.sync()
        self._volume.fs.sync_directory(self._path)

    def _start_anew(self, offset: int) -> None:
        old, self._segments = self._segments, [self._segment(offset, is_there=False)]
        self._segments[0].create()
        self._volume.fs.sync_directory(self._path)
        for segment in old:
            self._remove(segment)
        self._snapshots.forget_above(-1)
        self._producers = ProducerStates(expiration_ms=self._config.producer_id_expiration_ms)
        self._epochs = LeaderEpochs()
        self._end_offset = offset

    def _remove(self, segment: Segment) -> None:
        for path in reversed(segment.paths):
            self._volume.forget(path)
            self._volume.fs.remove(path)

    def _note(self, event: str, *, severe: bool = False, **facts: int | str) -> None:
        self._notes.append(Note(event=event, path=self._path, facts=facts, severe=severe))


def _rewrite(file: File, start: int, end: int) -> None:
    for position in range(start, end, REWRITE_BYTES):
        file.write_at([file.read_at(min(REWRITE_BYTES, end - position), position)], position)


def _batches_of(segment: Segment) -> Iterator[Found]:
    if segment.size_bytes:  # an empty one may not have its file yet
        yield from walk_batches(segment.file(), 0, segment.size_bytes)


def _offset_fault(segment: Segment, batch: Batch, next_offset: int) -> str | None:
    if batch.base_offset < max(next_offset, segment.base_offset):
        return f"its base offset is {batch.base_offset}, the batch before it ended at {next_offset}"
    if not 0 <= batch.last_offset_delta <= RELATIVE_OFFSET_MAX:
        return f"its last offset delta is {batch.last_offset_delta}"
    if batch.last_offset - segment.base_offset > RELATIVE_OFFSET_MAX:
        return f"its last offset {batch.last_offset} is too far from the segment's base"
    return None
