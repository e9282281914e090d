"""Records by time: the first not older than asked, and the newest, against a plain list."""

from dataclasses import replace
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.core_log.records.batch import read_batch
from headwater.core_log.records.compression import Codec
from headwater.core_log.records.record import NewRecord, build_batch, encode_record
from headwater.core_log.storage import lookup
from headwater.core_log.storage.compaction.rewrite import with_records, without_records
from headwater.core_log.storage.config import LogConfig

from .world import World

SMALL = LogConfig(segment_bytes=400, index_interval_bytes=100, retention_ms=None)

Times = list[list[int]]
Visible = list[tuple[int, int]]  # timestamp and offset, in log order
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

    assert newest == newest_of(visible)


def newest_of(visible: Visible) -> tuple[int, int, int] | None:
    """The first of the records with the highest timestamp, as a child would look for it."""
    time = max((time for time, _ in visible), default=-1)
    return None if time < 0 else (time, next(o for t, o in visible if t == time), 4)


class Cleaned(NamedTuple):
    """A batch that compaction has been at: which of its records stay, and what it became."""

    times: list[int]
    stays: list[bool]  # as many as there are times, or more
    gap: int  # offsets before it that are gone with their batches
    horizon_ms: int | None
    is_compressed: bool

    def kept(self, base_offset: int) -> Visible:
        pairs = zip(self.times, self.stays, strict=False)
        return [(time, base_offset + i) for i, (time, stays) in enumerate(pairs) if stays]

    def encode(self, base_offset: int) -> bytearray:
        codec = Codec.GZIP if self.is_compressed else Codec.NONE
        records = [NewRecord(timestamp_ms=time, value=b"v") for time in self.times]
        whole = read_batch(
            build_batch(records, base_offset=base_offset, leader_epoch=4, compression=codec)
        )
        kept = self.kept(base_offset)
        if not kept:
            return without_records(whole)
        section = bytearray()
        for time, offset in kept:
            encode_record(
                section,
                NewRecord(timestamp_ms=time, value=b"v"),
                offset_delta=offset - base_offset,
                timestamp_delta=time - self.times[0],
            )
        return with_records(
            whole,
            bytes(section),
            record_count=len(kept),
            max_timestamp=max(time for time, _ in kept),
            delete_horizon_ms=self.horizon_ms,
        )


cleaned = st.builds(
    Cleaned,
    times=st.lists(st.integers(-1, 12), min_size=1, max_size=4),
    stays=st.lists(st.booleans(), min_size=4, max_size=4),
    gap=st.sampled_from([0, 0, 1, 5]),
    horizon_ms=st.sampled_from([None, None, 3, 40]),
    is_compressed=st.booleans(),
)


@given(
    batches=st.lists(cleaned, min_size=1, max_size=14),
    data=st.data(),
    is_clean=st.none() | st.booleans(),
)
@settings(deadline=None)
def test_lookups_in_a_cleaned_log_find_what_is_left(
    batches: list[Cleaned], data: st.DataObject, *, is_clean: bool | None
) -> None:
    """Batches with gaps inside and between them, empty ones, ones with a delete horizon: a record
    that is gone is never the answer, whatever the log start and the end given."""
    world = World(SMALL)
    left: Visible = []
    ends = [0]
    encoded = bytearray()
    for batch in batches:
        base_offset = ends[-1] + batch.gap
        encoded += batch.encode(base_offset)
        left += batch.kept(base_offset)
        ends.append(base_offset + len(batch.times))
    world.log.append_as_follower(encoded, now_ms=7, may_leave_gaps=True)
    world.log.flush()
    if is_clean is not None:
        world.restart(clean=is_clean)
    log = world.log
    start = data.draw(st.integers(0, ends[-1]), label="log start")
    end = data.draw(st.sampled_from(ends), label="end")
    log.raise_log_start(start)
    visible = [(time, offset) for time, offset in left if start <= offset < end]
    wanted = data.draw(st.integers(0, 13), label="wanted")

    expected = next(((time, offset, 4) for time, offset in visible if time >= wanted), None)
    assert log.offset_for_timestamp(wanted, end_offset=end) == expected
    assert log.max_timestamp_offset(end_offset=end) == newest_of(visible)


def test_the_newest_record_of_an_emptied_batch_is_gone() -> None:
    """Its time stays in the header, so that retention and duplicates go on as before."""
    world = World(SMALL)
    old = Cleaned([1, 2], [True, True], 0, None, is_compressed=False).encode(0)
    emptied = Cleaned([9], [False], 0, None, is_compressed=False).encode(2)
    world.log.append_as_follower(old + emptied, now_ms=7)
    world.log.flush()
    assert world.log.max_timestamp_offset(end_offset=3) == (2, 1, 4)
    assert world.log.offset_for_timestamp(3, end_offset=3) is None


def test_a_record_below_the_log_start_is_not_the_newest() -> None:
    """Though its batch reaches above the start and has its time in the header."""
    world = world_of([[9, 1, 3, 2], [5], [2]])
    world.log.raise_log_start(1)
    assert world.log.max_timestamp_offset(end_offset=4) == (3, 2, 4)
    assert world.log.max_timestamp_offset(end_offset=6) == (5, 4, 4)
    world.log.raise_log_start(5)
    assert world.log.max_timestamp_offset(end_offset=6) == (2, 5, 4)


def test_the_newest_visible_record_is_found_by_the_indexes() -> None:
    """Readers often do not see the tail yet: nobody walks through a segment for that."""
    world = world_of([[time] for time in range(500)], LogConfig(index_interval_bytes=500))
    (segment,) = world.log.segments
    for end in (1, 7, 250, 499):
        assert world.log.max_timestamp_offset(end_offset=end) == (end - 1, end - 1, 4)
        assert len(list(lookup._candidates(segment, 0, end))) <= 10
    assert len(list(lookup._candidates(segment, 0, 500))) == 1


def test_of_equal_times_in_two_segments_the_first_is_the_newest() -> None:
    """Also when the second segment holds a newer one that nobody may see."""
    world = world_of([[1], [5], [2], [3], [1], [4], [5], [9]])
    assert world.log.segment_count == 2
    assert world.log.max_timestamp_offset(end_offset=7) == (5, 1, 4)
    assert world.log.max_timestamp_offset(end_offset=8) == (9, 7, 4)


def test_a_later_segment_has_the_newest_record() -> None:
    """By one millisecond."""
    world = world_of([[5]] * 6 + [[6]])
    assert world.log.segment_count == 2
    assert world.log.max_timestamp_offset(end_offset=7) == (6, 6, 4)


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
