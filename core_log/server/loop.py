"""Ties a broker to an event loop: turns after appends, ticks at deadlines."""

import asyncio
from typing import final

from ..broker.broker import Broker
from ..kernel.ports import Clock


@final
class LoopDriver:
    """Calls ``turn`` once per loop turn that asked for it, and ``tick`` when a deadline comes.

    The broker is attached after its creation because both need each other; until then requests for
    a turn are remembered.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, clock: Clock) -> None:
        self._loop = loop
        self._clock = clock
        self._broker: Broker | None = None
        self._turn_scheduled = False
        self._rearm_scheduled = False
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = False

    def attach(self, broker: Broker) -> None:
        self._broker = broker
        self.rearm()

    def schedule_turn(self) -> None:
        """Run the broker's turn when the events at hand are dealt with."""
        if not self._turn_scheduled and not self._stopped:
            self._turn_scheduled = True
            self._loop.call_soon(self._turn)

    def rearm(self) -> None:
        """A timer may have become the next one; look again soon."""
        if not self._rearm_scheduled and not self._stopped:
            self._rearm_scheduled = True
            self._loop.call_soon(self._arm)

    def stop(self) -> None:
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()

    def _turn(self) -> None:
        self._turn_scheduled = False
        if self._broker is not None:
            self._broker.turn()

    def _arm(self) -> None:
        self._rearm_scheduled = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._broker is None or self._stopped:
            return
        deadline_ms = self._broker.next_deadline_ms()
        if deadline_ms is not None:
            wait_ms = max(0, deadline_ms - self._clock.monotonic_ms())
            self._timer = self._loop.call_later(wait_ms / 1000, self._due)

    def _due(self) -> None:
        """Let requests that came in the meantime be handled before time is.

        After a stall the loop runs timers first; a member whose heartbeat waits in the socket
        would be expired. Two turns later everything that had come is handled.
        """
        self._timer = None
        self._loop.call_soon(self._loop.call_soon, self._tick)

    def _tick(self) -> None:
        if self._stopped:
            return
        if self._broker is not None:
            self._broker.tick(self._clock.monotonic_ms())
        self.rearm()
