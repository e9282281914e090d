"""A batch written anew says of its records what the old one said."""

import pytest

from headwater.core_log.records.batch import check_crc, read_batch
from headwater.core_log.records.record import NewRecord, build_batch, decode_records
from headwater.core_log.storage.compaction.rewrite import with_records, without_records


@pytest.mark.parametrize("horizon_ms", [0, 1, 1_700_000_000_000, 2**63 - 1])
@pytest.mark.parametrize("timestamp_ms", [-(2**63) + 9, -1, 0, 1_700_000_000_000, 2**63 - 9])
def test_timestamps_outlive_any_horizon(timestamp_ms: int, horizon_ms: int) -> None:
    """Java adds with 64 bits, and so does this test."""
    batch = read_batch(
        build_batch([NewRecord(timestamp_ms=timestamp_ms + index, key=b"k") for index in range(3)])
    )
    new = read_batch(
        with_records(
            batch,
            bytes(batch.records),
            record_count=3,
            max_timestamp=batch.max_timestamp,
            delete_horizon_ms=horizon_ms,
        )
    )
    check_crc(new)
    assert new.has_delete_horizon
    assert new.base_timestamp == horizon_ms
    times = [record.timestamp_ms for record in decode_records(new, bytes_max=1_000)]
    wrapped = [(time + 2**63) % 2**64 - 2**63 for time in times]
    assert wrapped == [timestamp_ms, timestamp_ms + 1, timestamp_ms + 2]


def test_an_emptied_batch_is_read_by_who_reads_batches() -> None:
    batch = read_batch(build_batch([NewRecord(timestamp_ms=7, key=b"k")], base_offset=4))
    empty = read_batch(without_records(batch))
    check_crc(empty)
    assert decode_records(empty, bytes_max=0) == []
    assert (empty.base_offset, empty.last_offset, empty.max_timestamp) == (4, 4, 7)
