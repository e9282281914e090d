"""Start in order, stop in reverse, and a code that tells how it ended.

Order and supervision run in this process; signals and deadlines in a child, because they end it.
"""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from headwater.service.lifecycle import (
    ExitCode,
    Lifecycle,
    StartRefused,
    fastest_loop,
    run,
)
from headwater.service.logs import Event, capture


@asynccontextmanager
async def component(name: str, story: list[str]) -> AsyncIterator[str]:
    story.append(f"+{name}")
    try:
        yield name
    finally:
        story.append(f"-{name}")


def names(events: list[Event]) -> list[str]:
    return [event.name for event in events]


def test_components_are_left_in_reverse_order() -> None:
    """What came last goes first; watched tasks end before any of it."""
    story: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            story.append("-work")

    async def start(life: Lifecycle) -> None:
        assert await life.enter("a", component("a", story)) == "a"
        await life.enter("b", component("b", story))
        life.supervise("work", work())
        asyncio.get_running_loop().call_soon(life.stop, "enough")

    events: list[Event] = []
    assert run(start, log=capture(events)) == ExitCode.STOPPED
    assert story == ["+a", "+b", "-work", "-b", "-a"]
    assert events[-1].facts["reason"] == "enough"


def test_a_task_that_fails_stops_the_process() -> None:
    """Its error is logged with the name of the task, and the code says failed."""
    story: list[str] = []

    async def work() -> None:
        raise ValueError("broken")

    async def start(life: Lifecycle) -> None:
        await life.enter("a", component("a", story))
        life.supervise("work", work())

    events: list[Event] = []
    assert run(start, log=capture(events)) == ExitCode.FAILED
    assert story == ["+a", "-a"]
    failed = next(event for event in events if event.name == "task_failed")
    assert failed.facts["task"] == "work"
    assert isinstance(failed.facts["error"], ValueError)
    assert events[-1].facts["reason"] == "task work failed"


def test_a_task_that_ends_does_not_stop_the_process() -> None:
    """Only failure does; the first reason for a stop is kept."""

    async def work(life: Lifecycle) -> None:
        asyncio.get_running_loop().call_soon(life.stop, "later")
        asyncio.get_running_loop().call_soon(life.stop, "too late")

    async def start(life: Lifecycle) -> None:
        life.supervise("work", work(life))

    events: list[Event] = []
    assert run(start, log=capture(events)) == ExitCode.STOPPED
    assert events[-1].facts["reason"] == "later"


@pytest.mark.parametrize(
    ("error", "event", "fact"),
    [
        (StartRefused("the directory is newer"), "start_refused", "reason"),
        (ValueError("unforeseen"), "start_failed", "error"),
    ],
)
def test_a_start_that_fails_leaves_what_was_entered(
    error: Exception, event: str, fact: str
) -> None:
    """With a reason for the operator, or with the error that nobody foresaw."""
    story: list[str] = []

    async def start(life: Lifecycle) -> None:
        await life.enter("a", component("a", story))
        raise error

    events: list[Event] = []
    assert run(start, log=capture(events)) == ExitCode.FAILED
    assert story == ["+a", "-a"]
    [told] = [e for e in events if e.name == event]
    assert str(told.facts[fact]) == str(error)


def test_a_component_that_fails_to_stop_does_not_keep_the_others() -> None:
    """They are left all the same; the code says failed."""
    story: list[str] = []

    @asynccontextmanager
    async def stubborn() -> AsyncIterator[None]:
        yield
        raise ValueError("will not")

    async def start(life: Lifecycle) -> None:
        await life.enter("a", component("a", story))
        await life.enter("stubborn", stubborn())
        life.stop("enough")

    events: list[Event] = []
    assert run(start, log=capture(events)) == ExitCode.FAILED
    assert story == ["+a", "-a"]
    assert "stop_failed" in names(events)


def test_a_loop_can_be_chosen() -> None:
    """uvloop where it is installed; tests may ask for another, in debug mode."""
    seen: list[tuple[str, bool]] = []

    async def start(life: Lifecycle) -> None:
        loop = asyncio.get_running_loop()
        seen.append((type(loop).__module__, loop.get_debug()))
        life.stop("enough")

    run(start, log=capture([]), loop_factory=asyncio.new_event_loop, debug=True)
    run(start, log=capture([]))
    loop = fastest_loop()
    loop.close()
    assert seen[0] == ("asyncio.unix_events", True)
    assert seen[1][0] == type(loop).__module__


PROGRAM = """
import asyncio, sys, threading, time
from contextlib import asynccontextmanager
from headwater.service.lifecycle import run
from headwater.service.logs import logger, Form

log = logger(out=sys.stderr, form=Form.CONSOLE)

@asynccontextmanager
async def component():
    yield
    {on_stop}
    print("left", flush=True)

async def start(life):
    await life.enter("a", component())
    print("ready", flush=True)
    {on_start}

sys.exit(run(start, log=log, stop_ms_max={stop_ms_max}))
"""


def child(
    *, on_stop: str = "pass", on_start: str = "pass", stop_ms_max: int = 20_000
) -> subprocess.Popen[str]:
    program = PROGRAM.format(on_stop=on_stop, on_start=on_start, stop_ms_max=stop_ms_max)
    process = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=20)
    return process.returncode, out, err


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_cleanly(number: signal.Signals) -> None:
    """Code 0, components left, the signal named as the reason."""
    process = child()
    process.send_signal(number)
    code, out, err = ended(process)
    assert (code, out) == (0, "left\n")
    assert f"stopped  reason={number.name}" in err


@pytest.mark.slow
def test_a_signal_interrupts_a_start() -> None:
    """A recovery that takes hours can be stopped; what was entered is left."""
    process = child(on_start="await asyncio.Event().wait()")
    process.send_signal(signal.SIGTERM)
    assert ended(process)[:2] == (0, "left\n")


@pytest.mark.slow
def test_a_second_signal_ends_at_once() -> None:
    """Code 128 + signal, without waiting for what hangs."""
    process = child(on_stop='print("leaving", flush=True); await asyncio.Event().wait()')
    process.send_signal(signal.SIGTERM)
    assert process.stdout is not None
    assert process.stdout.readline() == "leaving\n"
    process.send_signal(signal.SIGINT)
    code, out, err = ended(process)
    assert (code, out) == (130, "")
    assert "stopped_hard" in err


@pytest.mark.slow
@pytest.mark.parametrize(
    "on_stop",
    [
        "await asyncio.Event().wait()",
        "time.sleep(60)",
        "await asyncio.get_running_loop().run_in_executor(None, time.sleep, 60)",
        "asyncio.get_running_loop().run_in_executor(None, time.sleep, 60)",
    ],
)
def test_a_stop_has_a_deadline(on_stop: str) -> None:
    """Whatever hangs: a task, the loop itself, a thread awaited or forgotten."""
    process = child(on_stop=on_stop, stop_ms_max=100)
    process.send_signal(signal.SIGTERM)
    code, _, err = ended(process)
    assert code == ExitCode.STOPPED_LATE
    assert "stopped_late  stop_ms_max=100" in err
