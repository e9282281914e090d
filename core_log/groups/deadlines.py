"""Named moments at which something must happen, the nearest first.

Heartbeats push a member's deadline ahead thousands of times for every time it comes true, so a
later deadline only changes a dictionary; the heap learns of it when the old moment comes up.
"""

import heapq
from enum import IntEnum
from typing import Final, NamedTuple

_SLACK: Final = 64
"""Stale heap entries that are not worth a rebuild."""


class DeadlineKind(IntEnum):
    """What happens when the moment comes."""

    SESSION = 0
    """A member that has not been heard of is removed."""
    INITIAL_JOIN = 1
    """A new group stops waiting for its first members."""
    JOIN = 2
    """Members that have not joined the rebalance are left behind."""
    SYNC = 3
    """Members that have not fetched their assignment are removed."""
    RETENTION = 4
    """The shard looks for offsets and groups that have expired."""


class Deadline(NamedTuple):
    """The name of a moment; a shard has at most one moment for each name."""

    kind: DeadlineKind
    group_id: str = ""
    member_id: str = ""


class Deadlines:
    """A mutable set of deadlines.

    Invariant: for each deadline in force the heap holds an entry that is not later than it.
    """

    def __init__(self) -> None:
        self._due_ms: dict[Deadline, int] = {}
        self._entry_ms: dict[Deadline, int] = {}
        self._heap: list[tuple[int, Deadline]] = []

    def __len__(self) -> int:
        return len(self._due_ms)

    def __contains__(self, deadline: Deadline) -> bool:
        return deadline in self._due_ms

    def set(self, deadline: Deadline, due_ms: int) -> None:
        """Let *deadline* come at *due_ms*, whatever it was before."""
        self._due_ms[deadline] = due_ms
        entry_ms = self._entry_ms.get(deadline)
        if entry_ms is None or entry_ms > due_ms:
            self._entry_ms[deadline] = due_ms
            heapq.heappush(self._heap, (due_ms, deadline))

    def cancel(self, deadline: Deadline) -> None:
        """Forget *deadline*; fine when it is not set."""
        self._due_ms.pop(deadline, None)
        if len(self._heap) > 2 * len(self._due_ms) + _SLACK:
            self._rebuild()

    def next_ms(self) -> int | None:
        """The nearest moment, None when there is none."""
        self._settle()
        return self._heap[0][0] if self._heap else None

    def pop(self, now_ms: int) -> Deadline | None:
        """Take one deadline whose moment has come, the earliest first; None when there is none."""
        self._settle()
        if not self._heap or self._heap[0][0] > now_ms:
            return None
        _, deadline = heapq.heappop(self._heap)
        del self._entry_ms[deadline]
        del self._due_ms[deadline]
        return deadline

    def _settle(self) -> None:
        """Make the first entry of the heap a true one."""
        while self._heap:
            entry_ms, deadline = self._heap[0]
            if self._entry_ms.get(deadline) != entry_ms:  # an earlier entry has replaced it
                heapq.heappop(self._heap)
                continue
            due_ms = self._due_ms.get(deadline)
            if due_ms == entry_ms:
                return
            heapq.heappop(self._heap)
            del self._entry_ms[deadline]
            if due_ms is not None:
                self._entry_ms[deadline] = due_ms
                heapq.heappush(self._heap, (due_ms, deadline))

    def _rebuild(self) -> None:
        self._entry_ms = dict(self._due_ms)
        self._heap = [(due_ms, deadline) for deadline, due_ms in self._due_ms.items()]
        heapq.heapify(self._heap)
