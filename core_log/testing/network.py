"""A network in memory between clients and one LocalBroker, on the broker's manual clock.

Each connection is a pair of ordered byte streams, as TCP gives them, cut at the frames: what is
sent on one arrives in order, what is sent on two may overtake each other. Delays are drawn by the
seed. A stall holds one direction of one connection until it is let go; a reset loses whatever is
under way in both, and each side learns of it as it would of a closed socket. A client that gives a
connection up leaves on it what it has sent: that arrives later, when the client may long be talking
on another (so a commit can come after the next transaction has begun). Nothing moves unless
``deliver`` is called, so the clock and the order of events are the caller's::

    network = MemoryNetwork(broker, seed=7, delay_ms=(0, 20))
    line = network.connect(on_lost=lambda: None)
    line.send(MetadataRequest(topics=None), version=12, on_answer=answers.append)
    network.advance(50)
"""

import heapq
import random
from collections import deque
from collections.abc import Callable
from enum import StrEnum
from itertools import count
from typing import Final, TypeAlias, final

from ..protocol.apis import API_BY_KEY, Api, decode_response, encode_request
from ..protocol.frame import PREFIX_BYTES
from ..protocol.schema import Message
from .local_broker import LocalBroker, LocalConnection

CLIENT_ID: Final = "memory"
Frame: TypeAlias = bytes | None
END: Final = None
"""What comes behind the last frame of an abandoned connection."""


class ConnectionRefused(Exception):
    """The broker is not running."""


class Direction(StrEnum):
    TO_BROKER = "to-broker"
    TO_CLIENT = "to-client"


@final
class MemoryNetwork:
    """All connections to one broker, and what is under way on them.

    ``delay_ms`` is the range that delays are drawn from, both ends included; change it at will.
    """

    def __init__(
        self, broker: LocalBroker, *, seed: int = 0, delay_ms: tuple[int, int] = (0, 0)
    ) -> None:
        self.broker = broker
        self.delay_ms = delay_ms
        self.lines: dict[int, Line] = {}
        """Connections by number, oldest first: open ones, and abandoned ones that still deliver."""
        self._rng = random.Random(seed)  # noqa: S311 - faults, not secrets
        self._numbers = count(1)
        self._sequence = count()
        self._heap: list[tuple[int, int, Callable[[], None]]] = []

    def connect(self, *, on_lost: Callable[[], None] = lambda: None) -> "Line":
        """A new connection; *on_lost* is told once when it ends other than by ``Line.close``.

        Raises ConnectionRefused while the broker is down.
        """
        if self.broker.broker is None:
            raise ConnectionRefused
        line = Line(self, next(self._numbers), on_lost)
        self.lines[line.number] = line
        return line

    def next_due_ms(self) -> int | None:
        """When the next frame arrives, in monotonic milliseconds; None when none is under way."""
        return self._heap[0][0] if self._heap else None

    def deliver(self) -> bool:
        """Hand over the next frame that is due by now; False when none is."""
        if not self._heap or self._heap[0][0] > self.broker.clock.monotonic_ms():
            return False
        heapq.heappop(self._heap)[2]()
        return True

    def settle(self) -> None:
        """Deliver and work until nothing is left to do now; time does not pass."""
        self.broker.settle()
        while self.deliver():
            self.broker.settle()

    def advance(self, duration_ms: int) -> None:
        """Let time pass, stopping wherever a frame is due or the broker has a deadline."""
        clock = self.broker.clock
        end_ms = clock.monotonic_ms() + duration_ms
        self.settle()
        while (due_ms := self._next_event_ms()) is not None and due_ms <= end_ms:
            clock.advance(max(0, due_ms - clock.monotonic_ms()))
            self.settle()
        clock.advance(end_ms - clock.monotonic_ms())

    def carry(self, at_least_ms: int, arrive: Callable[[], None]) -> int:
        """For lines: let *arrive* be called after a drawn delay, not before *at_least_ms*."""
        low_ms, high_ms = self.delay_ms
        now_ms = self.broker.clock.monotonic_ms()
        due_ms = max(at_least_ms, now_ms + self._rng.randrange(low_ms, high_ms + 1))
        heapq.heappush(self._heap, (due_ms, next(self._sequence), arrive))
        return due_ms

    def _next_event_ms(self) -> int | None:
        broker = self.broker.broker
        deadline_ms = None if broker is None else broker.next_deadline_ms()
        dues = [due for due in (self.next_due_ms(), deadline_ms) if due is not None]
        return min(dues, default=None)


