"""Sockets: accepts connections, cuts frames out of the stream, sends what sessions answer.

Receives are zero-copy for big requests: while a frame larger than the shared buffer is under
way, the kernel writes straight into the frame's own memory, and the record batches in it are
appended to the log from there. Small requests share one receive buffer for all connections,
so ten thousand idle connections cost no buffer each. Memory for a frame is claimed as its bytes
arrive, never on the word of its length prefix.
"""

import asyncio
from typing import Final, Protocol, cast, final

from ..broker.session import Frames, Router, Session
from ..kernel.ports import Clock
from ..protocol.errors import FrameError
from ..protocol.frame import PREFIX_BYTES, frame_size
from .notify import Notify

RECEIVE_BUFFER_BYTES: Final = 256 * 1024
FRAME_STEP_BYTES: Final = 1024 * 1024
"""How far a frame's memory runs ahead of its data."""
WRITE_HIGH_WATER_BYTES: Final = 64 * 1024
"""Answers a peer may leave unread before its next request waits."""


class Limits(Protocol):
    """Bounds on what peers may do; the broker's settings fit."""

    @property
    def request_bytes_max(self) -> int: ...
    @property
    def connections_max(self) -> int: ...
    @property
    def connections_per_ip_max(self) -> int: ...
    @property
    def connections_idle_ms_max(self) -> int: ...
    @property
    def request_receive_ms_max(self) -> int: ...


@final
class Connections:
    """All open connections of a node, with the bounds on them."""

    def __init__(self, limits: Limits, clock: Clock, notify: Notify) -> None:
        self.limits = limits
        self.clock = clock
        self.notify = notify
        self.open: dict[int, Connection] = {}
        self.accepted_count = 0
        self.newest_number = 0
        """Number of the connection accepted last; they are counted from 1."""
        self.refused_count = 0
        self.unread_bytes = 0
        """Answers that wait because their peers do not read, all connections together."""
        self._by_host: dict[str, int] = {}
        self.receive_buffer = bytearray(RECEIVE_BUFFER_BYTES)
        self.receive_view = memoryview(self.receive_buffer)

    def admit(self, connection: "Connection", host: str) -> str | None:
        """Count a new connection in; otherwise the reason to refuse it."""
        if len(self.open) >= self.limits.connections_max:
            self.refused_count += 1
            return f"{self.limits.connections_max} connections are open, the most allowed"
        if self._by_host.get(host, 0) >= self.limits.connections_per_ip_max:
            self.refused_count += 1
            return f"{self.limits.connections_per_ip_max} connections from {host} are open"
        self.accepted_count += 1
        self._by_host[host] = self._by_host.get(host, 0) + 1
        self.newest_number = connection.number
        self.open[connection.number] = connection
        return None

    def forget(self, connection: "Connection", host: str) -> None:
        if self.open.pop(connection.number, None) is not None:
            left = self._by_host[host] - 1
            if left:
                self._by_host[host] = left
            else:
                del self._by_host[host]

    def sweep(self) -> None:
        """Close connections that idle, dribble a request, or never read their answers."""
        now_ms = self.clock.monotonic_ms()
        for connection in list(self.open.values()):
            reason = connection.overdue(now_ms)
            if reason is not None:
                connection.abort(reason)

    def close_all(self, reason: str) -> None:
        for connection in list(self.open.values()):
            connection.close(reason)


