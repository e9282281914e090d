"""Frames out of a stream, however it is cut; bounds on connections; peers that misbehave."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.broker.session import Answer, Frames, Session
from headwater.core_log.server import listener
from headwater.core_log.server.listener import Connection, Connections
from headwater.core_log.testing.clock import ManualClock


@dataclass(frozen=True)
class Bounds:
    request_bytes_max: int = 10_000_000
    connections_max: int = 3
    connections_per_ip_max: int = 2
    connections_idle_ms_max: int = 600_000
    request_receive_ms_max: int = 60_000


class Echo:
    """A router that answers each frame with itself."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []

    def handle(self, frame: bytearray, session: Session) -> Answer:
        del session
        self.frames.append(bytes(frame))
        parts: Frames = [bytes(frame)]
        return parts

    def wants_flush(self, session: Session) -> None:
        session.resume()


@dataclass
class Wire(asyncio.Transport):
    """The transport a connection writes to."""

    host: str = "10.0.0.1"
    written: bytearray = field(default_factory=bytearray)
    aborted: bool = False
    closed: bool = False
    unread_bytes: int = 5_000

    def get_extra_info(self, name: str, default: object = None) -> object:
        return (self.host, 4711) if name == "peername" else default

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...
    def get_write_buffer_size(self) -> int:
        return self.unread_bytes

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data

    def writelines(self, list_of_data: object) -> None:
        for part in list_of_data:  # type: ignore[attr-defined]  # a list of buffers
            self.written += part

    def abort(self) -> None:
        self.aborted = True

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...


class Door:
    """All connections of a listener, with what it told."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.clock = ManualClock()
        self.told: list[str] = []
        self.connections = Connections(
            bounds or Bounds(), self.clock, lambda event, _severe, _facts: self.told.append(event)
        )
        self.router = Echo()

    def open(self, host: str = "10.0.0.1") -> tuple[Connection, Wire]:
        connection, wire = Connection(self.router, self.connections, "PLAINTEXT"), Wire(host)
        connection.connection_made(wire)
        return connection, wire


def feed(connection: Connection, data: bytes) -> None:
    """Hand *data* over as the loop does: as much as the buffer asked for takes at a time."""
    while data:
        buffer = connection.get_buffer(-1)
        size = min(len(buffer), len(data))
        buffer[:size] = data[:size]
        del buffer  # the loop lets go of it as well before it asks for the next
        connection.buffer_updated(size)
        data = data[size:]


def framed(frame: bytes) -> bytes:
    return len(frame).to_bytes(4, "big") + frame


@contextmanager
def small_steps() -> Iterator[None]:
    """Let frames of a few bytes take the way of large ones."""
    step, listener.FRAME_STEP_BYTES = listener.FRAME_STEP_BYTES, 4  # type: ignore[misc]  # a constant, for the test
    try:
        yield
    finally:
        listener.FRAME_STEP_BYTES = step  # type: ignore[misc]  # a constant, as it was


@given(
    frames=st.lists(st.binary(min_size=1, max_size=40), max_size=6),
    cuts=st.lists(st.integers(1, 30), max_size=40),
)
def test_frames_arrive_whole_however_the_stream_is_cut(
    frames: list[bytes], cuts: list[int]
) -> None:
    door = Door()
    connection, wire = door.open()
    stream = b"".join(map(framed, frames))
    with small_steps():
        for cut in cuts:
            feed(connection, stream[:cut])
            stream = stream[cut:]
        feed(connection, stream)
    assert door.router.frames == frames
    assert bytes(wire.written) == b"".join(frames)


def test_memory_is_claimed_as_bytes_arrive_and_not_on_the_word_of_a_prefix() -> None:
    door = Door()
    connection, _ = door.open()
    feed(connection, (9_000_000).to_bytes(4, "big") + b"x")
    assert len(connection._frame) <= listener.FRAME_STEP_BYTES


def test_a_frame_above_the_bound_closes_the_connection() -> None:
    door = Door()
    connection, wire = door.open()
    feed(connection, (10_000_001).to_bytes(4, "big"))
    assert wire.closed
    assert "connection_closed" in door.told


def test_connections_are_bounded_in_all_and_per_address() -> None:
    door = Door()
    kept = [door.open("10.0.0.1"), door.open("10.0.0.1")]
    _, third = door.open("10.0.0.1")
    assert third.aborted
    kept.append(door.open("10.0.0.2"))
    _, fourth = door.open("10.0.0.3")
    assert fourth.aborted
    assert door.connections.refused_count == 2
    kept[0][0].connection_lost(None)
    _, again = door.open("10.0.0.1")
    assert not again.aborted


def test_a_refused_connection_counts_for_nothing() -> None:
    door = Door(Bounds(connections_max=1))
    door.open("10.0.0.1")
    refused, _ = door.open("10.0.0.2")
    refused.connection_lost(None)
    assert len(door.connections.open) == 1


def test_idle_connections_end() -> None:
    door = Door()
    _, wire = door.open()
    door.clock.advance(600_000)
    door.connections.sweep()
    assert not wire.aborted
    door.clock.advance(1)
    door.connections.sweep()
    assert wire.aborted


def test_a_request_that_dribbles_in_ends_its_connection() -> None:
    door = Door()
    connection, wire = door.open()
    feed(connection, framed(b"x" * 1_000)[:10])
    for _ in range(7):
        door.clock.advance(10_000)
        feed(connection, b"x")
    door.connections.sweep()
    assert wire.aborted


def test_a_peer_that_does_not_read_is_closed_in_the_end() -> None:
    door = Door()
    connection, wire = door.open()
    connection.pause_writing()
    door.clock.advance(60_001)
    door.connections.sweep()
    assert wire.aborted


def test_a_peer_that_reads_again_is_served_on() -> None:
    door = Door()
    connection, wire = door.open()
    connection.pause_writing()
    feed(connection, framed(b"later"))
    assert not wire.written
    connection.resume_writing()
    assert bytes(wire.written) == b"later"


def test_the_end_of_a_connection_is_told_with_its_error() -> None:
    door = Door()
    connection, _ = door.open()
    connection.connection_lost(ConnectionResetError("reset by peer"))
    assert "connection_lost" in door.told
    assert not door.connections.open
