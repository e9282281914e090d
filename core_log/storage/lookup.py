"""Finding records by time (KIP-79, KIP-734): of one batch per question records are read."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from ..kernel.ids import NO_TIMESTAMP
from ..records.batch import Batch, CorruptBatch
from ..records.compression import DecompressedTooLarge
from ..records.record import record_times
from .errors import LogDamaged
from .scan import Found
from .segment import Segment

UNPACKED_BYTES_MAX: Final = 256 * 1024 * 1024
"""A batch that a client has compressed a thousandfold answers with its first offset instead."""


class RecordTime(NamedTuple):
    """A record found by time."""

    timestamp_ms: int
    offset: int
    leader_epoch: int


def find_by_timestamp(
    segments: Sequence[Segment], timestamp_ms: int, *, start_offset: int, end_offset: int
) -> RecordTime | None:
    """The first record in [start_offset, end_offset) that is not older than *timestamp_ms*.

    Raises LogDamaged, OSError.
    """
    for segment in segments:
        if segment.newest().timestamp_ms < timestamp_ms:
            continue
        for found in segment.batches_since(timestamp_ms):
            batch = found.batch
            if batch.base_offset >= end_offset:
                return None
            if batch.max_timestamp < timestamp_ms or batch.last_offset < start_offset:
                continue
            for offset, record_ms in _times(segment, found):
                if record_ms >= timestamp_ms and offset >= start_offset:
                    if offset >= end_offset:
                        return None
                    return RecordTime(record_ms, offset, batch.partition_leader_epoch)
    return None


def find_newest(
    segments: Sequence[Segment], *, start_offset: int, end_offset: int
) -> RecordTime | None:
    """The record in [start_offset, end_offset) with the highest timestamp, the first of them.

    Raises LogDamaged, OSError.
    """
    best: tuple[int, Segment, Found] | None = None
    for segment in segments:
        found = _newest_batch(segment, start_offset, end_offset)
        if found is not None and (best is None or found.batch.max_timestamp > best[0]):
            best = found.batch.max_timestamp, segment, found
    if best is None:
        return None
    timestamp_ms, segment, found = best
    offset = next(
        (offset for offset, record_ms in _times(segment, found) if record_ms >= timestamp_ms),
        found.batch.base_offset,
    )
    return RecordTime(timestamp_ms, max(offset, start_offset), found.batch.partition_leader_epoch)


def _newest_batch(segment: Segment, start_offset: int, end_offset: int) -> Found | None:
    newest = segment.newest()
    if newest.timestamp_ms == NO_TIMESTAMP:
        return None
    if start_offset <= newest.offset < end_offset:
        located = segment.locate(newest.offset)
        if located is not None:
            return next(segment.batches(located.position), None)
    # The newest batch of all is not visible: look through those that are.
    best: Found | None = None
    for found in segment.batches():
        batch = found.batch
        if batch.last_offset >= end_offset:
            break
        is_visible = batch.last_offset >= start_offset and batch.max_timestamp != NO_TIMESTAMP
        if is_visible and (best is None or batch.max_timestamp > best.batch.max_timestamp):
            best = found
    return best


def _times(segment: Segment, found: Found) -> list[tuple[int, int]]:
    """(offset, timestamp) of the batch's records; of the batch alone if it is a bomb."""
    size_bytes = found.batch.size_bytes
    batch = Batch(memoryview(segment.file().read_at(size_bytes, found.position)))
    try:
        return list(record_times(batch, bytes_max=UNPACKED_BYTES_MAX))
    except DecompressedTooLarge:
        return [(batch.base_offset, batch.max_timestamp)]
    except CorruptBatch as error:
        raise LogDamaged(segment.log_path, offset=batch.base_offset, reason=error.reason) from error
