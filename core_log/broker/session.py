"""One connection: requests in, answers out in the order of the requests.

Kafka reads a connection's next request only when it has answered the last one. Here requests
that a client sent ahead are handled as they come, because idempotent producers keep five in
flight and their appends can share one write; answers still leave in order. A request that waits
for anything but its own append (a long poll, a rebalance) holds back those behind it, as in Kafka:
one parked fetch per connection is then the most a peer can leave behind.
"""

from collections import deque
from collections.abc import Callable
from typing import Any, Final, Protocol, TypeAlias, final

from ..kernel.ports import Buffer
from .deferred import Deferred

Frames: TypeAlias = list[Buffer]
"""A response frame in parts, size prefix included."""

WAITING_FRAMES_MAX: Final = 16
"""Requests held back on one connection before reading from it stops."""


class Transport(Protocol):
    """The socket side of a connection."""

    def send(self, parts: Frames) -> None: ...
    def close(self, reason: str) -> None: ...
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...


class Later:
    """An answer that comes: *encode* makes the parts of what *deferred* brings."""

    __slots__ = ("deferred", "encode", "mutes")

    def __init__(
        self, deferred: "Deferred[Any]", encode: Callable[[Any], Frames], *, mutes: bool
    ) -> None:
        self.deferred = deferred
        self.encode = encode
        self.mutes = mutes
        """Later requests of the connection wait until it is there."""


Answer: TypeAlias = Frames | Later | None
"""What the router made of a request: parts now, parts later, or none for acks=0."""


class Router(Protocol):
    """Handles one request frame. Raises ProtocolViolation when the connection must close."""

    def handle(self, frame: bytearray, session: "Session") -> Answer: ...
    def wants_flush(self, session: "Session") -> None:
        """The session got an answer outside ``receive``; call its ``flush`` soon."""
        ...


class ProtocolViolation(Exception):
    """The peer sent what no Kafka client sends; the connection closes. The message says what."""


class _Slot:
    """The place of one answer in the order of a connection."""

    __slots__ = ("_encode", "_session", "parts", "unmutes")

    def __init__(
        self, session: "Session", later: Later | None = None, *, parts: Frames | None = None
    ) -> None:
        self.parts = parts
        self.unmutes = False
        self._session = session
        self._encode = None if later is None else later.encode

    def fill(self, value: Any) -> None:
        assert self._encode is not None
        self.parts = self._encode(value)
        self._session._filled(unmutes=self.unmutes)  # noqa: SLF001 - a part of the session


@final
class Session:
    """State of one connection.

    Invariants: answers leave in the order of their requests; while muted or held no frame is
    handled; after ``closed`` nothing is sent.
    """

    def __init__(
        self,
        router: Router,
        transport: Transport,
        *,
        listener: str,
        peer_host: str,
        peer_port: int,
        number: int,
    ) -> None:
        self.listener = listener
        self.peer_host = peer_host
        self.peer_port = peer_port
        self.number = number
        self.client_software = ("unknown", "unknown")
        self.closed = False
        self.on_disconnect: Callable[[], None] | None = None
        self._router = router
        self._transport = transport
        self._slots: deque[_Slot] = deque()
        self._out: Frames = []
        self._held: deque[bytearray] = deque()
        self._muted = False
        self._holds = 0
        self._reading_paused = False
        self._writing_paused = False
        self._flush_wanted = False

    def __repr__(self) -> str:
        return (
            f"<Session {self.number} {self.peer_host}:{self.peer_port} on {self.listener}: "
            f"{len(self._slots)} waiting, {len(self._held)} held back>"
        )

    def receive(self, frame: bytearray) -> None:
        """Handle one request frame, or hold it back until those before it are answered."""
        if self.closed:
            return
        if self._muted or self._holds or self._writing_paused or self._held:
            self._held.append(frame)
            self._review_reading()
        else:
            self._handle(frame)

    def flush(self) -> None:
        """Hand the answers that are due to the transport, in one call."""
        self._flush_wanted = False
        slots = self._slots
        out = self._out
        while slots and (parts := slots[0].parts) is not None:
            out.extend(parts)
            slots.popleft()
        if out and not self.closed:
            self._out = []
            self._transport.send(out)

    def writing_paused(self, paused: bool) -> None:  # noqa: FBT001 - the transport's signal
        """The peer stopped, or began again, to take what is sent to it."""
        self._writing_paused = paused
        if not paused:
            self._continue()
        self._review_reading()

    def close(self, reason: str) -> None:
        """End the connection; *reason* goes to the log."""
        if not self.closed:
            self.flush()
            self.closed = True
            self._transport.close(reason)

    def disconnected(self) -> None:
        """The connection is gone; what is still computed for it is dropped."""
        self.closed = True
        if self.on_disconnect is not None:
            self.on_disconnect()
            self.on_disconnect = None
        self._held.clear()
        self._slots.clear()
        self._out.clear()

    def hold(self) -> None:
        """Handle no further request before ``release``; a second hold needs a second release.

        For a request that must find out something before its effect: those behind it keep their
        place, and unlike with a muting answer they go on before it is answered.
        """
        self._holds += 1

    def release(self) -> None:
        """End one ``hold``; requests that were held back are handled within this turn."""
        self._holds -= 1
        if not self._holds and self._held:
            self._want_flush()

    def _handle(self, frame: bytearray) -> None:
        try:
            answer = self._router.handle(frame, self)
        except ProtocolViolation as violation:
            self.close(str(violation))
            return
        if answer is None:
            return
        if isinstance(answer, Later):
            slot = _Slot(self, answer)
            self._slots.append(slot)
            self._muted = answer.mutes and not answer.deferred.is_resolved
            slot.unmutes = self._muted
            answer.deferred.then(slot.fill)
        elif self._slots:
            self._slots.append(_Slot(self, parts=answer))
        else:
            self._out.extend(answer)

    def _filled(self, *, unmutes: bool) -> None:
        if unmutes:
            self._muted = False
        self._want_flush()

    def _want_flush(self) -> None:
        if not self._flush_wanted and not self.closed:
            self._flush_wanted = True
            self._router.wants_flush(self)

    def resume(self) -> None:
        """Send what is due, then handle what was held back; called after ``wants_flush``."""
        self.flush()
        self._continue()

    def _continue(self) -> None:
        while self._held and not (
            self._muted or self._holds or self._writing_paused or self.closed
        ):
            self._handle(self._held.popleft())
        if self._out or (self._slots and self._slots[0].parts is not None):
            self.flush()
        self._review_reading()

    def _review_reading(self) -> None:
        wanted = self._writing_paused or len(self._held) >= WAITING_FRAMES_MAX
        if wanted and not self._reading_paused:
            self._reading_paused = True
            self._transport.pause_reading()
        elif self._reading_paused and not wanted and not self._held:
            self._reading_paused = False
            self._transport.resume_reading()
