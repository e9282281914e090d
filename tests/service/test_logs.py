"""A line per event, facts as values, nothing forged, nothing leaked."""

import io
import json
import logging
from datetime import UTC, datetime
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.service.logs import (
    FACT_CHARS_MAX,
    Event,
    Form,
    Level,
    Logger,
    adopt_standard_logging,
    capture,
    logger,
)
from headwater.service.secrets import Secret

CANARY = "c4nary-hunter2"
NOW = datetime(2026, 1, 2, 3, 4, 5, 678_900, UTC)


class Colour(Enum):
    RED = "red"


class Stream(io.StringIO):
    def __init__(self, *, is_terminal: bool = False) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


def made(out: Stream, form: Form = Form.JSON, level: Level = Level.INFO) -> Logger:
    return logger(out=out, form=form, level=level, now=lambda: NOW)


def documents(out: Stream) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_an_event_is_a_line_of_json() -> None:
    """Time in UTC to the millisecond, level, event, then facts in their order."""
    out = Stream()
    made(out).info(
        "segment_rolled", topic="orders", base_offset=7, colour=Colour.RED, at=None, r=float("nan")
    )
    assert out.getvalue() == (
        '{"time": "2026-01-02T03:04:05.678Z", "level": "info", "event": "segment_rolled", '
        '"topic": "orders", "base_offset": 7, "colour": "red", "at": null, "r": "nan"}\n'
    )


def test_an_event_reads_well_on_a_terminal() -> None:
    """Facts as name=value, in quotes where they would not read as one word."""
    out = Stream()
    made(out, Form.CONSOLE).warning("disk_low", path="/a b", left_bytes=5, name="", pairs="a=b")
    assert out.getvalue() == (
        '03:04:05.678 warning  disk_low  path="/a b" left_bytes=5 name="" pairs="a=b"\n'
    )


@pytest.mark.parametrize(("is_terminal", "starts"), [(True, "03:04"), (False, "{")])
def test_the_form_follows_the_stream(*, is_terminal: bool, starts: str) -> None:
    """A person on a terminal reads lines; everything else gets JSON."""
    out = Stream(is_terminal=is_terminal)
    made(out, Form.AUTO).info("ready")
    assert out.getvalue().startswith(starts)


def test_levels_below_are_silent() -> None:
    """Only events at or above the level are written."""
    out = Stream()
    log = made(out, level=Level.WARNING)
    for write in (log.debug, log.info, log.warning, log.error):
        write("event")
    assert [document["level"] for document in documents(out)] == ["warning", "error"]
    assert [log.enabled(level) for level in Level] == [False, False, True, True]


def test_bound_facts_come_first_and_yield() -> None:
    """A bound logger adds its facts; the event's own win, and the parent stays as it was."""
    out = Stream()
    log = made(out)
    log.bind(topic="a", partition=1).bind(node=2).info("x", partition=3)
    log.info("y")
    assert documents(out)[0] | {"time": 0} == {
        "time": 0,
        "level": "info",
        "event": "x",
        "topic": "a",
        "partition": 3,
        "node": 2,
    }
    assert "topic" not in documents(out)[1]


NASTY = st.text(alphabet=st.sampled_from('a ={}%"\n\r\t\x00\x1b\x7f\x85\u2028\u202e{0}'))


@given(NASTY, NASTY, st.sampled_from([Form.JSON, Form.CONSOLE]))
def test_a_fact_cannot_forge_a_line(value: str, name: str, form: Form) -> None:
    """Newlines, escapes and format strings of peers stay text on the one line of their event."""
    out = Stream()
    made(out, form).error("refused", **{"client": value, f"x{name}": [value, {name: value}]})
    text = out.getvalue()
    assert text.endswith("\n")
    assert text[:-1].isprintable()
    if form is Form.JSON and not name:
        assert documents(out)[0]["client"] == value


