"""The steady clock agrees with the wall, and does not follow it when it jumps."""

from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.broker.steady_clock import SLEW, SteadyClock
from headwater.core_log.testing.clock import ManualClock


def test_it_tells_the_time_while_nobody_sets_the_clock() -> None:
    clock = ManualClock()
    steady = SteadyClock(clock)
    for step_ms in (0, 1, 999, 60_000):
        clock.advance(step_ms)
        assert steady.now_ms() == clock.now_ms()
        assert steady.monotonic_ms() == clock.monotonic_ms()


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(-(10**7), 10**7)), max_size=20))
def test_it_moves_at_about_the_speed_of_time(steps: list[tuple[int, int]]) -> None:
    """However the wall jumps, the steady clock advances by the elapsed time, give or take SLEW."""
    clock = ManualClock()
    steady = SteadyClock(clock)
    before_ms = steady.now_ms()
    for elapsed_ms, jump_ms in steps:
        clock.advance(elapsed_ms)
        clock.jump(jump_ms)
        now_ms = steady.now_ms()
        assert abs(now_ms - before_ms - elapsed_ms) <= elapsed_ms * SLEW + 1
        before_ms = now_ms


def test_it_comes_back_to_the_wall() -> None:
    clock = ManualClock()
    steady = SteadyClock(clock)
    clock.jump(1_000)
    for _ in range(21):
        clock.advance(1_000)
        steady.now_ms()
    assert steady.now_ms() == clock.now_ms()
