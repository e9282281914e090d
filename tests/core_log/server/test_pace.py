"""Bytes per second, on average, without a clock of its own."""

from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.server.pace import WINDOW_MS, BytePace


def test_a_work_waits_for_what_its_bytes_are_worth() -> None:
    pace = BytePace(1000, now_ms=0)
    assert pace.wait_ms(100, now_ms=10) == 0  # within the window
    assert pace.wait_ms(900, now_ms=50) == 950
    assert pace.wait_ms(500, now_ms=1000) == 500


def test_a_slow_work_does_not_wait_and_saves_nothing_up() -> None:
    pace = BytePace(1000, now_ms=0)
    assert pace.wait_ms(10, now_ms=10_000) == 0
    assert pace.wait_ms(1000, now_ms=10_100) == 900


@given(
    st.integers(1, 10_000),
    st.lists(st.tuples(st.integers(0, 5_000), st.integers(0, 400)), max_size=30),
)
def test_the_average_is_kept(rate: int, steps: list[tuple[int, int]]) -> None:
    pace = BytePace(rate, now_ms=0)
    now_ms = moved = 0
    for size_bytes, work_ms in steps:
        now_ms += work_ms
        moved += size_bytes
        now_ms += pace.wait_ms(size_bytes, now_ms=now_ms)
        assert moved <= rate * (now_ms + WINDOW_MS + len(steps)) / 1000
