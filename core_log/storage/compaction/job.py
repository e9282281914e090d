"""What one cleaning of a log is told and what it answers: plain values, to cross a process border.

Pure. A job holds facts only, taken on the event loop; the work (``cleaner.clean``) reads the files
it names, writes ``.cleaned`` files beside them and touches nothing else. The caller swaps them in,
or throws them away when the log has changed meanwhile. Both values travel as msgpack.

``cleaner`` needs numpy, which costs a process 20 MB and a tenth of a second: import it only where
the work is done. This module does not.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec

from ...kernel.ids import NO_OFFSET, NO_TIMESTAMP

SECRET_BYTES: Final = 32

Pace: TypeAlias = Callable[[int], None]
"""Told the bytes that were read or written since the last call. It may wait, to keep the work
slow, and may raise CleanStopped to end it; there is a call every few megabytes."""


class CleanStopped(Exception):
    """The work is not wanted any more; raised by a pace and passed on by ``clean``."""


class SourceSegment(msgspec.Struct, frozen=True, kw_only=True):
    """A sealed segment, all of it on disk."""

    base_offset: int
    end_offset: int
    """Exclusive: the next segment's base offset."""
    size_bytes: int


class ActiveProducer(msgspec.Struct, frozen=True, kw_only=True):
    """A producer that the log remembers: its last batch stays, though it may lose its records.

    Whoever rebuilds producers' state from the log finds epoch and sequence there.
    """

    producer_id: int
    producer_epoch: int
    last_data_offset: int = NO_OFFSET
    """Last offset of its last data batch; -1: it has only a marker of this epoch."""


class AbortedTransactionFact(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of the log's transaction index, see ``storage.aborted``."""

    producer_id: int
    first_offset: int
    last_offset: int
    """The abort marker's."""
    last_stable_offset: int


class CleanJob(msgspec.Struct, frozen=True, kw_only=True):
    """One cleaning.

    ``segments`` are all segments from the log's first on whose base offset is below
    ``end_offset``, oldest first, without the active one. Invariants: the bases rise;
    ``first_dirty_offset <= end_offset``.
    """

    directory: str
    """Of the partition, as the file system port knows it."""
    topic: str
    partition: int
    segments: tuple[SourceSegment, ...]
    first_dirty_offset: int
    """Everything below was cleaned before: no key appears twice there."""
    end_offset: int
    """The first uncleanable offset: not above the last stable offset, the active segment, what
    min.compaction.lag.ms protects. A segment may reach past it; that part is copied as it is."""
    now_ms: int
    """Wall clock; what delete horizons are compared with and reckoned from."""
    delete_retention_ms: int
    producers: tuple[ActiveProducer, ...]
    aborted: tuple[AbortedTransactionFact, ...]
    """Every aborted transaction with a first offset in [first segment's base, end of the last
    segment), though its marker may stand behind that, in the active segment even. One that is
    missing here would pass for committed and supersede records that are."""
    secret: bytes
    """32 bytes from good dice, new for every job: keys are hashed with it, so that no client can
    choose two keys that collide."""

    segment_bytes: int
    segment_index_bytes: int
    index_interval_bytes: int
    batch_bytes_max: int
    """A batch that claims more than this and more than its segment has left is damaged."""
    unpacked_bytes_max: int
    """What a compressed batch may unpack to."""
    map_bytes_max: int
    """``log.cleaner.dedupe.buffer.size``: 24 bytes a key, nine tenths of it used at most."""
    io_buffer_bytes: int
    """``log.cleaner.io.buffer.size``; windows are larger where columns need it (see cleaner)."""


class CleanedSegment(msgspec.Struct, frozen=True, kw_only=True):
    """One new segment: ``<base_offset>.log.cleaned`` and its indexes, synced.

    There are always ``.log``, ``.index`` and ``.timeindex``; ``.txnindex`` when it has entries.
    The segment may be empty.
    """

    base_offset: int
    """That of the first segment it replaces."""
    replaces: tuple[int, ...]
    """Base offsets, in order, without a gap."""
    size_bytes: int
    newest_timestamp_ms: int = NO_TIMESTAMP
    has_transaction_index: bool = False


class CleanStats(msgspec.Struct, frozen=True, kw_only=True):
    """What a cleaning moved. "In" and "out" are of the rewriting, not of filling the map."""

    map_bytes_read: int = 0
    map_records_read: int = 0
    keys: int = 0
    map_bytes: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    records_in: int = 0
    records_out: int = 0
    batches_in: int = 0
    batches_out: int = 0
    tombstones_kept: int = 0
    tombstones_dropped: int = 0
    """Past their delete horizon; superseded ones count as any other record."""
    markers_dropped: int = 0
    keyless_dropped: int = 0
    """Records without a key, from before the topic was compacted."""
    map_seconds: float = 0.0
    clean_seconds: float = 0.0


class CleanFault(msgspec.Struct, frozen=True, kw_only=True):
    """Why a log cannot be cleaned: nothing was dropped, and trying again will not help."""

    file: str
    position: int
    """Byte at which the batch begins, or would have to."""
    reason: str

    def __str__(self) -> str:
        return f"{self.file}, byte {self.position}: {self.reason}"


class CleanResult(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a job. With a fault there are no segments, and no ``.cleaned`` file is left."""

    segments: tuple[CleanedSegment, ...] = ()
    """They replace all segments of the job with a base offset below ``clean_until_offset``."""
    clean_until_offset: int
    """The next job's first_dirty_offset; below the job's ``end_offset`` when the map was full."""
    stats: CleanStats = CleanStats()
    fault: CleanFault | None = None
