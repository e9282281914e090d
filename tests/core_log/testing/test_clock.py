"""A manual clock moves only when told to."""

import pytest

from headwater.core_log.testing.clock import ManualClock


def test_time_stands_still_until_it_is_advanced() -> None:
    clock = ManualClock(now_ms=100, monotonic_ms=5)
    assert (clock.now_ms(), clock.monotonic_ms()) == (100, 5)
    clock.advance(7)
    assert (clock.now_ms(), clock.monotonic_ms()) == (107, 12)


def test_only_the_wall_clock_jumps() -> None:
    clock = ManualClock(now_ms=100, monotonic_ms=5)
    clock.jump(-50)
    assert (clock.now_ms(), clock.monotonic_ms()) == (50, 5)


def test_time_does_not_pass_backwards() -> None:
    with pytest.raises(ValueError, match="jump"):
        ManualClock().advance(-1)
