"""Records by time in a log that the cleaner has been at, against the records that it left."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.core_log.records.batch import read_batch
from headwater.core_log.records.compression import Codec
from headwater.core_log.records.record import NewRecord, build_batch, decode_records
from headwater.core_log.storage.compaction.cleaner import clean

from .compacted import CONFIG, Pass
from .world import World, batches_in

Sent = list[tuple[bytes, int]]  # key and timestamp of each record of a batch

keys = st.sampled_from([b"a", b"b", b"c"])
batches = st.lists(
    st.lists(st.tuples(keys, st.integers(0, 20)), min_size=1, max_size=3), min_size=8, max_size=30
)


def no_pace(size_bytes: int) -> None:
    """Tests do not slow the cleaner down."""


def cleaned_world(sent: list[Sent], codec: Codec) -> World:
    """A log of these batches, all by one producer, whose last batch compaction has to keep."""
    world = World(replace(CONFIG, segment_bytes=400))
    sequence = 0
    for batch in sent:
        encoded = build_batch(
            [NewRecord(timestamp_ms=time, key=key, value=b"v") for key, time in batch],
            compression=codec,
            producer_id=7,
            producer_epoch=0,
            base_sequence=sequence,
        )
        sequence += len(batch)
        world.log.append_as_leader(read_batch(encoded), leader_epoch=4, now_ms=0)
    world.log.flush()
    if world.log.dirtiness(high_watermark=world.log.log_end_offset, now_ms=0) is not None:
        one = Pass(world)
        one.result = clean(one.job, world.fs, clock=world.clock, pace=no_pace)
        one.decide().switch()
        one.end()
    return world


def test_a_time_whose_record_is_gone_finds_the_next_one() -> None:
    """And the newest record is not the one whose batch was emptied."""
    sent = [[(b"a", 9)], [(b"b", 1)], *([(b"a", time)] for time in range(2, 8)), [(b"c", 8)]]
    log = cleaned_world(sent, Codec.NONE).log
    left = [batch.base_offset for batch in batches_in(log) if batch.record_count]
    assert left == [1, 4, 5, 6, 7, 8]  # the others are in the active segment
    assert log.offset_for_timestamp(2, end_offset=9) == (4, 4, 4)
    assert log.max_timestamp_offset(end_offset=9) == (8, 8, 4)
    assert log.max_timestamp_offset(end_offset=8) == (7, 7, 4)


@pytest.mark.slow
@given(
    sent=batches,
    codec=st.sampled_from([Codec.NONE, Codec.GZIP]),
    data=st.data(),
    is_clean=st.none() | st.booleans(),
)
@settings(deadline=None, max_examples=60)
def test_lookups_find_what_the_cleaner_has_left(
    sent: list[Sent], codec: Codec, data: st.DataObject, *, is_clean: bool | None
) -> None:
    """At once, after a clean stop and after a kill."""
    world = cleaned_world(sent, codec)
    if is_clean is not None:
        world.restart(clean=is_clean)
    log = world.log
    left = [
        (record.timestamp_ms, record.offset)
        for batch in batches_in(log)
        for record in decode_records(batch, bytes_max=1 << 20)
    ]
    start = data.draw(st.integers(0, log.log_end_offset), label="log start")
    log.raise_log_start(start)
    visible = [(time, offset) for time, offset in left if offset >= start]
    wanted = data.draw(st.integers(0, 21), label="wanted")
    end = log.log_end_offset

    expected = next(((time, offset, 4) for time, offset in visible if time >= wanted), None)
    assert log.offset_for_timestamp(wanted, end_offset=end) == expected
    newest = max(visible, key=lambda record: record[0], default=None)
    found = log.max_timestamp_offset(end_offset=end)
    assert found == (None if newest is None else (*newest, 4))
