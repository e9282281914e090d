"""Timers of the broker: one heap, driven by whoever owns a clock.

Kafka's purgatory uses hierarchical wheels because it cancels millions of timers. Parked fetches
here number one per connection, so a heap with lazy cancellation stays small and is exact.
"""

import heapq
from collections.abc import Callable


class Timer:
    """One moment to act at; ``cancel`` makes it a no-op."""

    __slots__ = ("action", "deadline_ms")

    def __init__(self, deadline_ms: int, action: Callable[[], None]) -> None:
        self.deadline_ms = deadline_ms
        self.action: Callable[[], None] | None = action

    def cancel(self) -> None:
        self.action = None


class Timers:
    """Pending timers by deadline, in monotonic milliseconds; equal deadlines fire in order."""

    def __init__(self, on_earlier: Callable[[], None] = lambda: None) -> None:
        """*on_earlier* is told when a timer becomes the next one to fire."""
        self._heap: list[tuple[int, int, Timer]] = []
        self._sequence = 0
        self._on_earlier = on_earlier

    def __len__(self) -> int:
        return len(self._heap)

    def at(self, deadline_ms: int, action: Callable[[], None]) -> Timer:
        """Call *action* once the clock has reached *deadline_ms*."""
        timer = Timer(deadline_ms, action)
        self._sequence += 1
        heapq.heappush(self._heap, (deadline_ms, self._sequence, timer))
        if self._heap[0][2] is timer:
            self._on_earlier()
        return timer

    def next_deadline_ms(self) -> int | None:
        """When ``fire`` has something to do next; None when nothing is pending."""
        self._drop_cancelled()
        return self._heap[0][0] if self._heap else None

    def fire(self, now_ms: int) -> int:
        """Run what is due, in order of deadline; the number of actions that ran."""
        count = 0
        while self._heap and self._heap[0][0] <= now_ms:
            timer = heapq.heappop(self._heap)[2]
            action, timer.action = timer.action, None
            if action is not None:
                action()
                count += 1
        return count

    def _drop_cancelled(self) -> None:
        while self._heap and self._heap[0][2].action is None:
            heapq.heappop(self._heap)
