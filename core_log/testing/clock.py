"""A clock that stands still until a test moves it."""

from typing import final


@final
class ManualClock:
    """Both clocks of the Clock port; they start apart, so that mixing them up shows."""

    def __init__(self, *, now_ms: int = 1_700_000_000_000, monotonic_ms: int = 1_000) -> None:
        self._now_ms = now_ms
        self._monotonic_ms = monotonic_ms

    def now_ms(self) -> int:
        return self._now_ms

    def monotonic_ms(self) -> int:
        return self._monotonic_ms

    def advance(self, ms: int) -> None:
        """Let *ms* milliseconds pass on both clocks."""
        if ms < 0:
            raise ValueError(f"time passes forwards; to move the wall clock use jump, not {ms}")
        self._now_ms += ms
        self._monotonic_ms += ms

    def jump(self, ms: int) -> None:
        """Set the wall clock forward, or back; the monotonic one does not notice."""
        self._now_ms += ms
