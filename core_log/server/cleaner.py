"""The broker's end of the cleaner process: starts it on need, hands it jobs, ends it.

It is started with the first job, ended after a while without one, and started again after it died;
how long to wait before another try is the caller's affair.
"""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

import msgspec

from ..broker.compaction import CleanerFailed, Outcome
from ..storage.compaction.job import CleanJob
from .cleaner_frames import LENGTH, Done, Order, decode_answer, encode_frame, frame_size
from .notify import Notify

MODULE: Final = "headwater.core_log.server.cleaner_process"

END_SECONDS: Final = 2.0
"""How long the process may take to end once it has nobody to work for."""
IDLE_SECONDS: Final = 60.0
"""A process at rest costs some 40 MB, its start half a second."""

LINE_BYTES_MAX: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class _Running:
    process: Process
    listener: asyncio.Task[None]


@final
class CleanerProcess:
    """The cleaner port over a process of its own. Owned by the loop."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        notify: Notify,
        *,
        command: tuple[str, ...] = (sys.executable, "-P", "-m", MODULE),
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._loop = loop
        self._notify = notify
        self._command = command
        self._idle_seconds = idle_seconds
        self._running: _Running | None = None
        self._work: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[str] | None = None
        self._idle: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int | None:
        """The process that runs now."""
        return None if self._running is None else self._running.process.pid

    def run(
        self, job: CleanJob, *, bytes_per_second_max: float | None, done: Callable[[Outcome], None]
    ) -> None:
        """See ``broker.compaction.Cleaner``."""
        assert self._work is None, "one job at a time"
        if self._idle is not None:
            self._idle.cancel()
        order = Order(job=job, bytes_per_second_max=bytes_per_second_max)
        self._work = self._loop.create_task(self._run(order, done))

    async def close(self) -> None:
        """End the process, in the middle of a job if need be; nobody is told."""
        if self._idle is not None:
            self._idle.cancel()
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        if self._ending is not None:
            await self._ending
        await self._end()

    async def _run(self, order: Order, done: Callable[[Outcome], None]) -> None:
        try:
            outcome = await self._exchange(order)
        except (OSError, EOFError, ValueError, msgspec.DecodeError) as error:
            outcome = CleanerFailed(
                reason=f"the cleaner process ended: {await self._end() or error}"
            )
        self._work = None
        self._idle = self._loop.call_later(self._idle_seconds, self._rest)
        done(outcome)

    async def _exchange(self, order: Order) -> Outcome:
        process = await self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(encode_frame(order))
        await process.stdin.drain()
        size = frame_size(await process.stdout.readexactly(LENGTH.size))
        answer = decode_answer(await process.stdout.readexactly(size))
        return answer.result if isinstance(answer, Done) else CleanerFailed(reason=answer.reason)

    async def _started(self) -> Process:
        running = self._running
        if running is not None and running.process.returncode is None:
            return running.process
        await self._end()
        process = await asyncio.create_subprocess_exec(
            *self._command, stdin=PIPE, stdout=PIPE, stderr=PIPE, limit=LINE_BYTES_MAX
        )
        self._running = _Running(process, self._loop.create_task(self._listen(process)))
        return process

    async def _listen(self, process: Process) -> None:
        """What it says to people belongs into the broker's log."""
        assert process.stderr is not None
        while True:
            try:
                line = await process.stderr.readline()
            except ValueError:  # longer than LINE_BYTES_MAX; the rest comes as the next line
                continue
            if not line:
                return
            self._notify("cleaner_says", False, {"line": line.decode("utf-8", "replace").rstrip()})

    def _rest(self) -> None:
        self._idle = None
        self._ending = self._loop.create_task(self._end())

    async def _end(self) -> str:
        """Have no process any more; how it ended, empty when none ran."""
        running, self._running = self._running, None
        if running is None:
            return ""
        process = running.process
        if process.returncode is None:
            assert process.stdin is not None
            process.stdin.close()  # with which it ends by itself, if it has not yet
            try:
                await asyncio.wait_for(process.wait(), END_SECONDS)
            except TimeoutError:
                # Not at once: asking the system to kill a process that has just ended takes the
                # exit code away from who waits for it.
                process.kill()
        code = await process.wait()
        await running.listener
        return f"signal {-code}" if code < 0 else f"exit code {code}"
