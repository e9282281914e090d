"""Compaction, as the log sees it: which job it offers, and how the result takes its place."""

from bisect import bisect_left
from itertools import pairwise

from . import swap
from .cleanable import Dirtiness, DirtySegment, valid_first_dirty_offset
from .cleanable import dirtiness as dirtiness_of
from .cleaning import Cleaning, CleanLimits, clean_job
from .compaction.job import SECRET_BYTES, CleanedSegment, CleanJob, CleanResult
from .segment import Segment
from .state import LogState, base_offset_of
from .swap import Replacement, SwapJob


def fits(log: LogState, job: CleanJob) -> bool:
    """The job is under way, and all that it is about is still there."""
    cleaning = log.cleaning
    first_base_offset = job.segments[0].base_offset
    return (
        cleaning is not None
        and cleaning.job is job
        and log.segments[0].base_offset == first_base_offset
    )


def dirtiness(log: LogState, *, high_watermark: int, now_ms: int) -> Dirtiness | None:
    """See PartitionLog.dirtiness."""
    sealed = log.segments[:-1]
    is_idle = log.cleaning is None and log.damage is None
    if not (sealed and log.config.cleanup_compact and is_idle):
        return None
    first_dirty_offset = valid_first_dirty_offset(
        log.cleaned_offset,
        log_start_offset=log.log_start_offset,
        log_end_offset=log.log_end_offset,
    )
    if first_dirty_offset >= log.active.base_offset:
        return None
    log.check_online()
    policy = log.config.cleaning
    with log.translated():
        return dirtiness_of(
            [
                DirtySegment(
                    base_offset=segment.base_offset,
                    end_offset=following.base_offset,
                    size_bytes=segment.size_bytes,
                    first_timestamp_ms=(
                        segment.first_timestamp_ms() if policy.lag_ms_max is not None else -1
                    ),
                    newest_timestamp_ms=(
                        segment.newest().timestamp_ms if policy.lag_ms_min else -1
                    ),
                )
                for segment, following in pairwise(log.segments)
            ],
            policy,
            first_dirty_offset=first_dirty_offset,
            stable_offset=min(log.last_stable(high_watermark), log.recovery_point),
            now_ms=now_ms,
        )


def begin_clean(
    log: LogState, found: Dirtiness, limits: CleanLimits, *, now_ms: int
) -> CleanJob | None:
    """See PartitionLog.begin_clean."""
    log.check_online()
    assert log.cleaning is None, log
    segments = [segment for segment in log.segments[:-1] if segment.base_offset < found.end_offset]
    if not segments or not found.cleanable_bytes:
        return None
    # The active segment's name tells where the log ends once the batches before it are gone.
    if not log.active.is_created:
        log.create_active()
    with log.translated():
        job = clean_job(
            log.path,
            topic=log.topic,
            partition=log.partition,
            segments=segments,
            found=found,
            config=log.config,
            limits=limits,
            producers=log.producers.last_batches(),
            aborted=log.aborted_transactions(segments[0].base_offset, found.end_offset),
            secret=log.volume.rng.randbytes(SECRET_BYTES),
            now_ms=now_ms,
        )
    log.cleaning = Cleaning(job)
    return job


def begin_swap(log: LogState, job: CleanJob, result: CleanResult) -> SwapJob | None:
    """See PartitionLog.begin_swap."""
    log.check_online()
    cleaning = log.cleaning
    if cleaning is None or cleaning.job is not job or not log.config.cleanup_compact:
        return None
    return cleaning.begin_swap(log.volume.fs, result, first_base_offset=log.segments[0].base_offset)


def switch(log: LogState, job: SwapJob, *, count_max: int | None = None) -> bool:
    """See PartitionLog.switch."""
    cleaning = log.cleaning
    if cleaning is None or cleaning.swap is not job:
        return True
    log.check_online()
    with log.translated():
        for place, cleaned in cleaning.pending[:count_max]:
            _replace(log, place, cleaned)
    del cleaning.pending[:count_max]
    return not cleaning.pending


def end_clean(log: LogState, job: CleanJob, clean_until_offset: int | None) -> None:
    """The job has ended, one way or the other; with an offset so far the log is clean."""
    if log.cleaning is not None and log.cleaning.job is job:
        log.cleaning = None
        if clean_until_offset is not None:
            log.cleaned_offset = clean_until_offset


def end_cleaning(log: LogState) -> None:
    """Have a job that is under way end here and now: the log is about to change or to close.

    A swap that is decided is carried out, since the next start would do so; any other result
    comes too late.
    """
    cleaning = log.cleaning
    if cleaning is not None and cleaning.swap is not None and cleaning.swap.settle():
        switch(log, cleaning.swap)
        with log.translated():
            swap.complete(log.volume.fs, log.path)
    log.cleaning = None


def _replace(log: LogState, place: Replacement, cleaned: CleanedSegment) -> None:
    first = bisect_left(log.segments, place.base_offset, key=base_offset_of)
    end = bisect_left(log.segments, place.end_offset, key=base_offset_of)
    old = log.segments[first:end]
    for segment in old:
        for path in segment.paths:
            log.volume.forget(path)
    log.replaced += swap.switch(
        log.volume.fs,
        log.path,
        [segment.base_offset for segment in old],
        place.base_offset,
    )
    segment = Segment(
        log.volume,
        log.path,
        place.base_offset,
        created_ms=log.volume.clock.now_ms(),
        interval_bytes=log.config.index_interval_bytes,
        size_bytes=cleaned.size_bytes,
    )
    segment.unload()
    log.segments[first:end] = [segment]
