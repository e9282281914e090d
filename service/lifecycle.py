"""The life of a process: start in order, watch the tasks, stop in reverse, end with a code.

    async def start(life: Lifecycle) -> None:
        node = await life.enter("node", Node(settings))
        life.supervise("housekeeping", node.housekeeping())
        log.info("ready")

    sys.exit(run(start, log=log, stop_ms_max=30_000))

SIGTERM and SIGINT ask for a clean stop: what was entered is left in reverse order. A second signal
ends the process at once with 128 + its number, and so does the deadline with STOPPED_LATE; a
process that hangs while stopping helps nobody. A supervised task that fails stops the process with
its reason: half a broker is worse than one that is started again.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from enum import IntEnum
from typing import Any, Final, TypeAlias, TypeVar, final

from .logs import Logger

T = TypeVar("T")

STOP_MS_MAX: Final = 30_000
"""Kubernetes kills after 30 s by default; longer would not be granted anyway."""


class ExitCode(IntEnum):
    """How a process ended. 2 is for wrong usage, as click and the shells have it."""

    STOPPED = 0
    FAILED = 1
    USAGE = 2
    STOPPED_LATE = 3


class StartRefused(Exception):
    """Raised while starting when an operator has to change something; the message says what.

    It is logged without a traceback, unlike a failure that nobody foresaw.
    """


Start: TypeAlias = Callable[["Lifecycle"], Awaitable[None]]
LoopFactory: TypeAlias = Callable[[], asyncio.AbstractEventLoop]


@final
class Lifecycle:
    """What was entered and what is watched. Made by ``run``, or by a test that plays the process.

    Invariant: *reason* is set once, by whoever asks first.
    """

    def __init__(self, *, log: Logger) -> None:
        self.reason: str | None = None
        """Why the process stops; None while it runs."""
        self.error: BaseException | None = None
        """What failed, when something did."""
        self._log = log
        self._stack = AsyncExitStack()
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()

    async def enter(self, name: str, component: AbstractAsyncContextManager[T]) -> T:
        """Enter *component* now and leave it at the stop, before what was entered earlier."""
        entered = await self._stack.enter_async_context(component)
        # Pushed behind the component, so it speaks before the component is left.
        self._stack.callback(self._log.debug, "stopping", component=name)
        return entered

    def supervise(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Run *work* until it ends; its failure stops the process. Cancelled at the stop."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def stop(self, reason: str) -> None:
        """Ask for a clean stop. Only the first reason counts."""
        if self.reason is None:
            self.reason = reason
            self._stopping.set()

    def fail(self, error: BaseException, reason: str) -> None:
        """Ask for a stop because of *error*; the process will end with FAILED."""
        self.error = self.error or error
        self.stop(reason)

    async def until_stopped(self) -> None:
        """Return when somebody asked for a stop."""
        await self._stopping.wait()

    async def close(self) -> None:
        """Cancel the watched tasks, then leave what was entered, latest first."""
        self.stop("closed")
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._stack.aclose()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            self._log.error("task_failed", task=task.get_name(), error=error)
            self.fail(error, f"task {task.get_name()} failed")


def run(
    start: Start,
    *,
    log: Logger,
    stop_ms_max: int = STOP_MS_MAX,
    loop_factory: LoopFactory | None = None,
    debug: bool = False,
) -> int:
    """Run a process until it is stopped; the result is its exit code.

    *start* enters components and returns; the process then runs until a signal, a failure or
    ``stop``. *debug* makes the loop report slow callbacks and forgotten awaits.
    """
    with asyncio.Runner(loop_factory=loop_factory or fastest_loop, debug=debug or None) as runner:
        return int(runner.run(_live(start, log=log, stop_ms_max=stop_ms_max)))


def fastest_loop() -> asyncio.AbstractEventLoop:
    """A uvloop where it is installed, else asyncio's own loop."""
    try:
        import uvloop  # noqa: PLC0415 - not on every system
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


async def _live(start: Start, *, log: Logger, stop_ms_max: int) -> ExitCode:
    life = Lifecycle(log=log)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _on_signal, number, life, log)
    starting = asyncio.ensure_future(_started(start, life, log))
    await life.until_stopped()
    log.info("stopping", reason=life.reason)
    # A thread, not a task: it must also see a loop that is blocked and threads that do not end.
    deadline = threading.Timer(stop_ms_max / 1000, _too_late, (log, stop_ms_max))
    deadline.daemon = True
    deadline.start()
    try:
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        await life.close()
        await loop.shutdown_default_executor()
    except Exception as error:  # noqa: BLE001 - the root of the process reports and decides
        log.error("stop_failed", error=error)
        life.error = life.error or error
    finally:
        deadline.cancel()
    log.info("stopped", reason=life.reason)
    return ExitCode.STOPPED if life.error is None else ExitCode.FAILED


async def _started(start: Start, life: Lifecycle, log: Logger) -> None:
    try:
        await start(life)
    except StartRefused as error:
        log.error("start_refused", reason=str(error))
        life.fail(error, "start refused")
    except Exception as error:  # noqa: BLE001 - the root of the process reports and decides
        log.error("start_failed", error=error)
        life.fail(error, "start failed")


def _on_signal(number: signal.Signals, life: Lifecycle, log: Logger) -> None:
    if life.reason is not None:
        log.warning("stopped_hard", signal=number.name)
        os._exit(128 + number)
    life.stop(number.name)


def _too_late(log: Logger, stop_ms_max: int) -> None:
    log.error("stopped_late", stop_ms_max=stop_ms_max)
    os._exit(ExitCode.STOPPED_LATE)
