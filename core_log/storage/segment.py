"""One segment of a log: a file of batches, and sparse indexes to find one by offset and time.

A segment is *active* while batches are appended: its indexes grow in memory and reach their files
when a roll seals it, or on a clean stop. A sealed segment's indexes are loaded when somebody asks,
through the volume's cache. They are caches, not truth: one that is missing, makes no sense or is
caught lying is built anew from the batches.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from typing import NamedTuple, final

from ..kernel.ids import NO_TIMESTAMP
from ..kernel.ports import Buffer, File
from ..records.batch import Batch, CorruptBatch
from . import names
from .config import LogConfig
from .errors import LogDamaged
from .index import (
    RELATIVE_OFFSET_MAX,
    OffsetIndex,
    RecentBatches,
    SegmentIndexes,
    TimeIndex,
    TimestampOffset,
)
from .scan import LOOKUP_WINDOW_BYTES, WALK_WINDOW_BYTES, Found, walk_headers
from .transactions import TransactionIndex
from .volume import INDEX_OVERHEAD_BYTES, NO_SPACE, Volume


class Located(NamedTuple):
    """A written batch."""

    base_offset: int
    position: int
    end_position: int


@final
class Segment:
    """Positions and sizes are bytes of the ``.log`` file. Any method may raise OSError.

    Invariants: ``written_bytes`` and what is pending make ``size_bytes``; the indexes of an active
    segment describe all of it; the file exists once ``is_created``.
    """

    __slots__ = (
        "_first_timestamp_ms",
        "_indexes",
        "_recent",
        "_stem",
        "_volume",
        "base_offset",
        "created_ms",
        "interval_bytes",
        "is_created",
        "pending",
        "roll_jitter_ms",
        "size_bytes",
        "transactions",
        "written_bytes",
    )

    def __init__(
        self,
        volume: Volume,
        directory: str,
        base_offset: int,
        *,
        created_ms: int,
        interval_bytes: int,
        roll_jitter_ms: int = 0,
        size_bytes: int | None = None,
    ) -> None:
        """The segment in a file of *size_bytes*; None for a new one, whose file write() makes."""
        self._volume = volume
        self._stem = f"{directory}/{names.offset_name(base_offset, '')}"
        self.base_offset = base_offset
        self.created_ms = created_ms
        self.interval_bytes = interval_bytes
        self.roll_jitter_ms = roll_jitter_ms
        self.is_created = size_bytes is not None
        self.size_bytes = self.written_bytes = size_bytes or 0
        self.pending: list[Buffer] = []
        self.transactions = TransactionIndex(
            volume, self._stem + names.TRANSACTION_INDEX, is_new=not size_bytes
        )
        self._first_timestamp_ms: int | None = None  # None: not looked up yet
        self._indexes: SegmentIndexes | None = None
        self._recent: RecentBatches | None = None
        if not size_bytes:
            self._indexes = self._empty_indexes()

    def __repr__(self) -> str:
        return f"<Segment {self._stem} {self.written_bytes} of {self.size_bytes} bytes written>"

    @property
    def log_path(self) -> str:
        return self._stem + names.LOG

    @property
    def paths(self) -> list[str]:
        """Files that belong to the segment, whether they exist or not; the batches first."""
        return [self._stem + suffix for suffix in names.SEGMENT_SUFFIXES]

    @property
    def is_active(self) -> bool:
        """Batches may be appended."""
        return self._indexes is not None

    # Appending

    def must_roll(self, batch: Batch, last_offset: int, config: LogConfig, now_ms: int) -> bool:
        """Whether *batch* belongs into a new segment: by size, time, full indexes, far offset."""
        assert self._indexes is not None
        if last_offset - self.base_offset > RELATIVE_OFFSET_MAX:
            return True
        if not self.size_bytes:
            return False
        return (
            self.size_bytes > config.segment_bytes - batch.size_bytes
            or self.waited_ms(batch.max_timestamp, now_ms) > config.segment_ms - self.roll_jitter_ms
            or self._indexes.is_full(config.segment_index_bytes)
        )

    def waited_ms(self, timestamp_ms: int, now_ms: int) -> int:
        """The segment's age: by its records' timestamps, or by the clock when they have none."""
        first = self.first_timestamp_ms()
        return timestamp_ms - first if first >= 0 else now_ms - self.created_ms

    def append(self, batch: Batch, last_offset: int) -> None:
        """Queue a batch that has its offsets; write() puts it into the file."""
        position = self.size_bytes
        end_position = position + batch.size_bytes
        recent = self._recent
        if recent is None:
            recent = self._recent = RecentBatches()
        recent.add(batch.base_offset, last_offset + 1, position, end_position)
        if not position:
            self._first_timestamp_ms = batch.max_timestamp
        assert self._indexes is not None
        self._indexes.add(batch, last_offset, position)
        self.pending.append(batch.view)
        self.size_bytes = end_position

    def write(self) -> None:
        """Put what is queued into the file with one write.

        When there is no space for the list of aborted transactions the batches stay queued too, so
        that they are dropped together.
        """
        self.create().write_at(self.pending, self.written_bytes)
        self.transactions.write()
        self.written_bytes = self.size_bytes
        self.pending = []

    def create(self) -> File:
        """Have the file, though empty: the last segment's name tells where the log ends."""
        if self.is_created:
            return self._volume.file(self.log_path)
        file = self._volume.create(self.log_path)
        self.is_created = True
        return file

    def drop_pending(self, next_offset: int) -> None:
        """Be as before the batches that are queued, whatever a failed write left in the file.

        *next_offset* is the first one dropped.
        """
        self.pending = []
        self.transactions.drop_pending()
        if self.is_created:
            self.file().truncate(self.written_bytes)
        self._restart_indexes(next_offset, self.written_bytes)

    # The life of a segment

    def seal(self) -> None:
        """No batch follows now; the index files may be written."""
        assert self._indexes is not None
        if self._indexes.newest.timestamp_ms != NO_TIMESTAMP:
            self._indexes.seal()

    def save_indexes(self) -> list[File]:
        """Write the index files, and return those that must reach the disk.

        A torn index can look whole: nobody may rely on one before it is synced. The smallest show
        their damage, so they need no sync. A full disk leaves no file behind.
        """
        if self._indexes is None:
            return []
        files: list[File] = []
        try:
            offsets, times = self._indexes.offsets, self._indexes.times
            for suffix, index in ((names.OFFSET_INDEX, offsets), (names.TIME_INDEX, times)):
                file = self._volume.create(self._stem + suffix)
                self._volume.forget(self._stem + suffix)
                file.write_at([index.entries], 0)
                files.append(file)
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise
            for suffix in (names.OFFSET_INDEX, names.TIME_INDEX):
                self._volume.fs.remove(self._stem + suffix)
            return []
        return files if len(offsets) or len(times) > 1 else []

    def unload(self) -> None:
        """Let go of the indexes in memory; save_indexes() has written them."""
        self._indexes = None
        self._recent = None
        self.transactions.unload()

    def activate(self) -> int:
        """Take batches again, after a restart; the offset after the last one. Raises LogDamaged."""
        return self._restart_indexes(None, self.written_bytes)

    def adopt(self, indexes: SegmentIndexes) -> None:
        """Take over indexes that recovery has built from the batches."""
        self._forget_indexes()
        self._indexes = indexes

    def cut_file(self, size_bytes: int) -> None:
        """Make the file *size_bytes* long; the adopted indexes describe no more than that."""
        self.file().truncate(size_bytes)
        self.hide_from(size_bytes)

    def hide_from(self, position: int) -> None:
        """See no more than the bytes before *position*; the file stays as it is."""
        self.size_bytes = self.written_bytes = position

    def truncate_to(self, offset: int) -> int:
        """Cut from the batch that holds *offset* on; the offset after the last one that stays.

        The segment is active then. Raises LogDamaged.
        """
        located = self.locate(offset)
        size_bytes = self.written_bytes if located is None else located.position
        kept = [entry for entry in self.transactions.entries if entry.last_offset < offset]
        self.create().truncate(size_bytes)
        next_offset = self._restart_indexes(offset, size_bytes)
        self.transactions.reset(kept)
        return next_offset

    # Looking up

    def locate(self, offset: int) -> Located | None:
        """The first written batch that ends at or above *offset*; None when there is none.

        Raises LogDamaged.
        """
        recent = self._recent
        if recent is not None:
            known = recent.find(offset)
            if known is not None:
                return Located(*known) if known[1] < self.written_bytes else None
            if offset >= recent.end_offset:
                return None
        for found in self.batches_near(offset):
            if found.batch.last_offset >= offset:
                return Located(found.batch.base_offset, found.position, found.end_position)
        return None

    def end_position(self, end_offset: int, *, position_max: int) -> int:
        """Where the batches that end below *end_offset* end, or *position_max* if that is less.

        Raises LogDamaged.
        """
        position_max = min(position_max, self.written_bytes)
        recent = self._recent
        if recent is not None:
            known = recent.find(end_offset)
            if known is not None:
                return min(known[1], position_max)
            if end_offset >= recent.end_offset:
                return position_max
        if self._offsets().floor(end_offset - 1).position >= position_max:
            return position_max
        for found in self.batches_near(end_offset):
            if found.batch.last_offset >= end_offset:
                return min(found.position, position_max)
            if found.end_position >= position_max:
                break
        return position_max

    def offset_bound(self, position: int) -> int | None:
        """An offset that no batch before *position* reaches; None when it takes a look to tell."""
        if position >= self.written_bytes:
            return None
        recent = self._recent
        bound = None if recent is None else recent.first_from(position)
        return self._offsets().first_from(position) if bound is None else bound

    def first_timestamp_ms(self) -> int:
        """The highest timestamp of the first batch; -1 without any. Raises LogDamaged."""
        first = self._first_timestamp_ms
        return self._load_first_timestamp() if first is None else first

    def batches(
        self, position: int = 0, *, window_bytes: int = WALK_WINDOW_BYTES
    ) -> Iterator[Found]:
        """Headers of the written batches from *position* on, where one begins.

        Raises LogDamaged.
        """
        if position >= self.written_bytes:
            return
        try:
            yield from walk_headers(
                self.file(), position, self.written_bytes, window_bytes=window_bytes
            )
        except CorruptBatch as error:
            raise LogDamaged(
                f"{self.log_path}, byte {error.position}",
                offset=self.base_offset,
                reason=error.reason,
            ) from error

    def batches_since(self, timestamp_ms: int) -> Iterator[Found]:
        """Headers from a batch on before which none reaches *timestamp_ms*. Raises LogDamaged."""
        return self.batches_near(self._times().floor(timestamp_ms - 1).offset)

    def batches_near(self, offset: int) -> Iterator[Found]:
        """Headers of the batches from one at or before *offset* on. Raises LogDamaged.

        The first one is the segment's first batch, or one that the offset index names.
        """
        entry = self._offsets().floor(offset)
        walk = self.batches(entry.position, window_bytes=LOOKUP_WINDOW_BYTES)
        if not entry.position:
            return walk
        try:
            first = next(walk, None)
        except LogDamaged:
            first = None
        if first is not None and first.batch.last_offset == entry.offset:
            return chain([first], walk)
        self._replace_indexes()  # the index lied; if the batches do, the walk will say so
        return self.batches(self._offsets().floor(offset).position)

    def newest(self) -> TimestampOffset:
        """The highest timestamp, its batch's last offset; (-1, base offset) without any."""
        if self._indexes is not None:
            return self._indexes.newest
        return self._times().last

    def newest_up_to(self, offset: int) -> TimestampOffset:
        """The same of the batches that end at or below *offset*, which the offset index names."""
        return self._times().newest_up_to(offset)

    def file(self) -> File:
        """The batches' file."""
        return self._volume.file(self.log_path)

    def check(self) -> None:
        """Assert the invariants that need no file."""
        pending_bytes = sum(len(view) for view in self.pending)
        assert self.written_bytes + pending_bytes == self.size_bytes, self
        assert self.is_created or not self.written_bytes, self
        if self._indexes is not None:
            assert self._indexes.offsets.fault(self.size_bytes) is None, self
            times = self._indexes.times
            # A record of the year 1970 may make an entry that a file would not be believed.
            assert not times.last.timestamp_ms or times.fault() is None, self

    # Indexes

    def _empty_indexes(self) -> SegmentIndexes:
        return SegmentIndexes(
            OffsetIndex(self.base_offset),
            TimeIndex(self.base_offset),
            interval_bytes=self.interval_bytes,
        )

    def _restart_indexes(self, end_offset: int | None, size_bytes: int) -> int:
        """Become active with *size_bytes*; index entries from *end_offset* on go."""
        offsets = OffsetIndex(self.base_offset, bytearray(self._offsets().entries))
        times = TimeIndex(self.base_offset, bytearray(self._times().entries))
        if end_offset is not None:
            offsets.truncate_to(end_offset)
            times.truncate_to(end_offset)
        self._forget_indexes()
        self.size_bytes = self.written_bytes = size_bytes
        self._recent = None
        self._first_timestamp_ms = None
        self._indexes = SegmentIndexes(offsets, times, interval_bytes=self.interval_bytes)
        try:
            return self._read_tail(self._indexes)
        except LogDamaged:
            # Perhaps it is the index that sent us astray: the batches from the first on decide.
            self._indexes = self._empty_indexes()
            return self._read_tail(self._indexes)

    def _read_tail(self, indexes: SegmentIndexes) -> int:
        """Go on from the last index entry through the batches; the offset after the last one."""
        count = len(indexes.offsets)
        next_offset = self.base_offset
        for found in self.batches(indexes.offsets[count - 1].position if count else 0):
            next_offset = found.batch.next_offset
            indexes.add(found.batch, found.batch.last_offset, found.position)
        return next_offset

    def _offsets(self) -> OffsetIndex:
        if self._indexes is not None:
            return self._indexes.offsets
        path = self._stem + names.OFFSET_INDEX

        def load() -> tuple[OffsetIndex, int]:
            data = self._volume.read_all(path) or b""
            index = OffsetIndex(self.base_offset, data)
            is_missing = not data and self.written_bytes > self.interval_bytes
            if is_missing or index.fault(self.written_bytes):
                index = self._built().offsets
            return index, len(index.entries) + INDEX_OVERHEAD_BYTES

        return self._volume.index(path, load)

    def _times(self) -> TimeIndex:
        if self._indexes is not None:
            return self._indexes.times
        path = self._stem + names.TIME_INDEX

        def load() -> tuple[TimeIndex, int]:
            data = self._volume.read_all(path) or b""
            index = TimeIndex(self.base_offset, data)
            if (not data and self.written_bytes) or index.fault():
                index = self._built().times
            return index, len(index.entries) + INDEX_OVERHEAD_BYTES

        return self._volume.index(path, load)

    def _built(self) -> SegmentIndexes:
        """The indexes as the written batches make them, as far as those make sense."""
        indexes = self._empty_indexes()
        with suppress(LogDamaged):  # who reads on to the damage will be told
            self._read_tail(indexes)
        indexes.seal()
        return indexes

    def _replace_indexes(self) -> None:
        assert self._indexes is None, "an active segment's index is made from its batches"
        self._forget_indexes()
        built = self._built()
        for suffix, index in ((names.OFFSET_INDEX, built.offsets), (names.TIME_INDEX, built.times)):
            self._volume.index(self._stem + suffix, _already(index))

    def _forget_indexes(self) -> None:
        self._volume.forget(self._stem + names.OFFSET_INDEX)
        self._volume.forget(self._stem + names.TIME_INDEX)

    def _load_first_timestamp(self) -> int:
        first = next(self.batches(), None)
        self._first_timestamp_ms = first.batch.max_timestamp if first else NO_TIMESTAMP
        return self._first_timestamp_ms


def _already(index: OffsetIndex | TimeIndex) -> Callable[[], tuple[OffsetIndex | TimeIndex, int]]:
    return lambda: (index, len(index.entries) + INDEX_OVERHEAD_BYTES)
