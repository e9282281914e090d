"""A log as bare files, written by hand and cleaned in place, with a child's notes of it."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import final

from headwater.core_log.kernel.ports import OpenMode
from headwater.core_log.records.batch import Batch, TimestampType, patch, read_batch, scan
from headwater.core_log.records.compression import Codec
from headwater.core_log.records.control import ControlType, EndTxnMarker, build_end_txn_batch
from headwater.core_log.records.record import NewRecord, Record, build_batch, decode_records
from headwater.core_log.storage import names
from headwater.core_log.storage.aborted import AbortedTransaction, decode_aborted
from headwater.core_log.storage.compaction.cleaner import clean
from headwater.core_log.storage.compaction.job import (
    AbortedTransactionFact,
    ActiveProducer,
    CleanJob,
    CleanResult,
    SourceSegment,
)
from headwater.core_log.storage.index import OffsetIndex, SegmentIndexes, TimeIndex
from headwater.core_log.testing.clock import ManualClock
from headwater.core_log.testing.memory_fs import MemoryFileSystem

DIRECTORY = "data/t-0"
RETENTION_MS = 1_000
INTERVAL_BYTES = 100


@dataclass(slots=True)
class Noted:
    """A record as it was appended, and how its transaction ended: None while it is open."""

    record: Record
    batch_base: int
    is_committed: bool | None = True
    first_cleaned_ms: int | None = None
    """When a cleaning first met its batch with a tombstone that stays."""
    is_expired: bool = False
    """It was a tombstone, and a cleaning came after its time."""


@dataclass(slots=True)
class Open:
    """A transaction without its marker."""

    epoch: int
    first_offset: int
    records: list[Noted] = field(default_factory=list)


@final
class CompactedLog:
    """``append``, ``begin``/``end`` transactions, ``roll``, ``clean``; ``read`` as consumers do."""

    def __init__(self, *, seed: int = 0) -> None:
        self.fs = MemoryFileSystem(seed=seed)
        self.fs.make_directory(DIRECTORY)
        for path in ("", "data"):
            self.fs.sync_directory(path)
        self.clock = ManualClock()
        self.noted: list[Noted] = []
        self.aborted: list[AbortedTransaction] = []
        self.producers: dict[int, ActiveProducer] = {}
        self._ended: list[tuple[int, int, int]] = []  # producer, first offset, marker's offset
        self.next_offset = 0
        self.clean_until = 0
        self._active = bytearray()
        self._bases = [0]
        self._open: dict[int, Open] = {}
        self._sequences: dict[int, int] = {}
        self._rng = random.Random(seed)

    # Writing

    def append(
        self,
        pairs: list[tuple[bytes | None, bytes | None]],
        *,
        codec: Codec = Codec.NONE,
        timestamp_type: TimestampType = TimestampType.CREATE_TIME,
        producer_id: int = -1,
        is_transactional: bool = False,
    ) -> Batch:
        """One batch; a transactional one opens its producer's transaction if need be."""
        now_ms = self.clock.now_ms()
        sequence = self._sequences.get(producer_id, 0)
        data = build_batch(
            [
                NewRecord(timestamp_ms=now_ms + index % 3, key=key, value=value)
                for index, (key, value) in enumerate(pairs)
            ],
            base_offset=self.next_offset,
            leader_epoch=3,
            compression=codec,
            timestamp_type=timestamp_type,
            producer_id=producer_id,
            producer_epoch=0 if producer_id >= 0 else -1,
            base_sequence=sequence if producer_id >= 0 else -1,
            is_transactional=is_transactional,
        )
        batch = read_batch(data)
        noted = [
            Noted(record, batch.base_offset) for record in decode_records(batch, bytes_max=10**7)
        ]
        if is_transactional:
            transaction = self._open.setdefault(producer_id, Open(0, batch.base_offset))
            transaction.records += noted
            for entry in noted:
                entry.is_committed = None
        if producer_id >= 0:
            self._sequences[producer_id] = sequence + len(pairs)
            self.producers[producer_id] = ActiveProducer(
                producer_id=producer_id, producer_epoch=0, last_data_offset=batch.last_offset
            )
        self.noted += noted
        self._active += data
        self.next_offset = batch.next_offset
        return batch

    def end(self, producer_id: int, *, is_commit: bool) -> None:
        """The marker of the producer's open transaction; of none when it has none."""
        marker = EndTxnMarker(
            type=ControlType.COMMIT if is_commit else ControlType.ABORT, coordinator_epoch=0
        )
        data = build_end_txn_batch(
            marker, producer_id=producer_id, producer_epoch=0, timestamp_ms=self.clock.now_ms()
        )
        patch(read_batch(data), base_offset=self.next_offset, leader_epoch=3)
        offset = self.next_offset
        self._active += data
        self.next_offset += 1
        self.producers.setdefault(
            producer_id, ActiveProducer(producer_id=producer_id, producer_epoch=0)
        )
        transaction = self._open.pop(producer_id, None)
        if transaction is None:
            return
        self._ended.append((producer_id, transaction.first_offset, offset))
        for entry in transaction.records:
            entry.is_committed = is_commit
        if not is_commit:
            self.aborted.append(
                AbortedTransaction(
                    producer_id=producer_id,
                    first_offset=transaction.first_offset,
                    last_offset=offset,
                    last_stable_offset=self.last_stable_offset,
                )
            )

    def marker_of(self, batch: Batch) -> int | None:
        """Offset of the marker that ended the batch's transaction; None while it is open."""
        for producer_id, first_offset, marker_offset in self._ended:
            is_within = first_offset <= batch.base_offset < marker_offset
            if producer_id == batch.producer_id and is_within:
                return marker_offset
        return None

    def skip_to(self, offset: int) -> None:
        """Leave a gap; the active segment, still empty, begins behind it."""
        assert not self._active
        self.next_offset = self._bases[-1] = offset

    def roll(self) -> None:
        """The active segment, if it has anything, becomes a file."""
        if not self._active:
            return
        base = self._bases[-1]
        ending = [entry for entry in self.aborted if base <= entry.last_offset]
        self._write(self.path(base, names.LOG), bytes(self._active))
        if ending:
            entries = b"".join(entry.encode() for entry in ending)
            self._write(self.path(base, names.TRANSACTION_INDEX), entries)
        self._active = bytearray()
        self._bases.append(self.next_offset)

    # Cleaning

    @property
    def last_stable_offset(self) -> int:
        first_open = min((t.first_offset for t in self._open.values()), default=self.next_offset)
        return min(first_open, self.next_offset)

    @property
    def end_offset(self) -> int:
        """The first uncleanable offset."""
        return min(self.last_stable_offset, self._bases[-1])

    def job(self, **changes: object) -> CleanJob:
        end_offset = self.end_offset
        facts: dict[str, object] = {
            "directory": DIRECTORY,
            "topic": "t",
            "partition": 0,
            "segments": tuple(
                SourceSegment(
                    base_offset=base,
                    end_offset=end,
                    size_bytes=self.fs.size(self.path(base, names.LOG)) or 0,
                )
                for base, end in zip(self._bases, self._bases[1:], strict=False)
                if base < end_offset
            ),
            "first_dirty_offset": self.clean_until,
            "end_offset": end_offset,
            "now_ms": self.clock.now_ms(),
            "delete_retention_ms": RETENTION_MS,
            "producers": tuple(self.producers.values()),
            "aborted": tuple(
                AbortedTransactionFact(
                    producer_id=entry.producer_id,
                    first_offset=entry.first_offset,
                    last_offset=entry.last_offset,
                    last_stable_offset=entry.last_stable_offset,
                )
                for entry in self._aborted_in_files()
            ),
            "secret": self._rng.randbytes(32),
            "segment_bytes": 4_000,
            "segment_index_bytes": 10_000,
            "index_interval_bytes": INTERVAL_BYTES,
            "batch_bytes_max": 10**6,
            "unpacked_bytes_max": 10**7,
            "map_bytes_max": 10**6,
            "io_buffer_bytes": 0,
        }
        return CleanJob(**(facts | changes))  # type: ignore[arg-type]  # checked by its struct

    def clean(self, **changes: object) -> CleanResult:
        """Clean as far as may be, and put the new segments in the place of the old ones."""
        job = self.job(**changes)
        result = clean(job, self.fs, clock=self.clock, pace=lambda _: None)
        if result.fault is None:
            self._note_times(result.clean_until_offset)
            self.swap(result)
        return result

    def swap(self, result: CleanResult) -> None:
        self.clean_until = result.clean_until_offset
        for segment in result.segments:
            for base in segment.replaces:
                for suffix in names.SEGMENT_SUFFIXES:
                    self.fs.remove(self.path(base, suffix))
                if base != segment.base_offset:
                    self._bases.remove(base)
            for suffix in names.SEGMENT_SUFFIXES:
                path = self.path(segment.base_offset, suffix)
                if self.fs.size(path + names.CLEANED) is not None:
                    self.fs.rename(path + names.CLEANED, path)

    # Reading

    def batches(self, *, with_active: bool = True) -> Iterator[Batch]:
        for base in self._bases[:-1]:
            yield from self.batches_of(base)
        if with_active:
            yield from scan(bytes(self._active), verify_crc=True)

    def batches_of(self, base: int) -> Iterator[Batch]:
        yield from scan(self.bytes_of(self.path(base, names.LOG)), verify_crc=True)

    def read(self, *, committed: bool) -> list[Record]:
        """What a consumer sees that begins at the first offset."""
        aborted = self._aborted_in_files()
        seen: list[Record] = []
        for batch in self.batches():
            if batch.is_control or (committed and batch.base_offset >= self.last_stable_offset):
                continue
            is_aborted = any(
                entry.producer_id == batch.producer_id
                and entry.first_offset <= batch.base_offset < entry.last_offset
                for entry in aborted
            )
            if not (committed and batch.is_transactional and is_aborted):
                seen += decode_records(batch, bytes_max=10**7)
        return seen

    def bases(self) -> list[int]:
        """Of the segments that are files."""
        return self._bases[:-1]

    def path(self, base: int, suffix: str) -> str:
        return f"{DIRECTORY}/{names.offset_name(base, suffix)}"

    def bytes_of(self, path: str) -> bytes:
        file = self.fs.open(path, OpenMode.READ)
        return file.read_at(file.size(), 0)

    def files(self) -> dict[str, bytes]:
        return {name: self.bytes_of(f"{DIRECTORY}/{name}") for name in self.fs.list(DIRECTORY)}

    def check_indexes(self) -> None:
        """A cleaned segment has the indexes that appending its batches would have made."""
        for base in self.bases():
            if self.fs.size(self.path(base, names.OFFSET_INDEX)) is None:
                continue
            built = SegmentIndexes(
                OffsetIndex(base), TimeIndex(base), interval_bytes=INTERVAL_BYTES
            )
            position = 0
            for batch in self.batches_of(base):
                built.add(batch, batch.last_offset, position)
                position += batch.size_bytes
            if position:
                built.seal()
            assert self.bytes_of(self.path(base, names.OFFSET_INDEX)) == built.offsets.entries
            assert self.bytes_of(self.path(base, names.TIME_INDEX)) == built.times.entries

    # Inside

    def _aborted_in_files(self) -> list[AbortedTransaction]:
        """What the transaction indexes say; of the active segment, what they will say."""
        entries = [entry for entry in self.aborted if entry.last_offset >= self._bases[-1]]
        for base in self.bases():
            path = self.path(base, names.TRANSACTION_INDEX)
            if self.fs.size(path) is not None:
                entries += decode_aborted(self.bytes_of(path))
        return entries

    def _note_times(self, until_offset: int) -> None:
        """The clock of a batch's tombstones starts when one of them survives a cleaning."""
        now_ms = self.clock.now_ms()
        last = self.last_offsets(until_offset)
        tombstones = [
            entry
            for entry in self.noted
            if entry.record.value is None
            and entry.record.key is not None
            and last.get(entry.record.key) == entry.record.offset
        ]
        for entry in tombstones:
            first_ms = entry.first_cleaned_ms
            if first_ms is not None and first_ms + RETENTION_MS <= now_ms:
                entry.is_expired = True
        starting = {e.batch_base for e in tombstones if e.first_cleaned_ms is None}
        for entry in self.noted:
            if entry.batch_base in starting:
                entry.first_cleaned_ms = now_ms

    def expected(self) -> list[Record]:
        """What is left for a consumer that takes uncommitted records too."""
        last = self.last_offsets(self.clean_until)
        return [
            entry.record
            for entry in self.noted
            if entry.record.offset >= self.clean_until
            or (
                entry.record.key is not None
                and last.get(entry.record.key) == entry.record.offset
                and not entry.is_expired
            )
        ]

    def last_offsets(self, until_offset: int) -> dict[bytes, int]:
        """Where each key stands last among what is committed below *until_offset*."""
        return {
            entry.record.key: entry.record.offset
            for entry in self.noted
            if entry.is_committed
            and entry.record.key is not None
            and entry.record.offset < until_offset
        }

    def _write(self, path: str, data: bytes) -> None:
        file = self.fs.open(path, OpenMode.REPLACE)
        file.write_at([data], 0)
        file.sync()
        self.fs.sync_directory(DIRECTORY)
