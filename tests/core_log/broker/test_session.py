"""Answers leave in the order of the requests, whatever order they become ready in."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.broker.deferred import Deferred
from headwater.core_log.broker.session import (
    WAITING_FRAMES_MAX,
    Answer,
    Frames,
    Later,
    ProtocolViolation,
    Session,
)


@dataclass
class Wire:
    """A transport that remembers."""

    sent: list[bytes] = field(default_factory=list)
    calls: int = 0
    closed: str | None = None
    reading: bool = True

    def send(self, parts: Frames) -> None:
        self.calls += 1
        self.sent.extend(bytes(part) for part in parts)

    def close(self, reason: str) -> None:
        self.closed = reason

    def is_reading(self) -> bool:
        """The same as ``reading``, for a checker that believes it cannot change."""
        return self.reading

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True


@dataclass
class Script:
    """A router: frame ``now``, ``later`` (does not mute), ``park`` (mutes), ``none``, ``bad``."""

    handled: list[bytes] = field(default_factory=list)
    pending: dict[int, Deferred[Frames]] = field(default_factory=dict)
    wanting: list[Session] = field(default_factory=list)

    def handle(self, frame: bytearray, session: Session) -> Answer:
        del session
        number = len(self.handled)
        self.handled.append(bytes(frame))
        text = b"%d" % number
        if frame == b"now":
            return [text]
        if frame == b"none":
            return None
        if frame == b"bad":
            raise ProtocolViolation("bad frame")
        self.pending[number] = Deferred()
        return Later(self.pending[number], list, mutes=frame == b"park")

    def wants_flush(self, session: Session) -> None:
        self.wanting.append(session)

    def settle(self, number: int) -> None:
        self.pending.pop(number).resolve([b"%d" % number])
        for session in self.wanting:
            session.resume()
        self.wanting.clear()


def open_session() -> tuple[Script, Wire, Session]:
    script, wire = Script(), Wire()
    session = Session(
        script, wire, listener="PLAINTEXT", peer_host="127.0.0.1", peer_port=1, number=1
    )
    return script, wire, session


@given(st.lists(st.sampled_from([b"now", b"later", b"park", b"none"]), max_size=12), st.randoms())
def test_answers_keep_the_order_of_requests(frames: list[bytes], dice: object) -> None:
    """Each request but acks=0 is answered once, in order; parked ones hold back those behind."""
    script, wire, session = open_session()
    for frame in frames:
        session.receive(bytearray(frame))
        if b"park" in script.handled and script.pending:
            parked = [n for n in script.pending if script.handled[n] == b"park"]
            assert not parked or len(script.handled) == parked[0] + 1
    session.flush()
    while script.pending:
        script.settle(dice.choice(sorted(script.pending)))  # type: ignore[attr-defined]  # hypothesis' Random
    expected = [b"%d" % n for n, frame in enumerate(frames) if frame != b"none"]
    assert wire.sent == expected
    assert script.handled == frames


def test_answers_that_are_ready_together_leave_in_one_call() -> None:
    script, wire, session = open_session()
    for frame in (b"later", b"now", b"now"):
        session.receive(bytearray(frame))
    session.flush()
    assert wire.calls == 0
    script.settle(0)
    assert wire.sent == [b"0", b"1", b"2"]
    assert wire.calls == 1


def test_a_flood_behind_a_parked_request_stops_the_reading() -> None:
    """The peer cannot make the broker hold more than a bounded number of requests."""
    script, wire, session = open_session()
    session.receive(bytearray(b"park"))
    for _ in range(WAITING_FRAMES_MAX - 1):
        session.receive(bytearray(b"now"))
    assert wire.reading
    session.receive(bytearray(b"now"))
    assert not wire.is_reading()
    script.settle(0)
    assert wire.is_reading()
    assert len(wire.sent) == WAITING_FRAMES_MAX + 1


def test_a_peer_that_does_not_read_is_not_served_on() -> None:
    script, wire, session = open_session()
    session.writing_paused(True)
    session.receive(bytearray(b"now"))
    assert script.handled == []
    assert not wire.reading
    session.writing_paused(False)
    assert wire.sent == [b"0"]
    assert wire.is_reading()


def test_a_violation_closes_after_the_answers_before_it() -> None:
    _, wire, session = open_session()
    session.receive(bytearray(b"now"))
    session.receive(bytearray(b"bad"))
    session.receive(bytearray(b"now"))
    assert wire.sent == [b"0"]
    assert wire.closed == "bad frame"


def test_nothing_is_sent_after_the_connection_is_gone() -> None:
    script, wire, session = open_session()
    told: list[str] = []
    session.on_disconnect = lambda: told.append("gone")
    session.receive(bytearray(b"later"))
    session.disconnected()
    script.pending.pop(0).resolve([b"0"])
    assert told == ["gone"]
    assert script.wanting == []
    assert wire.sent == []


def test_requests_behind_a_held_one_wait_until_all_holds_are_released() -> None:
    """A hold ends before the answer: what is behind goes on while that is on its way."""
    script, wire, session = open_session()
    session.hold()
    session.hold()
    session.receive(bytearray(b"later"))
    session.receive(bytearray(b"now"))
    session.release()
    assert script.handled == []
    session.release()
    for waiting in script.wanting:
        waiting.resume()
    assert script.handled == [b"later", b"now"]
    assert wire.sent == []
    script.settle(0)
    assert wire.sent == [b"0", b"1"]
