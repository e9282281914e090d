"""Cleaning a log: the newest record of each key stays, in new files beside the old ones.

Synchronous over the file port. Two passes, as in Kafka's log cleaner: the dirty part is read for
the last offset of every key, as far as the map holds; then everything below is written anew.
Segments are put together as long as they fit into one, by what is left of them: Kafka reckons
with their size before, and leaves small ones for the next cleaning.
"""

from dataclasses import asdict

from ...kernel.ports import Clock, FileSystem
from .damage import Damaged
from .filter import BatchFilter
from .job import CleanedSegment, CleanJob, CleanResult, CleanStats, Pace
from .output import CleanedWriter, discard
from .survivors import Survivors
from .windows import windows


def clean(job: CleanJob, fs: FileSystem, *, clock: Clock, pace: Pace) -> CleanResult:
    """Do *job*: write and sync the ``.cleaned`` files of its partition; the originals stay.

    A file of that name left behind is overwritten. Damage gives a result with a fault. Raises
    OSError from the files, and CleanStopped when *pace* did; ``.cleaned`` files may be left then.
    The caller syncs the directory when it renames.
    """
    survivors = Survivors(job)
    filter_ = BatchFilter(job, survivors)
    written: list[CleanedSegment] = []
    started_ms = clock.monotonic_ms()
    try:
        survivors.gather(fs, pace)
        mapped_ms = clock.monotonic_ms()
        _write(job, fs, survivors, filter_, written, pace)
    except Damaged as damaged:
        _discard(job, fs, written)
        return CleanResult(clean_until_offset=job.first_dirty_offset, fault=damaged.fault)
    read = survivors.stats
    facts = asdict(filter_.stats)
    facts["keyless_dropped"] += read.keyless
    return CleanResult(
        segments=tuple(written),
        clean_until_offset=survivors.until_offset,
        stats=CleanStats(
            map_bytes_read=read.bytes_read,
            map_records_read=read.records_read,
            keys=survivors.count,
            map_bytes=survivors.map_bytes,
            map_seconds=(mapped_ms - started_ms) / 1000,
            clean_seconds=(clock.monotonic_ms() - mapped_ms) / 1000,
            **facts,
        ),
    )


def _write(
    job: CleanJob,
    fs: FileSystem,
    survivors: Survivors,
    filter_: BatchFilter,
    written: list[CleanedSegment],
    pace: Pace,
) -> None:
    writer: CleanedWriter | None = None
    try:
        for segment in job.segments:
            if segment.base_offset >= survivors.until_offset:
                break
            if writer is not None and not writer.has_room(segment):
                written.append(writer.finish())
                writer = None
            if writer is None:
                writer = CleanedWriter(fs, job, segment)
            # What is dirty was verified by the first pass, and damage in what is copied stays seen.
            is_unverified = segment.base_offset < job.first_dirty_offset
            for window in windows(fs, job, segment, verify_crc=is_unverified, pace=pace):
                kept = filter_.keep(window)
                pace(writer.append(kept.pieces, kept.sizes, kept.last_offsets, kept.max_timestamps))
            writer.end_source(segment, filter_.transactions.take_index())
        if writer is not None:
            written.append(writer.finish())
    except Damaged:
        if writer is not None:
            writer.discard()
        raise


def _discard(job: CleanJob, fs: FileSystem, written: list[CleanedSegment]) -> None:
    for segment in written:
        discard(fs, job.directory, segment.base_offset)
