"""Retention deletes from the old end, never what is active or unread, and keeps its bounds."""

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.storage.retention import RetentionPolicy, SegmentFacts, expired_count

DAY_MS = 86_400_000
KEEP_ALL = RetentionPolicy(age_ms_max=None, log_bytes_max=None)

sizes = st.sampled_from([1, 2, 3])
byte_sizes = st.sampled_from([0, 1, 2, 3])  # none: compaction has emptied it
stamps = st.sampled_from([-1, 0, 1 * DAY_MS, 1 * DAY_MS + 1, 9 * DAY_MS])
policies = st.builds(
    RetentionPolicy,
    age_ms_max=st.none() | st.sampled_from([0, DAY_MS, 8 * DAY_MS]),
    log_bytes_max=st.none() | st.integers(0, 20),
)


@st.composite
def logs(draw: st.DrawFn) -> list[SegmentFacts]:
    """A log of up to six segments of up to three offsets each."""
    facts = draw(st.lists(st.tuples(sizes, byte_sizes, stamps), max_size=6))
    ends = accumulate(records for records, _, _ in facts)
    return [
        SegmentFacts(end_offset=end, size_bytes=size, timestamp_ms_max=stamp)
        for end, (_, size, stamp) in zip(ends, facts, strict=True)
    ]


@given(log=logs(), policy=policies, now_ms=st.integers(0, 20 * DAY_MS), data=st.data())
def test_the_active_segment_and_unread_records_stay(
    log: list[SegmentFacts], policy: RetentionPolicy, now_ms: int, data: st.DataObject
) -> None:
    """No policy, clock or size deletes the active segment or passes the high watermark."""
    # Errors live at the edges of segments: draw the offsets there, not anywhere.
    edges = st.sampled_from([0, *(segment.end_offset + d for segment in log for d in (-1, 0, 1))])
    high_watermark = data.draw(edges, label="high watermark")
    log_start_offset = data.draw(edges, label="log start offset")

    count = expired_count(
        log,
        policy,
        now_ms=now_ms,
        high_watermark=high_watermark,
        log_start_offset=log_start_offset,
    )

    assert 0 <= count <= max(len(log) - 1, 0)
    assert all(segment.end_offset <= high_watermark for segment in log[:count])


@given(log=logs(), data=st.data())
def test_size_retention_keeps_the_bound(log: list[SegmentFacts], data: st.DataObject) -> None:
    """Deleting by size never takes the log below its bound, and leaves no surplus segment."""
    tails = [sum(segment.size_bytes for segment in log[i:]) for i in range(len(log) + 1)]
    bound = data.draw(st.sampled_from([max(t + d, 0) for t in tails for d in (-1, 0, 1)]))
    policy = RetentionPolicy(age_ms_max=None, log_bytes_max=bound)

    count = expired_count(log, policy, now_ms=0, high_watermark=10_000)

    kept = sum(segment.size_bytes for segment in log[count:])
    assert count == 0 or kept >= bound
    full = [segment.size_bytes for segment in log[count:-1] if segment.size_bytes]
    assert not full or kept - full[0] < bound


@given(log=logs(), data=st.data())
def test_segments_below_the_log_start_go(log: list[SegmentFacts], data: st.DataObject) -> None:
    """DeleteRecords frees every whole segment below the offset it left, and no other."""
    edges = [0, *(segment.end_offset + d for segment in log for d in (-1, 0, 1))]
    start = data.draw(st.sampled_from(edges), label="log start offset")

    count = expired_count(log, KEEP_ALL, now_ms=0, high_watermark=10_000, log_start_offset=start)

    assert count == sum(segment.end_offset <= start for segment in log[:-1])