def test_a_fact_cannot_pose_as_time_level_or_event() -> None:
    """Facts of those names are kept under another."""
    out = Stream()
    made(out).info("real", time="then", level="none")
    [document] = documents(out)
    assert document["event"] == "real"
    assert document["level"] == "info"
    assert document["level_"] == "none"
    assert document["time_"] == "then"


def test_secrets_are_not_written() -> None:
    """By type anywhere, and by name whatever the type."""
    for form in (Form.JSON, Form.CONSOLE):
        out = Stream()
        made(out, form).bind(sasl_password=CANARY).info(
            "x",
            value=Secret(CANARY),
            inner={"api-token": CANARY, "ok": [Secret(CANARY)]},
            credential=CANARY.encode(),
            author="visible",
            monotoken="visible too",
        )
        assert CANARY not in out.getvalue()
        assert out.getvalue().count("[secret]") == 5
        assert out.getvalue().count("visible") == 2


def test_facts_are_bounded() -> None:
    """A peer chooses the length of its names; a line stays a line."""
    out = Stream()
    made(out).info("x", text="y" * 10**6, data=b"\xff" * 10**6, many=list(range(10**4)))
    [document] = documents(out)
    assert len(document["text"]) == FACT_CHARS_MAX
    assert len(document["data"]) == FACT_CHARS_MAX
    assert len(document["many"]) == 100


def test_deep_facts_end_as_text() -> None:
    """Nesting ends after a few levels, also for what contains itself."""
    out = Stream()
    loop: list[Any] = []
    loop.append(loop)
    made(out).info("x", loop=loop)
    assert documents(out)[0]["loop"][0][0][0] == ["[[...]]"]


def test_an_exception_brings_its_traceback() -> None:
    """In JSON as one text, on a terminal as indented lines behind the event."""
    try:
        raise ValueError("bad\x1b")
    except ValueError as error:
        caught = error
    out = Stream()
    made(out).error("failed", error=caught)
    assert documents(out)[0]["error"].startswith("Traceback")
    assert documents(out)[0]["error"].endswith("ValueError: bad\x1b")
    out = Stream()
    made(out, Form.CONSOLE).error("failed", error=caught)
    first, *rest = out.getvalue().splitlines()
    assert first.endswith('failed  error="ValueError: bad\\x1b"')
    assert all(line.startswith("    ") for line in rest)
    assert rest[-1] == "    ValueError: bad\\x1b"
    out = Stream()
    made(out).error("failed", error=ValueError())
    assert documents(out)[0]["error"] == "ValueError"


class Broken:
    def write(self, _text: str, /) -> int:
        raise OSError("no space left")

    def flush(self) -> None:
        raise AssertionError("not reached")

    def isatty(self) -> bool:
        return False


def test_a_stream_that_fails_does_not_fail_the_process() -> None:
    """The line is lost, and counted."""
    log = logger(out=Broken())  # type: ignore[arg-type]  # as much of a stream as is used
    log.info("x")
    log.info("y")
    assert log.lost_count == 2


def test_captured_events_are_those_written() -> None:
    """Tests look at events, not at text."""
    events: list[Event] = []
    log = capture(events, level=Level.INFO).bind(a=1)
    log.debug("no")
    log.info("yes", b=2)
    [event] = events
    assert (event.name, event.level, event.facts) == ("yes", Level.INFO, {"a": 1, "b": 2})


def test_libraries_speak_through_the_same_lines() -> None:
    """Standard logging from warnings up becomes events; undoing it leaves no trace."""
    events: list[Event] = []
    root = logging.getLogger()
    before = (root.level, list(root.handlers))
    undo = adopt_standard_logging(capture(events))
    try:
        source = logging.getLogger("asyncio")
        source.info("no")
        source.warning("slow %s", "callback")
        try:
            raise ValueError("x")
        except ValueError:
            source.exception("failed")
    finally:
        undo()
    assert [(event.level, event.facts["message"]) for event in events] == [
        (Level.WARNING, "slow callback"),
        (Level.ERROR, "failed"),
    ]
    assert isinstance(events[1].facts["error"], ValueError)
    assert (root.level, list(root.handlers)) == before
