"""The second pass of a cleaning: what becomes of each batch, and the bytes to write.

Pure but for the walk it keeps. Batches that lose nothing are copied as they are, runs of them in
one piece. The rules are Kafka's (``Cleaner``, KIP-98, KIP-534):

- of a key the last record stays; a record without a key goes;
- a tombstone stays until its batch's delete horizon, which the first cleaning that sees it sets;
- records of aborted transactions go at once;
- a marker stays as long as a batch of its transaction does, then until a horizon likewise;
- a producer's last batch stays, without records if need be, and so does the last batch of the
  cleaning, lest the offsets after it become unknown.

One deviation: a marker that stays for the last two reasons stays whole. Kafka empties it.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ...kernel.ports import Buffer
from ...records.batch import (
    CONTROL_FLAG,
    DELETE_HORIZON_FLAG,
    TRANSACTIONAL_FLAG,
    Batch,
    CorruptBatch,
)
from ...records.batch_columns import BatchColumns, Sections, unpack_sections
from ...records.columns import RecordColumns, decode_columns
from ...records.compression import DecompressedTooLarge
from ...records.control import ControlType, read_control
from ...records.varints import Ints
from .job import CleanJob
from .rewrite import with_records, without_records
from .survivors import UNPACKED_BYTES, Survivors
from .transactions import TransactionWalk
from .windows import Window

Flags = NDArray[np.bool_]


class Fate(IntEnum):
    """What becomes of a batch."""

    COPY = 0
    DROP = 1
    LOOK = 2
    """Not known before its records are decoded."""
    NEW = 3
    """Other bytes take its place."""


class Kept(NamedTuple):
    """What stays of a window: bytes, cut anyhow, and an entry for each batch."""

    pieces: list[Buffer]
    sizes: Ints
    last_offsets: Ints
    max_timestamps: Ints


@dataclass(slots=True, kw_only=True)
class FilterStats:
    """See CleanStats."""

    bytes_in: int = 0
    bytes_out: int = 0
    records_in: int = 0
    records_out: int = 0
    batches_in: int = 0
    batches_out: int = 0
    tombstones_kept: int = 0
    tombstones_dropped: int = 0
    markers_dropped: int = 0
    keyless_dropped: int = 0


@final
class BatchFilter:
    """All windows of a log pass through one of these, in order."""

    def __init__(self, job: CleanJob, survivors: Survivors) -> None:
        self.stats = FilterStats()
        self.transactions = TransactionWalk(job.aborted)
        self._job = job
        self._survivors = survivors
        self._producers = {producer.producer_id: producer for producer in job.producers}
        self._last_offsets = np.array(
            sorted(producer.last_data_offset for producer in job.producers), np.int64
        )

    def keep(self, window: Window) -> Kept:
        """What stays of *window*. Raises Damaged."""
        with window.places():
            return _Pass(self, window.batches, self._job, self._survivors).kept()

    def may_be_needed_empty(self, last_offsets: Ints) -> Flags:
        """Whether some producer's last batch of records, or the last one cleaned, ends there."""
        may_be: Flags = np.isin(last_offsets, self._last_offsets)
        may_be |= last_offsets == self._job.end_offset - 1
        return may_be

    def is_needed_empty(self, batches: BatchColumns, index: int) -> bool:
        """Whether a batch stays though nothing in it does."""
        last_offset = int(batches.last_offsets[index])
        if last_offset + 1 == self._job.end_offset:
            return True
        producer = self._producers.get(int(batches.producer_ids[index]))
        if producer is None:
            return False
        if producer.last_data_offset >= 0:
            return last_offset == producer.last_data_offset
        is_control = int(batches.attributes[index]) & CONTROL_FLAG != 0
        return is_control and int(batches.producer_epochs[index]) == producer.producer_epoch


