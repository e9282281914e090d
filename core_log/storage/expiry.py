"""Raising a log's start: what lies below is hidden at once, its files go with a checkpoint."""

from bisect import bisect_right

from ..kernel.ids import NO_TIMESTAMP
from .notes import Note
from .retention import RetentionPolicy, SegmentFacts, expired_count
from .state import LogState, base_offset_of


def raise_log_start(log: LogState, offset: int) -> list[Note]:
    """See PartitionLog.raise_log_start."""
    if offset > log.log_end_offset:
        raise log.out_of_range(offset)
    if offset <= log.log_start_offset:
        return []
    log.check_online()
    log.log_start_offset = offset
    log.epochs_changed |= log.epochs.truncate_from_start(offset)
    if log.cleaning is not None and log.cleaning.swap is not None:
        return []  # names are being changed: retention removes these files later
    count = bisect_right(log.segments, offset, key=base_offset_of) - 1
    return doom(log, count, "below_log_start")


def delete_expired(log: LogState, *, now_ms: int, high_watermark: int) -> list[Note]:
    """See PartitionLog.delete_expired."""
    log.check_online()
    if log.cleaning is not None:
        return []  # the next look comes; a result for segments that are gone is of no use
    policy = RetentionPolicy(age_ms_max=None, log_bytes_max=None)
    if log.config.cleanup_delete:
        policy = RetentionPolicy(
            age_ms_max=log.config.retention_ms, log_bytes_max=log.config.retention_bytes
        )
    with log.translated():
        facts = _facts(log)
    # As if a new segment had been begun: then the active one is judged like the others.
    beyond = SegmentFacts(
        end_offset=log.log_end_offset, size_bytes=0, timestamp_ms_max=NO_TIMESTAMP
    )
    count = expired_count(
        [*facts, beyond],
        policy,
        now_ms=now_ms,
        high_watermark=high_watermark,
        log_start_offset=log.log_start_offset,
    )
    if count == len(facts) and log.active.size_bytes:
        log.roll()
    count = min(count, len(log.segments) - 1)
    if count:
        offset = log.segments[count].base_offset
        if offset > log.log_start_offset:
            log.log_start_offset = offset
            log.epochs_changed |= log.epochs.truncate_from_start(offset)
    return doom(log, count, "expired")


def doom(log: LogState, count: int, reason: str) -> list[Note]:
    """Let go of the *count* oldest segments; a checkpoint removes their files."""
    doomed = log.segments[:count]
    if not doomed:
        return []
    # The file that stays must exist before others go: its name tells where the log begins.
    if not log.active.is_created:
        log.create_active()
    del log.segments[:count]
    log.unflushed.forget(doomed)
    log.unsaved = [segment for segment in log.unsaved if segment not in doomed]
    for segment in doomed:
        for path in segment.paths:
            log.volume.forget(path)
    log.doomed += doomed
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


def _facts(log: LogState) -> list[SegmentFacts]:
    ends = [segment.base_offset for segment in log.segments[1:]] + [log.log_end_offset]
    return [
        SegmentFacts(
            end_offset=end_offset,
            size_bytes=segment.size_bytes,
            timestamp_ms_max=segment.newest().timestamp_ms if segment.size_bytes else -1,
        )
        for segment, end_offset in zip(log.segments, ends, strict=True)
    ]
