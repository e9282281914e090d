"""Which log is compacted next, and how far."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.storage.cleanable import (
    CleaningPolicy,
    Dirtiness,
    DirtySegment,
    dirtiest,
    dirtiness,
    valid_first_dirty_offset,
)

DAY_MS = 86_400_000
ALWAYS = CleaningPolicy(dirty_ratio_min=0.0)


def segments(count: int, *, size_bytes: int = 100) -> list[DirtySegment]:
    """Ten offsets each, one record a day."""
    return [
        DirtySegment(
            base_offset=10 * index,
            end_offset=10 * index + 10,
            size_bytes=size_bytes,
            first_timestamp_ms=index * 10 * DAY_MS,
            newest_timestamp_ms=(index * 10 + 9) * DAY_MS,
        )
        for index in range(count)
    ]


def look(policy: CleaningPolicy = ALWAYS, **facts: int) -> Dirtiness:
    told = {"first_dirty_offset": 0, "stable_offset": 1000, "now_ms": 0} | facts
    return dirtiness(segments(5), policy, **told)


@pytest.mark.parametrize(
    ("first_dirty", "clean", "cleanable"),
    [(0, 0, 500), (1, 0, 500), (10, 100, 400), (11, 100, 400), (49, 400, 100), (50, 500, 0)],
)
def test_a_segment_is_dirty_from_its_last_offset_on(
    first_dirty: int, clean: int, cleanable: int
) -> None:
    found = look(first_dirty_offset=first_dirty)
    assert (found.clean_bytes, found.cleanable_bytes) == (clean, cleanable)
    assert found.ratio == cleanable / 500


@pytest.mark.parametrize(("stable", "end"), [(0, 0), (9, 0), (10, 10), (49, 40), (50, 50)])
def test_what_may_still_change_bounds_it(stable: int, end: int) -> None:
    assert look(stable_offset=stable).end_offset == end


def test_a_young_record_bounds_it_but_not_below_the_dirty_part() -> None:
    """What was compacted already may be copied again, however young it is."""
    policy = replace(ALWAYS, lag_ms_min=DAY_MS)
    at = [look(policy, now_ms=days * DAY_MS).end_offset for days in (9, 10, 19, 20)]
    assert at == [0, 10, 10, 20]
    assert look(policy, now_ms=0, first_dirty_offset=20).end_offset == 20


def test_an_old_record_makes_a_log_overdue_only_while_it_is_dirty() -> None:
    policy = CleaningPolicy(dirty_ratio_min=1.0, lag_ms_max=DAY_MS)
    assert not look(policy, now_ms=DAY_MS).is_overdue
    assert look(policy, now_ms=DAY_MS + 1).is_overdue
    assert not look(policy, now_ms=DAY_MS + 1, first_dirty_offset=10).is_overdue
    assert look(policy, now_ms=DAY_MS + 1).is_worth_it(policy)


def test_the_ratio_must_be_above_its_bound() -> None:
    half = Dirtiness(
        first_dirty_offset=0, end_offset=1, clean_bytes=5, cleanable_bytes=5, is_overdue=False
    )
    assert not half.is_worth_it(CleaningPolicy(dirty_ratio_min=0.5))
    assert half.is_worth_it(CleaningPolicy(dirty_ratio_min=0.49))
    nothing = replace(half, clean_bytes=0, cleanable_bytes=0, is_overdue=True)
    assert not nothing.is_worth_it(ALWAYS)
    assert nothing.ratio == 0.0


@pytest.mark.parametrize(
    ("checkpointed", "believed"), [(None, 10), (9, 10), (10, 10), (20, 20), (21, 10)]
)
def test_a_checkpoint_outside_the_log_is_not_believed(
    checkpointed: int | None, believed: int
) -> None:
    assert believed == valid_first_dirty_offset(
        checkpointed, log_start_offset=10, log_end_offset=20
    )


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.booleans()), max_size=6))
def test_the_dirtiest_of_those_worth_it_is_chosen(logs: list[tuple[int, int, bool]]) -> None:
    policy = CleaningPolicy(dirty_ratio_min=0.5)
    facts = [
        Dirtiness(
            first_dirty_offset=0,
            end_offset=1,
            clean_bytes=clean,
            cleanable_bytes=cleanable,
            is_overdue=is_overdue,
        )
        for clean, cleanable, is_overdue in logs
    ]
    chosen = dirtiest((index, found, policy) for index, found in enumerate(facts))
    worth = [index for index, found in enumerate(facts) if found.is_worth_it(policy)]
    assert (chosen is None) == (worth == [])
    if chosen is not None:
        assert chosen in worth
        assert all(facts[chosen].ratio >= facts[index].ratio for index in worth)