@final
class Line:
    """One connection as its client sees it."""

    def __init__(self, network: MemoryNetwork, number: int, on_lost: Callable[[], None]) -> None:
        self.number = number
        self.is_open = True
        self._network = network
        self._on_lost: Callable[[], None] | None = on_lost
        self._correlations = count(1)
        self._waiting: deque[tuple[int, Api, int, Callable[[Message], None]]] = deque()
        self._stalled: dict[Direction, deque[Frame]] = {}
        self._last_due_ms = dict.fromkeys(Direction, 0)
        self._local: LocalConnection = network.broker.connect(
            on_frame=lambda frame: self._carry(Direction.TO_CLIENT, frame), on_closed=self._closing
        )

    def __repr__(self) -> str:
        state = "open" if self.is_open else "abandoned" if self.is_delivering else "closed"
        return f"<Line {self.number} {state}, {len(self._waiting)} answers awaited>"

    @property
    def is_delivering(self) -> bool:
        """The broker has not seen the connection's end, whatever the client knows."""
        return self.number in self._network.lines

    def send(
        self, request: Message, *, version: int, on_answer: Callable[[Message], None] | None
    ) -> None:
        """Send a request; *on_answer* gets the response, None expects none (acks=0).

        On a closed connection nothing happens: its end was told.
        """
        if not self.is_open:
            return
        api = API_BY_KEY[request.API_KEY]
        correlation_id = next(self._correlations)
        frame = b"".join(encode_request(api, version, correlation_id, CLIENT_ID, request))
        if on_answer is not None:
            self._waiting.append((correlation_id, api, version, on_answer))
        self._carry(Direction.TO_BROKER, frame[PREFIX_BYTES:])

    def stall(self, direction: Direction) -> None:
        """Hold everything sent that way from now on, until ``resume``."""
        self._stalled.setdefault(direction, deque())

    def resume(self, direction: Direction) -> None:
        """Let go what was held, in order."""
        for frame in self._stalled.pop(direction, deque()):
            self._carry(direction, frame)

    def reset(self) -> None:
        """Break the connection: what is under way is lost, both sides learn of it now."""
        self._end()
        self._local.disconnect("the connection was reset")

    def close(self) -> None:
        """Close from the client's side; ``on_lost`` is not told."""
        self._on_lost = None
        self.reset()

    def abandon(self) -> None:
        """Close from the client's side, with requests under way: the broker gets them all the same.

        The end of the connection comes behind them. Answers go nowhere, ``on_lost`` is not told.
        """
        if not self.is_open:
            return
        self.is_open = False
        self._on_lost = None
        self._waiting.clear()
        self._stalled.pop(Direction.TO_CLIENT, None)
        self._carry(Direction.TO_BROKER, END)

    def _carry(self, direction: Direction, frame: Frame) -> None:
        if direction in self._stalled:
            self._stalled[direction].append(frame)
            return
        self._last_due_ms[direction] = self._network.carry(
            self._last_due_ms[direction], lambda: self._arrive(direction, frame)
        )

    def _arrive(self, direction: Direction, frame: Frame) -> None:
        if frame is END:
            self.reset()
        elif direction is Direction.TO_BROKER:
            if self._local.closed is None:
                self._local.send_raw(frame)
        elif self.is_open:
            expected_id, api, version, on_answer = self._waiting.popleft()
            correlation_id, response = decode_response(api, version, frame)
            assert correlation_id == expected_id, "answers come in the order of the requests"
            on_answer(response)

    def _closing(self) -> None:
        """The broker closed its side: the client learns after what was sent before."""
        network = self._network
        if network.broker.broker is None:
            self._end()
        else:
            network.carry(self._last_due_ms[Direction.TO_CLIENT], self._end)

    def _end(self) -> None:
        self._network.lines.pop(self.number, None)
        self._stalled.clear()
        if not self.is_open:
            return
        self.is_open = False
        self._waiting.clear()
        on_lost, self._on_lost = self._on_lost, None
        if on_lost is not None:
            on_lost()
