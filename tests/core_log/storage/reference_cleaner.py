"""A cleaner that a child could follow: batch by batch, slow, for logs of one record a batch.

It stands for ``compaction.cleaner`` where what matters is what becomes of its files. Two old
segments that fit together become one.
"""

from collections.abc import Iterator

from headwater.core_log.kernel.ports import FileSystem, OpenMode
from headwater.core_log.records.batch import Batch
from headwater.core_log.records.record import decode_records
from headwater.core_log.storage import names
from headwater.core_log.storage.compaction.job import (
    CleanedSegment,
    CleanJob,
    CleanResult,
    SourceSegment,
)
from headwater.core_log.storage.index import OffsetIndex, SegmentIndexes, TimeIndex
from headwater.core_log.storage.scan import walk_headers


def clean(job: CleanJob, fs: FileSystem) -> CleanResult:
    """Keep the newest record of each key below the job's end, everything without a key, and the
    last batch of each producer."""
    newest: dict[bytes, int] = {}
    for segment in job.segments:
        for batch in _batches(fs, job, segment):
            if (key := _key(batch)) is not None:
                newest[key] = batch.base_offset
    kept = set(newest.values()) | {producer.last_data_offset for producer in job.producers}
    cleaned = []
    for group in _groups(job):
        batches = [
            batch
            for segment in group
            for batch in _batches(fs, job, segment)
            if _key(batch) is None or batch.base_offset in kept
        ]
        _write(fs, job, group[0].base_offset, batches)
        cleaned.append(
            CleanedSegment(
                base_offset=group[0].base_offset,
                replaces=tuple(segment.base_offset for segment in group),
                size_bytes=sum(batch.size_bytes for batch in batches),
            )
        )
    return CleanResult(segments=tuple(cleaned), clean_until_offset=job.end_offset)


def _groups(job: CleanJob) -> list[list[SourceSegment]]:
    groups: list[list[SourceSegment]] = []
    for segment in job.segments:
        if groups and len(groups[-1]) < 2:
            groups[-1].append(segment)
        else:
            groups.append([segment])
    return groups


def _batches(fs: FileSystem, job: CleanJob, segment: SourceSegment) -> Iterator[Batch]:
    path = f"{job.directory}/{names.offset_name(segment.base_offset, names.LOG)}"
    file = fs.open(path, OpenMode.READ)
    for found in walk_headers(file, 0, segment.size_bytes):
        yield Batch(memoryview(file.read_at(found.batch.size_bytes, found.position)))


def _key(batch: Batch) -> bytes | None:
    if batch.is_control:
        return None
    (record,) = decode_records(batch, bytes_max=1 << 20)
    return record.key


def _write(fs: FileSystem, job: CleanJob, base_offset: int, batches: list[Batch]) -> None:
    indexes = SegmentIndexes(
        OffsetIndex(base_offset), TimeIndex(base_offset), interval_bytes=job.index_interval_bytes
    )
    position = 0
    for batch in batches:
        indexes.add(batch, batch.last_offset, position)
        position += batch.size_bytes
    if batches:
        indexes.seal()
    for suffix, data in (
        (names.LOG, b"".join(batch.view for batch in batches)),
        (names.OFFSET_INDEX, indexes.offsets.entries),
        (names.TIME_INDEX, indexes.times.entries),
    ):
        path = f"{job.directory}/{names.offset_name(base_offset, suffix)}{names.CLEANED}"
        file = fs.open(path, OpenMode.REPLACE)
        file.write_at([data], 0)
        file.sync()
