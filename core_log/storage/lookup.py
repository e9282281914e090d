"""Finding records by time (KIP-79, KIP-734): of one or two batches per question records are read.

Transaction markers have a time and are found like records, as in Kafka: a consumer that is sent to
one reads on behind it. Deviation: Kafka looks at the newest batch of the log alone, and knows no
answer when readers may not see it yet, or when compaction has emptied it; we find the newest record
among those that are visible.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ..kernel.ids import NO_TIMESTAMP
from ..records.batch import Batch, CorruptBatch
from ..records.compression import DecompressedTooLarge
from ..records.record import record_times
from .errors import LogDamaged
from .index import TimestampOffset
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
    best: RecordTime | None = None
    for segment in segments:
        if best is None or segment.newest().timestamp_ms > best.timestamp_ms:
            found = _newest_in(segment, start_offset, end_offset)
            if found is not None and (best is None or found.timestamp_ms > best.timestamp_ms):
                best = found
    return best


def _newest_in(segment: Segment, start_offset: int, end_offset: int) -> RecordTime | None:
    straddling: RecordTime | None = None
    best: Found | None = None
    for found in _candidates(segment, start_offset, end_offset):
        batch = found.batch
        if batch.base_offset < start_offset:
            # Its header tells of records below the start too.
            straddling = _newest_record(segment, found, start_offset)
        elif best is None or batch.max_timestamp > best.batch.max_timestamp:
            best = found
    if best is None:
        return straddling
    if straddling is not None and straddling.timestamp_ms >= best.batch.max_timestamp:
        return straddling
    return _newest_record(segment, best, start_offset)


def _candidates(segment: Segment, start_offset: int, end_offset: int) -> Iterator[Found]:
    """Batches with visible records and times, in log order: one of them has the newest record.

    Those that compaction has emptied keep their time and have no record to show.
    """
    newest = _whole_batch(segment, segment.newest(), start_offset, end_offset)
    if newest is not None:
        yield newest
        return
    # The newest of all is not visible. The indexes know which one was before the last few batches.
    walk = segment.batches_near(end_offset - 1)
    first = next(walk, None)
    if first is None:
        return
    known = segment.newest_up_to(first.batch.last_offset)
    newest = _whole_batch(segment, known, start_offset, end_offset)
    if newest is not None:
        yield newest  # of all up to the first of the walk, and that one too
    else:
        walk = segment.batches_near(start_offset)
    for found in walk:
        if found.batch.last_offset >= end_offset:
            break
        if found.batch.last_offset >= start_offset and _has_times(found):
            yield found


def _whole_batch(
    segment: Segment, newest: TimestampOffset, start_offset: int, end_offset: int
) -> Found | None:
    """The batch that an index entry names, when all of it is visible and it has records."""
    if newest.timestamp_ms == NO_TIMESTAMP or not start_offset <= newest.offset < end_offset:
        return None
    located = segment.locate(newest.offset)
    if located is None or located.base_offset < start_offset:
        return None
    found = next(segment.batches(located.position), None)
    return found if found is not None and _has_times(found) else None


def _has_times(found: Found) -> bool:
    return bool(found.batch.record_count) and found.batch.max_timestamp != NO_TIMESTAMP


def _newest_record(segment: Segment, found: Found, start_offset: int) -> RecordTime | None:
    best = RecordTime(NO_TIMESTAMP, start_offset, found.batch.partition_leader_epoch)
    for offset, timestamp_ms in _times(segment, found):
        if offset >= start_offset and timestamp_ms > best.timestamp_ms:
            best = best._replace(timestamp_ms=timestamp_ms, offset=offset)
    return None if best.timestamp_ms == NO_TIMESTAMP else best


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
