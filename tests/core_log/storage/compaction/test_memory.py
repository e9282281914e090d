"""What a cleaning holds at once does not grow with the log."""

import tracemalloc
from pathlib import Path

import pytest

from headwater.core_log.records.compression import Codec
from headwater.core_log.records.record import NewRecord, build_batch
from headwater.core_log.storage.compaction.cleaner import clean
from headwater.core_log.storage.compaction.job import CleanJob, SourceSegment
from headwater.core_log.storage.fs import OsFileSystem
from headwater.core_log.testing.clock import ManualClock

BATCH_RECORDS = 100
SEGMENT_BATCHES = 800


def write_log(directory: Path, segment_count: int, codec: Codec) -> CleanJob:
    segments = []
    offset = 0
    for _ in range(segment_count):
        base, path = offset, directory / f"{offset:020d}.log"
        with path.open("wb") as file:
            for _ in range(SEGMENT_BATCHES):
                batch = build_batch(
                    [
                        NewRecord(timestamp_ms=0, key=b"%d" % index, value=bytes(80))
                        for index in range(BATCH_RECORDS)
                    ],
                    compression=codec,
                )
                batch[:8] = offset.to_bytes(8, "big")
                file.write(batch)
                offset += BATCH_RECORDS
        segments.append(
            SourceSegment(
                base_offset=base,
                end_offset=offset,
                size_bytes=path.stat().st_size,
            )
        )
    return CleanJob(
        directory=str(directory),
        topic="t",
        partition=0,
        segments=tuple(segments),
        first_dirty_offset=0,
        end_offset=offset,
        now_ms=0,
        delete_retention_ms=0,
        producers=(),
        aborted=(),
        secret=bytes(32),
        segment_bytes=2**30,
        segment_index_bytes=2**20,
        index_interval_bytes=4096,
        batch_bytes_max=10**6,
        unpacked_bytes_max=10**7,
        map_bytes_max=10**6,
        io_buffer_bytes=0,
    )


def peak_bytes(directory: Path, segment_count: int, codec: Codec) -> int:
    directory.mkdir()
    job = write_log(directory, segment_count, codec)
    tracemalloc.start()
    try:
        result = clean(job, OsFileSystem(), clock=ManualClock(), pace=lambda _: None)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.stats.records_out == BATCH_RECORDS
    return peak


@pytest.mark.slow
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.LZ4])
def test_memory_is_that_of_a_window_however_long_the_log(tmp_path: Path, codec: Codec) -> None:
    """Compressed, a window holds many times as much; it is unpacked in portions."""
    few = peak_bytes(tmp_path / "few", 1, codec)
    many = peak_bytes(tmp_path / "many", 4, codec)
    assert many < 1.3 * few
    assert many < 40_000_000
