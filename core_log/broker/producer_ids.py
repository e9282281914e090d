"""Producer ids of this node, out of blocks that the controller hands out (KIP-730).

A block is committed to the metadata before its first id is given, so an id is never given twice,
whatever crashes; the rest of a block is lost at a stop, which 2^63 ids can bear.
"""

from collections import deque
from collections.abc import Callable
from typing import TypeAlias, final

from ..kernel.errors import ApiError
from .deferred import Deferred

Block: TypeAlias = tuple[int, int]
"""First id and how many."""


@final
class ProducerIds:
    """Gives each id once; asks for the next block when one runs out."""

    def __init__(self, allocate: Callable[[], Deferred[Block | ApiError]]) -> None:
        self._allocate = allocate
        self._next = 0
        self._end = 0
        self._waiting: deque[Callable[[ApiError | None], None]] = deque()

    def next(self) -> Deferred[int | ApiError]:
        """A fresh id, or the reason why there is none."""
        answer: Deferred[int | ApiError] = Deferred()

        def ready(error: ApiError | None) -> None:
            taken = error if error is not None else self.take()
            if taken is None:  # more producers at once than a block has ids
                self._when_ready(ready)
            else:
                answer.resolve(taken)

        self._when_ready(ready)
        return answer

    def take(self) -> int | None:
        """A fresh id, None when none is at hand; then the next block is under way."""
        if self._next == self._end:
            self._when_ready(lambda _: None)
            return None
        taken = self._next
        self._next += 1
        return taken

    def ready(self) -> Deferred[ApiError | None]:
        """Resolved when ``take`` will give an id, or with the reason why it will not."""
        answer: Deferred[ApiError | None] = Deferred()
        self._when_ready(answer.resolve)
        return answer

    def _when_ready(self, listener: Callable[[ApiError | None], None]) -> None:
        if self._next < self._end:
            listener(None)
            return
        self._waiting.append(listener)
        if len(self._waiting) == 1:
            self._allocate().then(self._allocated)

    def _allocated(self, block: Block | ApiError) -> None:
        error = block if isinstance(block, ApiError) else None
        if not isinstance(block, ApiError):
            self._next, self._end = block[0], block[0] + block[1]
        waiting, self._waiting = self._waiting, deque()
        for listener in waiting:
            listener(error)
