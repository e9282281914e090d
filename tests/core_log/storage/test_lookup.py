"""Records by time: the first not older than asked, and the newest, against a plain list."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.core_log.records.batch import read_batch
from headwater.core_log.records.compression import Codec
from headwater.core_log.records.record import NewRecord, build_batch
from headwater.core_log.storage.config import LogConfig

from .world import World

SMALL = LogConfig(segment_bytes=400, index_interval_bytes=100, retention_ms=None)

Times = list[list[int]]
times = st.lists(st.lists(st.integers(-1, 12), min_size=1, max_size=4), min_size=1, max_size=12)


def world_of(batches: Times, config: LogConfig = SMALL, codec: Codec = Codec.NONE) -> World:
    world = World(config)
    for batch in batches:
        records = [NewRecord(timestamp_ms=time, value=b"v") for time in batch]
        world.log.append_as_leader(
            read_batch(build_batch(records, compression=codec)), leader_epoch=4, now_ms=7
        )
    world.log.flush()
    return world


@given(batches=times, data=st.data(), is_clean=st.none() | st.booleans())
@settings(deadline=None)
def test_lookups_agree_with_a_list(
    batches: Times, data: st.DataObject, *, is_clean: bool | None
) -> None:
    """Hot, after a clean stop and after a kill; from the log start on, below the end given."""
    codec = data.draw(st.sampled_from([Codec.NONE, Codec.GZIP]))
    world = world_of(batches, codec=codec)
    if is_clean is not None:
        world.restart(clean=is_clean)
    log = world.log
    flat = [time for batch in batches for time in batch]
    bounds = [sum(map(len, batches[:i])) for i in range(len(batches) + 1)]
    start = data.draw(st.integers(0, len(flat)))
    end = data.draw(st.sampled_from(bounds))
    log.raise_log_start(start)
    visible = [(time, offset) for offset, time in enumerate(flat) if start <= offset < end]
    wanted = data.draw(st.integers(0, 13))

    found = log.offset_for_timestamp(wanted, end_offset=end)

    expected = next(((time, offset, 4) for time, offset in visible if time >= wanted), None)
    assert found == expected

    newest = log.max_timestamp_offset(end_offset=end)

    stamped = [entry for entry in visible if entry[0] >= 0]
    if not stamped:
        assert newest is None or newest.timestamp_ms >= 0
    elif start in bounds:
        time = max(time for time, _ in stamped)
        assert newest == (time, next(o for t, o in stamped if t == time), 4)


def test_append_time_counts_for_every_record() -> None:
    world = world_of([[1, 2], [3]], replace(SMALL, message_timestamp_type="LogAppendTime"))
    assert world.log.offset_for_timestamp(5, end_offset=3) == (7, 0, 4)
    assert world.log.offset_for_timestamp(8, end_offset=3) is None
    assert world.log.max_timestamp_offset(end_offset=3) == (7, 0, 4)


def test_an_empty_log_knows_no_time() -> None:
    world = World()
    assert world.log.offset_for_timestamp(0, end_offset=0) is None
    assert world.log.max_timestamp_offset(end_offset=0) is None


def test_what_is_not_committed_is_not_found() -> None:
    world = world_of([[1], [2], [3]])
    assert world.log.offset_for_timestamp(3, end_offset=2) is None
    assert world.log.max_timestamp_offset(end_offset=2) == (2, 1, 4)
