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
        self._waiting: deque[Deferred[int | ApiError]] = deque()

    def next(self) -> Deferred[int | ApiError]:
        """A fresh id, or the reason why there is none."""
        answer: Deferred[int | ApiError] = Deferred()
        if self._next < self._end:
            answer.resolve(self._take())
            return answer
        self._waiting.append(answer)
        if len(self._waiting) == 1:
            self._allocate().then(self._allocated)
        return answer

    def _take(self) -> int:
        taken = self._next
        self._next += 1
        return taken

    def _allocated(self, block: Block | ApiError) -> None:
        waiting, self._waiting = self._waiting, deque()
        if isinstance(block, ApiError):
            for answer in waiting:
                answer.resolve(block)
            return
        self._next, self._end = block[0], block[0] + block[1]
        while waiting and self._next < self._end:
            waiting.popleft().resolve(self._take())
        for answer in waiting:  # more producers at once than a block has ids
            self.next().then(answer.resolve)