def test_a_segment_ages_by_its_newest_record() -> None:
    """One young record keeps the whole segment, and every segment behind it."""
    ages = [1 * DAY_MS, 9 * DAY_MS, 1 * DAY_MS, 1 * DAY_MS]
    log = [
        SegmentFacts(end_offset=10 * (i + 1), size_bytes=1, timestamp_ms_max=stamp)
        for i, stamp in enumerate(ages)
    ]
    policy = RetentionPolicy(age_ms_max=7 * DAY_MS, log_bytes_max=None)

    def expired(now_ms: int) -> int:
        return expired_count(log, policy, now_ms=now_ms, high_watermark=40)

    assert expired(8 * DAY_MS) == 0  # exactly the bound is not yet older
    assert expired(8 * DAY_MS + 1) == 1
    assert expired(16 * DAY_MS) == 1
    assert expired(16 * DAY_MS + 1) == 3


def test_a_segment_read_to_its_end_may_go() -> None:
    """The high watermark at a segment's end frees it, one record before does not."""
    log = [SegmentFacts(end_offset=end, size_bytes=1, timestamp_ms_max=0) for end in (10, 20)]
    policy = RetentionPolicy(age_ms_max=0, log_bytes_max=None)

    assert expired_count(log, policy, now_ms=1, high_watermark=9) == 0
    assert expired_count(log, policy, now_ms=1, high_watermark=10) == 1


def test_a_segment_without_timestamps_does_not_age() -> None:
    """No record says how old it is, so nothing says that it is too old."""
    log = [SegmentFacts(end_offset=i, size_bytes=1, timestamp_ms_max=-1) for i in (1, 2)]
    policy = RetentionPolicy(age_ms_max=0, log_bytes_max=None)

    assert expired_count(log, policy, now_ms=100 * DAY_MS, high_watermark=2) == 0


EMPTIED = [(10, 1, 0), (20, 0, -1), (30, 0, -1), (40, 1, 9 * DAY_MS), (50, 1, 9 * DAY_MS)]


@pytest.mark.parametrize(("now_ms", "count"), [(7, 0), (8, 1), (16, 1), (17, 4)])
def test_a_segment_that_compaction_has_emptied_goes_with_the_next_one(
    now_ms: int, count: int
) -> None:
    """Alone it would move the log start past consumers in the gap; it keeps nothing from going."""
    log = [
        SegmentFacts(end_offset=end, size_bytes=size, timestamp_ms_max=stamp)
        for end, size, stamp in EMPTIED
    ]
    policy = RetentionPolicy(age_ms_max=7 * DAY_MS, log_bytes_max=None)
    assert expired_count(log, policy, now_ms=now_ms * DAY_MS, high_watermark=50) == count


@pytest.mark.parametrize(("bytes_max", "count"), [(1, 4), (2, 1), (3, 0)])
def test_an_emptied_segment_frees_no_bytes(bytes_max: int, count: int) -> None:
    """So the size of the log is no reason to delete it."""
    log = [
        SegmentFacts(end_offset=end, size_bytes=size, timestamp_ms_max=stamp)
        for end, size, stamp in EMPTIED
    ]
    policy = RetentionPolicy(age_ms_max=None, log_bytes_max=bytes_max)
    assert expired_count(log, policy, now_ms=0, high_watermark=50) == count


def test_an_emptied_segment_below_the_log_start_goes() -> None:
    """It is nobody's, as any other."""
    log = [
        SegmentFacts(end_offset=end, size_bytes=size, timestamp_ms_max=stamp)
        for end, size, stamp in EMPTIED
    ]
    for start, count in [(20, 2), (30, 3), (39, 3), (40, 4)]:
        assert (
            expired_count(log, KEEP_ALL, now_ms=0, high_watermark=50, log_start_offset=start)
            == count
        )


@pytest.mark.parametrize("bounds", [(-1, None), (None, -1)])
def test_negative_bounds_are_refused(bounds: tuple[int | None, int | None]) -> None:
    """Kafka's -1 for no bound is None here; another negative number means nothing."""
    with pytest.raises(ValueError, match="got -1"):
        RetentionPolicy(age_ms_max=bounds[0], log_bytes_max=bounds[1])
