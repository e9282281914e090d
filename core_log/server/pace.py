"""Keeps a work at so many bytes per second, on average. Pure: it says how long to wait.

After Kafka's ``Throttler``: over each window the work may take what the rate allows, and waits for
the rest of the time that its bytes are worth.
"""

from typing import Final, final

WINDOW_MS: Final = 300
"""Shorter waits would be less exact than the system's timers, longer ones burst."""


@final
class BytePace:
    """Bytes so far, against the time that has passed."""

    __slots__ = ("_bytes", "_bytes_per_second_max", "_started_ms")

    def __init__(self, bytes_per_second_max: float, *, now_ms: int) -> None:
        self._bytes_per_second_max = bytes_per_second_max
        self._started_ms = now_ms
        self._bytes = 0

    def wait_ms(self, size_bytes: int, *, now_ms: int) -> int:
        """How long to wait, now that *size_bytes* more were moved; 0 within a window."""
        self._bytes += size_bytes
        passed_ms = now_ms - self._started_ms
        worth_ms = int(self._bytes * 1000 / self._bytes_per_second_max)
        if max(passed_ms, worth_ms) < WINDOW_MS:
            return 0
        wait_ms = max(0, worth_ms - passed_ms)
        self._started_ms, self._bytes = now_ms + wait_ms, 0
        return wait_ms