@final
class _Pass:
    """One window's way through: ``fates`` and, of the NEW ones, ``news``, by entry."""

    def __init__(
        self, owner: BatchFilter, batches: BatchColumns, job: CleanJob, survivors: Survivors
    ) -> None:
        self._owner, self._batches, self._job, self._survivors = owner, batches, job, survivors
        self._stats = owner.stats
        count = len(batches)
        self._fates = np.full(count, Fate.COPY, np.int8)
        self._news: dict[int, bytearray] = {}
        self._records_out = batches.record_counts.copy()
        has_horizon = batches.attributes & DELETE_HORIZON_FLAG != 0
        self._has_horizon = has_horizon
        self._is_expired = has_horizon & (batches.base_timestamps <= job.now_ms)

    def kept(self) -> Kept:
        batches, stats = self._batches, self._stats
        self._decide_by_headers()
        which = np.flatnonzero(self._fates == Fate.LOOK)
        if len(which):
            for sections in unpack_sections(
                batches,
                which,
                batch_bytes_max=self._job.unpacked_bytes_max,
                total_bytes_max=UNPACKED_BYTES,
            ):
                self._decide_by_records(sections, decode_columns(batches, sections))
        kept = self._gathered()
        stats.batches_in += len(batches)
        stats.bytes_in += int(batches.ends[-1])
        stats.records_in += int(batches.record_counts.sum())
        stats.batches_out += len(kept.sizes)
        stats.bytes_out += int(kept.sizes.sum())
        stats.records_out += int(self._records_out[self._fates != Fate.DROP].sum())
        return kept

    # By headers

    def _decide_by_headers(self) -> None:
        batches, survivors, job = self._batches, self._survivors, self._job
        is_control = batches.attributes & CONTROL_FLAG != 0
        is_ours = batches.base_offsets < survivors.until_offset  # the rest is copied unseen
        is_clean = batches.last_offsets < job.first_dirty_offset
        is_data = is_ours & ~is_control
        living = survivors.offsets_in(
            int(batches.base_offsets[0]), int(batches.last_offsets[-1]) + 1
        )
        has_survivor = np.searchsorted(living, batches.base_offsets) < np.searchsorted(
            living, batches.last_offsets, "right"
        )
        self._fates[is_data & (is_clean | has_survivor) & (batches.record_counts > 0)] = Fate.LOOK
        has_none = is_data & (~is_clean & ~has_survivor | (batches.record_counts == 0))
        self._empty_all(np.flatnonzero(has_none))
        is_transactional = batches.attributes & TRANSACTIONAL_FLAG != 0
        for index in np.flatnonzero(is_transactional | is_control).tolist():
            if is_control[index]:
                self._pass_control(index, is_ours=bool(is_ours[index]))
            elif (
                self._owner.transactions.on_data(
                    int(batches.producer_ids[index]), int(batches.last_offsets[index])
                )
                and is_ours[index]
            ):
                self._empty(index)

    def _pass_control(self, index: int, *, is_ours: bool) -> None:
        batches = self._batches
        batch = self._batch(index)
        try:
            controls = read_control(batch)
        except (CorruptBatch, DecompressedTooLarge) as error:
            reason = f"its control record cannot be read: {error}"
            raise CorruptBatch(reason, int(batches.starts[index])) from error
        if controls and controls[0].type not in (ControlType.ABORT, ControlType.COMMIT):
            return
        is_unneeded = self._owner.transactions.on_marker(batch.producer_id, batch.last_offset)
        if not is_ours or not is_unneeded:
            return
        if not controls:  # Kafka has emptied it
            self._empty(index)
        elif not self._has_horizon[index]:
            self._replace(
                index,
                with_records(
                    batch,
                    bytes(batch.records),
                    record_count=batch.record_count,
                    max_timestamp=int(batches.max_timestamps[index]),
                    delete_horizon_ms=self._horizon_ms,
                ),
            )
        elif self._is_expired[index] and not self._owner.is_needed_empty(batches, index):
            self._drop(index)
            self._stats.markers_dropped += 1

    # By records

    def _decide_by_records(self, sections: Sections, records: RecordColumns) -> None:
        of_batch = sections.batches[records.sections]
        stays = self._staying(sections, records, of_batch)
        is_tombstone = stays & (records.value_lengths < 0)
        is_gone = is_tombstone & self._is_expired[of_batch]
        stays &= ~is_gone
        is_tombstone &= ~is_gone
        self._stats.tombstones_dropped += int(np.count_nonzero(is_gone))
        self._stats.tombstones_kept += int(np.count_nonzero(is_tombstone))

        batches, which = self._batches, sections.batches
        ends = np.cumsum(batches.record_counts[which])
        starts = ends - batches.record_counts[which]
        staying = _sums(stays, starts, ends)
        self._records_out[which] = staying
        must_stamp = (_sums(is_tombstone, starts, ends) > 0) & ~self._has_horizon[which]
        self._fates[which] = Fate.COPY
        self._empty_all(which[staying == 0])
        is_full = staying == batches.record_counts[which]
        changed = np.flatnonzero((staying > 0) & (~is_full | must_stamp))
        if not len(changed):
            return
        parts = _kept_sections(sections, records, stays, changed)
        for entry, section in zip(changed.tolist(), parts, strict=True):
            index = int(which[entry])
            span = slice(int(starts[entry]), int(ends[entry]))
            self._replace(
                index,
                with_records(
                    self._batch(index),
                    section,
                    record_count=int(staying[entry]),
                    max_timestamp=int(records.timestamps[span][stays[span]].max()),
                    delete_horizon_ms=self._horizon_ms if must_stamp[entry] else None,
                ),
            )

    def _staying(self, sections: Sections, records: RecordColumns, of_batch: Ints) -> Flags:
        """Which records are their key's last; clean ones if the dirty part has not their key."""
        living = self._survivors.offsets_in(
            int(records.offsets.min()), int(records.offsets.max()) + 1
        )
        stays = np.zeros(len(records), np.bool_)
        if len(living):
            nearest = np.minimum(np.searchsorted(living, records.offsets), len(living) - 1)
            stays = living[nearest] == records.offsets
        is_clean = self._batches.last_offsets[of_batch] < self._job.first_dirty_offset
        if is_clean.any():
            keyed = np.flatnonzero(is_clean & (records.key_lengths >= 0))
            self._stats.keyless_dropped += int(np.count_nonzero(is_clean)) - len(keyed)
            hashes = self._survivors.hash(
                sections.data, records.key_starts[keyed], records.key_lengths[keyed]
            )
            stays[keyed] = ~self._survivors.have_key(hashes)
        return stays

    # Fates

    @property
    def _horizon_ms(self) -> int:
        return min(self._job.now_ms + self._job.delete_retention_ms, 2**63 - 1)  # of an int64

    def _batch(self, index: int) -> Batch:
        batches = self._batches
        return Batch(batches.data[int(batches.starts[index]) : int(batches.ends[index])])

    def _replace(self, index: int, data: bytearray) -> None:
        self._fates[index] = Fate.NEW
        self._news[index] = data

    def _drop(self, index: int) -> None:
        self._fates[index] = Fate.DROP

    def _empty_all(self, indexes: Ints) -> None:
        """No record of these batches of records stays; nearly all of them go at once."""
        may_stay = self._owner.may_be_needed_empty(self._batches.last_offsets[indexes])
        self._fates[indexes[~may_stay]] = Fate.DROP
        for index in indexes[may_stay].tolist():
            self._empty(index)

    def _empty(self, index: int) -> None:
        """No record stays: the batch goes, or only its header stays."""
        self._records_out[index] = 0
        if not self._owner.is_needed_empty(self._batches, index):
            self._drop(index)
        elif self._batches.record_counts[index]:
            self._replace(index, without_records(self._batch(index)))
        else:
            self._fates[index] = Fate.COPY

    def _gathered(self) -> Kept:
        """The bytes in order: runs of copied batches in one piece each."""
        batches, fates = self._batches, self._fates
        sizes = batches.ends - batches.starts
        max_timestamps = batches.max_timestamps.copy()
        pieces: list[Buffer] = []
        edges = np.flatnonzero(np.diff(fates == Fate.COPY, prepend=False, append=False))
        copied = zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        runs = {
            first: batches.data[int(batches.starts[first]) : int(batches.ends[end - 1])]
            for first, end in copied
        }
        for index in sorted([*runs, *self._news]):
            new = self._news.get(index)
            if new is None:
                pieces.append(runs[index])
                continue
            pieces.append(new)
            sizes[index] = len(new)
            max_timestamps[index] = Batch(memoryview(new)).max_timestamp
        stays = fates != Fate.DROP
        return Kept(pieces, sizes[stays], batches.last_offsets[stays], max_timestamps[stays])


def _sums(flags: Flags, starts: Ints, ends: Ints) -> Ints:
    """How many flags are set in each span."""
    total = np.concatenate(([0], np.cumsum(flags)))
    sums: Ints = total[ends] - total[starts]
    return sums


def _kept_sections(
    sections: Sections, records: RecordColumns, stays: Flags, changed: Ints
) -> list[bytes]:
    """The bytes of the staying records of each of the *changed* sections."""
    is_changed = np.zeros(len(sections.batches), np.bool_)
    is_changed[changed] = True
    mine = is_changed[records.sections]
    spans = zip(sections.starts[changed].tolist(), sections.ends[changed].tolist(), strict=True)
    data = np.concatenate([sections.data[start:end] for start, end in spans])
    sizes = records.ends[mine] - records.starts[mine]
    staying = data[np.repeat(stays[mine], sizes)]
    kept_sizes = np.where(stays[mine], sizes, 0)
    of_section = records.sections[mine]
    kept_ends = np.cumsum(kept_sizes)[np.searchsorted(of_section, changed, "right") - 1]
    out = staying.tobytes()
    starts = [0, *kept_ends[:-1].tolist()]
    return [out[start:end] for start, end in zip(starts, kept_ends.tolist(), strict=True)]
