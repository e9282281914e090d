"""A wall clock that does not jump, for deadlines that live beside timestamps.

Group sessions end and offsets expire by moments stored as wall-clock time. When an operator
or NTP sets the clock forward, every session would end at once; so this clock follows the wall only
as fast as slewing does, and otherwise the monotonic clock.
"""

from typing import Final, final

from ..kernel.ports import Clock

SLEW: Final = 0.05
"""The part of elapsed time by which an error is reduced: five seconds a hundred."""


@final
class SteadyClock:
    """Implements Clock over another one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wall_ms = float(clock.now_ms())
        self._monotonic_ms = clock.monotonic_ms()

    def now_ms(self) -> int:
        """Milliseconds since the epoch, within SLEW of the speed of time; never goes back."""
        now_ms = self._clock.monotonic_ms()
        elapsed_ms = now_ms - self._monotonic_ms
        self._monotonic_ms = now_ms
        expected_ms = self._wall_ms + elapsed_ms
        error_ms = self._clock.now_ms() - expected_ms
        slew_ms = elapsed_ms * SLEW
        self._wall_ms = expected_ms + max(-slew_ms, min(slew_ms, error_ms))
        return int(self._wall_ms)

    def monotonic_ms(self) -> int:
        return self._clock.monotonic_ms()