@final
class Connection(asyncio.BufferedProtocol):
    """One TCP connection: frames in, parts out."""

    _numbers = 0

    def __init__(self, router: Router, connections: Connections, listener: str) -> None:
        Connection._numbers += 1
        self.number = Connection._numbers
        self._router = router
        self._connections = connections
        self._listener = listener
        self._transport: asyncio.Transport | None = None
        self._session: Session | None = None
        self._host = "?"
        # A frame under way: its memory, how much of it has come, and its size (0: not known yet).
        self._frame = bytearray()
        self._frame_view: memoryview | None = None
        self._received_bytes = 0
        self._frame_bytes = 0
        self._frame_since_ms = 0
        self._active_ms = connections.clock.monotonic_ms()
        self._unread_since_ms: int | None = None
        self._unread_bytes = 0

    # -- asyncio's side ---------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports do not inherit from asyncio's, they only behave alike.
        transport = cast("asyncio.Transport", transport)
        self._transport = transport
        peer = transport.get_extra_info("peername") or ("?", 0)
        self._host = str(peer[0])
        refusal = self._connections.admit(self, self._host)
        if refusal is not None:
            self._connections.notify(
                "connection_refused", False, {"peer": self._host, "reason": refusal}
            )
            transport.abort()
            return
        transport.set_write_buffer_limits(high=WRITE_HIGH_WATER_BYTES)
        self._session = Session(
            self._router,
            self,
            listener=self._listener,
            peer_host=self._host,
            peer_port=int(peer[1]),
            number=self.number,
        )

    def get_buffer(self, sizehint: int) -> memoryview:
        del sizehint
        if not self._frame_bytes:
            return self._connections.receive_view
        if self._received_bytes == len(self._frame):
            self._grow()
        self._frame_view = memoryview(self._frame)[self._received_bytes :]
        return self._frame_view

    def buffer_updated(self, nbytes: int) -> None:
        session = self._session
        if session is None:
            return
        if self._frame_bytes:
            self._received_bytes += nbytes
            if self._received_bytes == self._frame_bytes:
                self._complete(session)
        else:
            self._cut(session, self._connections.receive_view[:nbytes])
        self._active_ms = self._connections.clock.monotonic_ms()
        if not session.closed:
            session.flush()

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.forget(self, self._host)
        self._was_read()
        if self._session is not None:
            self._session.disconnected()
        self._transport = None
        if exc is not None:
            self._connections.notify(
                "connection_lost", False, {"peer": self._host, "reason": str(exc)}
            )

    def pause_writing(self) -> None:
        self._unread_since_ms = self._connections.clock.monotonic_ms()
        if self._transport is not None:
            self._unread_bytes = self._transport.get_write_buffer_size()
            self._connections.unread_bytes += self._unread_bytes
        if self._session is not None:
            self._session.writing_paused(True)

    def resume_writing(self) -> None:
        self._was_read()
        if self._session is not None:
            self._session.writing_paused(False)

    def _was_read(self) -> None:
        self._unread_since_ms = None
        self._connections.unread_bytes -= self._unread_bytes
        self._unread_bytes = 0

    # -- the session's side -----------------------------------------------------------------

    def send(self, parts: Frames) -> None:
        if self._transport is not None:
            if len(parts) == 1:
                self._transport.write(parts[0])
            else:
                self._transport.writelines(parts)

    def close(self, reason: str) -> None:
        self._connections.notify("connection_closed", False, {"peer": self._host, "reason": reason})
        if self._transport is not None:
            self._transport.close()

    def pause_reading(self) -> None:
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    # -- bounds -----------------------------------------------------------------------------

    def overdue(self, now_ms: int) -> str | None:
        """Why this connection must end now, None when it may stay."""
        limits = self._connections.limits
        if self._frame_bytes and now_ms - self._frame_since_ms > limits.request_receive_ms_max:
            return (
                f"a request of {self._frame_bytes} bytes was not complete "
                f"after {limits.request_receive_ms_max} ms"
            )
        if (
            self._unread_since_ms is not None
            and now_ms - self._unread_since_ms > limits.request_receive_ms_max
        ):
            return f"answers were left unread for {limits.request_receive_ms_max} ms"
        if now_ms - self._active_ms > limits.connections_idle_ms_max:
            return f"idle for {limits.connections_idle_ms_max} ms"
        return None

    def abort(self, reason: str) -> None:
        self._connections.notify(
            "connection_aborted", False, {"peer": self._host, "reason": reason}
        )
        if self._transport is not None:
            self._transport.abort()

    # -- frames -----------------------------------------------------------------------------

    def _cut(self, session: Session, data: memoryview) -> None:
        """Handle every whole frame in *data* and keep what is left of the last one."""
        if self._received_bytes:  # less than a prefix was left over last time
            data = memoryview(bytes(self._frame) + bytes(data))
            self._received_bytes = 0
        position, end = 0, len(data)
        try:
            while end - position >= PREFIX_BYTES:
                size = frame_size(data[position : position + PREFIX_BYTES], self._bytes_max)
                start = position + PREFIX_BYTES
                if start + size > end:
                    self._begin(size, data[start:end])
                    return
                session.receive(bytearray(data[start : start + size]))
                position = start + size
        except FrameError as error:
            session.close(str(error))
            return
        self._frame = bytearray(data[position:end])
        self._received_bytes = len(self._frame)
        self._frame_bytes = 0

    @property
    def _bytes_max(self) -> int:
        return self._connections.limits.request_bytes_max

    def _begin(self, size: int, head: memoryview) -> None:
        """Claim memory for a frame of which *head* has come."""
        self._frame = bytearray(min(size, max(FRAME_STEP_BYTES, len(head))))
        self._frame[: len(head)] = head
        self._received_bytes = len(head)
        self._frame_bytes = size
        self._frame_since_ms = self._connections.clock.monotonic_ms()

    def _grow(self) -> None:
        self._frame_view = None
        room = min(self._frame_bytes, 2 * len(self._frame)) - len(self._frame)
        self._frame.extend(bytes(room))

    def _complete(self, session: Session) -> None:
        self._frame_view = None
        frame, self._frame = self._frame, bytearray()
        self._received_bytes = 0
        self._frame_bytes = 0
        session.receive(frame)
