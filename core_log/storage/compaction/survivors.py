"""The first pass of a cleaning: over the dirty part, to learn the last offset of every key.

What it gives answers for the second pass: a dirty record survives when its offset is one of
those, so no key is hashed twice, and a batch without any is dropped by its header alone.
"""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ...kernel.ports import FileSystem
from ...records.batch import CONTROL_FLAG, TRANSACTIONAL_FLAG
from ...records.batch_columns import BatchColumns, unpack_sections
from ...records.columns import decode_keys
from ...records.varints import Bytes, Ints
from .job import CleanJob, Pace
from .keys import KeyHasher, Words
from .offset_map import OffsetMap
from .transactions import TransactionWalk
from .windows import Window, windows

UNPACKED_BYTES: Final = 8 * 1024 * 1024
"""Compressed batches are unpacked in portions of this size, or singly when one is larger."""


@dataclass(slots=True, kw_only=True)
class MapStats:
    bytes_read: int = 0
    records_read: int = 0
    keyless: int = 0


@final
class Survivors:
    """The keys of offsets [first_dirty_offset, until_offset) of a log, and where each stands last.

    Aborted transactions have no part in it, nor have control records and those without a key.
    """

    def __init__(self, job: CleanJob) -> None:
        self.stats = MapStats()
        self.until_offset = job.first_dirty_offset
        self._is_full = False
        self._job = job
        self._hasher = KeyHasher(job.secret)
        self._map = OffsetMap(bytes_max=job.map_bytes_max)
        self._offsets: Ints = np.empty(0, np.int64)

    @property
    def count(self) -> int:
        return self._map.count

    @property
    def map_bytes(self) -> int:
        return self._map.size_bytes

    def hash(self, data: Bytes, starts: Ints, lengths: Ints) -> tuple[Words, Words]:
        return self._hasher.hash(data, starts, lengths)

    def have_key(self, hashes: tuple[Words, Words]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether each key stands again in the dirty part."""
        return self._map.contains(*hashes)

    def offsets_in(self, start_offset: int, end_offset: int) -> Ints:
        """Those of the surviving dirty records in [start_offset, end_offset), rising."""
        first, end = np.searchsorted(self._offsets, (start_offset, end_offset))
        return self._offsets[first:end]

    def gather(self, fs: FileSystem, pace: Pace) -> None:
        """Read the dirty part until its end, or until the map is full.

        Raises Damaged, OSError, and what *pace* raises.
        """
        job, walk = self._job, TransactionWalk(self._job.aborted)
        for segment in job.segments:
            if segment.end_offset <= job.first_dirty_offset:
                continue
            for window in windows(fs, job, segment, verify_crc=True, pace=pace):
                self._add(window, walk)
                if self._is_full or int(window.batches.last_offsets[-1]) >= job.end_offset:
                    break
            if self._is_full:
                break
        else:
            self.until_offset = job.end_offset
        self._offsets = self._map.sorted_offsets()

    def _add(self, window: Window, walk: TransactionWalk) -> None:
        batches = window.batches
        job = self._job
        end = int(np.searchsorted(batches.base_offsets, job.end_offset))
        is_data = batches.attributes[:end] & CONTROL_FLAG == 0
        is_data &= batches.last_offsets[:end] >= job.first_dirty_offset
        for index in _aborted(batches, end, walk):
            is_data[index] = False
        which = np.flatnonzero(is_data)
        self.stats.bytes_read += int((batches.ends[:end] - batches.starts[:end]).sum())
        self.stats.records_read += int(batches.record_counts[:end].sum())
        with window.places():
            for sections in unpack_sections(
                batches,
                which,
                batch_bytes_max=job.unpacked_bytes_max,
                total_bytes_max=UNPACKED_BYTES,
            ):
                keys = decode_keys(batches, sections)
                has_key = keys.key_lengths >= 0
                self.stats.keyless += len(keys) - int(np.count_nonzero(has_key))
                starts, lengths = keys.key_starts[has_key], keys.key_lengths[has_key]
                firsts, seconds = self.hash(sections.data, starts, lengths)
                of_batch = sections.batches[keys.sections[has_key]]
                fitting = self._fitting(firsts, seconds, of_batch)
                self._map.put(firsts[:fitting], seconds[:fitting], keys.offsets[has_key][:fitting])
                if fitting < len(of_batch):
                    self.until_offset = int(batches.base_offsets[of_batch[fitting]])
                    self._is_full = True
                    return

    def _fitting(self, firsts: Words, seconds: Words, of_batch: Ints) -> int:
        """How many of the keys, those of whole batches, find room in the map.

        One batch always does, lest a cleaning gets nowhere.
        """
        if self._map.fits(len(firsts)):
            return len(firsts)
        is_new = ~self._map.contains(firsts, seconds)
        fresh = np.flatnonzero(is_new)
        pairs = np.stack((firsts[fresh], seconds[fresh]), axis=1)
        _, first_seen = np.unique(pairs, axis=0, return_index=True)
        added = np.zeros(len(firsts), np.int64)
        added[fresh[first_seen]] = 1
        total = self._map.count + np.cumsum(added)
        fitting = int(np.searchsorted(total, self._map.capacity, "right"))
        if fitting == len(firsts):
            return fitting
        start = int(np.searchsorted(of_batch, of_batch[fitting]))
        if start or self._map.count:
            return start
        batch_end = int(np.searchsorted(of_batch, of_batch[0], "right"))
        self._map.reserve(batch_end)
        return batch_end


def _aborted(batches: BatchColumns, end: int, walk: TransactionWalk) -> list[int]:
    """Entries of the first *end* batches that belong to aborted transactions."""
    aborted: list[int] = []
    is_control = batches.attributes[:end] & CONTROL_FLAG != 0
    is_transactional = batches.attributes[:end] & TRANSACTIONAL_FLAG != 0
    for index in np.flatnonzero(is_control | is_transactional).tolist():
        producer_id = int(batches.producer_ids[index])
        last_offset = int(batches.last_offsets[index])
        if is_control[index]:
            walk.on_marker(producer_id, last_offset)
        elif walk.on_data(producer_id, last_offset):
            aborted.append(index)
    return aborted
