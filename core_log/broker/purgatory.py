"""Fetches that wait for data: woken by the partitions they watch or by their deadline.

KIP-227's description of delayed fetches applies: a parked fetch looks again whenever one of its
partitions may have more to give, and answers when it has enough bytes, an error, or no time left.
"""

from collections.abc import Callable, Sequence
from typing import final

from .partitions import Hosted
from .timers import Timer, Timers


@final
class ParkedFetch:
    """One waiting fetch. *attempt* answers the request and says so, or says it must wait on."""

    __slots__ = ("_attempt", "_timer", "_watched")

    def __init__(
        self,
        attempt: Callable[[bool], bool],
        watched: Sequence[Hosted],
        timers: Timers,
        *,
        deadline_ms: int,
    ) -> None:
        self._attempt = attempt
        self._watched = watched
        self._timer: Timer | None = timers.at(deadline_ms, self._expire)
        self._watch()

    def abandon(self) -> None:
        """Forget the request; its connection is gone."""
        self._finish()

    def _watch(self) -> None:
        for hosted in self._watched:
            hosted.fetches[self] = self._wake

    def _wake(self) -> None:
        if self._timer is None:
            return
        if self._attempt(False):
            self._finish()
        else:
            self._watch()

    def _expire(self) -> None:
        if self._timer is not None:
            self._finish()
            self._attempt(True)

    def _finish(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for hosted in self._watched:
            hosted.fetches.pop(self, None)
