"""The cleaner process: it does jobs, says why when it cannot, and never outlives who started it."""

import asyncio
import os
import random
import signal
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from headwater.core_log.broker.compaction import CleanerFailed, Outcome
from headwater.core_log.server.cleaner import MODULE, CleanerProcess
from headwater.core_log.server.cleaner_frames import (
    FRAME_BYTES_MAX,
    LENGTH,
    Done,
    Failed,
    Order,
    decode_answer,
    decode_order,
    encode_frame,
    frame_size,
)
from headwater.core_log.server.cleaner_process import NICE
from headwater.core_log.server.clock import SystemClock
from headwater.core_log.storage import swap
from headwater.core_log.storage.cleaning import CleanLimits
from headwater.core_log.storage.compaction.job import CleanJob, CleanResult
from headwater.core_log.storage.directory import LogDirectory
from headwater.core_log.storage.fs import OsFileSystem
from headwater.core_log.storage.log import PartitionLog

from ..storage.compacted import CONFIG, numbered

LOST = "import sys; sys.stdin.buffer.read(1); "
"""A process that takes an order and does what follows instead."""


def log_on(path: Path) -> tuple[LogDirectory, PartitionLog]:
    """A log of twenty records in files, all flushed, that can be cleaned."""
    directory = LogDirectory.open(
        OsFileSystem(),
        str(path),
        node_id=1,
        cluster_id=None,
        clock=SystemClock(),
        rng=random.Random(0),
    )
    log = directory.create("t", 0, bytes(16), CONFIG)
    for number in range(20):
        log.append_as_leader(numbered(number), leader_epoch=0, now_ms=0)
    log.flush()
    return directory, log


def job_of(log: PartitionLog) -> CleanJob:
    found = log.dirtiness(high_watermark=20, now_ms=0)
    assert found is not None
    job = log.begin_clean(found, CleanLimits(), now_ms=0)
    assert job is not None
    return job


class House:
    """A cleaner, what it says, and a job to give it."""

    def __init__(self, path: Path, script: str | None = None, *, idle_seconds: float = 60) -> None:
        command = (sys.executable, "-P", "-m", MODULE)
        self.directory, self.log = log_on(path)
        self.job = job_of(self.log)
        self.lines: list[object] = []
        self.cleaner = CleanerProcess(
            asyncio.get_running_loop(),
            lambda _event, _severe, facts: self.lines.append(facts["line"]),
            command=command if script is None else (sys.executable, "-S", "-c", script),
            idle_seconds=idle_seconds,
        )

    async def run(self, bytes_per_second_max: float | None = None) -> Outcome:
        ended: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self.cleaner.run(self.job, bytes_per_second_max=bytes_per_second_max, done=ended.set_result)
        return await ended

    async def close(self) -> None:
        await self.cleaner.close()
        self.directory.close(clean=False)


async def gone(pid: int) -> None:
    """Wait until no process has this number."""
    while True:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        await asyncio.sleep(0.01)


@pytest.mark.slow
async def test_a_job_is_done_in_another_process_that_yields_to_others(tmp_path: Path) -> None:
    house = House(tmp_path / "data")
    result = await house.run()
    assert isinstance(result, CleanResult)
    assert result.fault is None
    pid = house.cleaner.pid
    assert pid is not None
    assert os.getpriority(os.PRIO_PROCESS, pid) == min(
        19, os.getpriority(os.PRIO_PROCESS, 0) + NICE
    )
    house.directory.checkpoint({})
    decision = house.log.begin_swap(house.job, result)
    assert decision is not None
    decision.run()
    assert house.log.switch(decision)
    swap.complete(OsFileSystem(), house.log.path)
    house.log.end_clean(house.job, result.clean_until_offset)
    assert house.log.cleaned_offset == 16
    assert house.log.read(0, bytes_max=1, end_offset=20).base_offset == 13
    house.job = replace_first(house.job)
    again = await house.run()
    assert house.cleaner.pid == pid
    assert isinstance(again, CleanerFailed)
    assert "00000000000000000001.log" in again.reason
    assert house.lines == []
    await house.close()
    await gone(pid)


def replace_first(job: CleanJob) -> CleanJob:
    """A job about a file that is not there."""
    first = job.segments[0]
    return CleanJob(
        **{name: getattr(job, name) for name in job.__struct_fields__ if name != "segments"},
        segments=(
            type(first)(
                base_offset=1,
                end_offset=first.end_offset,
                size_bytes=first.size_bytes,
            ),
        ),
    )


@pytest.mark.slow
async def test_the_process_ends_with_its_input_in_the_middle_of_a_job(tmp_path: Path) -> None:
    """As when the broker is killed: the system closes its end of the pipe."""
    directory, log = log_on(tmp_path / "data")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", MODULE, stdin=PIPE, stdout=PIPE
    )
    assert process.stdin is not None
    process.stdin.write(encode_frame(Order(job=job_of(log), bytes_per_second_max=1.0)))
    await process.stdin.drain()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(process.wait(), 1.0)  # it would take an hour
    process.stdin.close()
    assert await asyncio.wait_for(process.wait(), 10) == 0
    directory.close(clean=False)


async def test_a_process_that_ends_is_told_with_its_code_and_its_last_words(
    tmp_path: Path,
) -> None:
    house = House(tmp_path / "data", LOST + "print('oh', file=sys.stderr); sys.exit(3)")
    for _ in range(2):  # each time in a new process
        outcome = await house.run()
        assert outcome == CleanerFailed(reason="the cleaner process ended: exit code 3")
    assert house.lines == ["oh", "oh"]
    await house.close()


async def test_a_process_that_is_killed_is_told_with_its_signal(tmp_path: Path) -> None:
    house = House(tmp_path / "data", LOST + "import os; os.kill(os.getpid(), 9)")
    outcome = await house.run()
    assert outcome == CleanerFailed(reason=f"the cleaner process ended: signal {signal.SIGKILL}")
    await house.close()


@pytest.mark.parametrize("answer", ["b'\\xff\\xff\\xff\\xff'", "b'\\0\\0\\0\\1\\0'"])
async def test_an_answer_that_makes_no_sense_ends_the_process(tmp_path: Path, answer: str) -> None:
    script = LOST + f"sys.stdout.buffer.write({answer}); sys.stdout.flush(); sys.stdin.read()"
    house = House(tmp_path / "data", script)
    assert isinstance(await house.run(), CleanerFailed)
    assert house.cleaner.pid is None
    await house.close()


async def test_a_command_that_cannot_be_started_is_told(tmp_path: Path) -> None:
    house = House(tmp_path / "data")
    house.cleaner = CleanerProcess(
        asyncio.get_running_loop(), lambda *_: None, command=(str(tmp_path / "nothing"),)
    )
    outcome = await house.run()
    assert isinstance(outcome, CleanerFailed)
    assert "No such file" in outcome.reason
    await house.close()


async def test_closing_ends_the_process_within_a_job_and_tells_nobody(tmp_path: Path) -> None:
    house = House(tmp_path / "data", LOST + "sys.stdin.read()")
    told: list[Outcome] = []
    house.cleaner.run(house.job, bytes_per_second_max=None, done=told.append)
    while house.cleaner.pid is None:
        await asyncio.sleep(0.001)
    pid = house.cleaner.pid
    await house.close()
    await gone(pid)
    assert told == []


async def test_a_process_at_rest_is_ended_and_started_again_on_need(tmp_path: Path) -> None:
    answer = encode_frame(Failed(reason="no"))
    script = (
        f"import sys\nwhile sys.stdin.buffer.read1(1 << 20): "
        f"sys.stdout.buffer.write({answer!r}); sys.stdout.flush()"
    )
    house = House(tmp_path / "data", script, idle_seconds=0.01)
    assert await house.run() == CleanerFailed(reason="no")
    first = house.cleaner.pid
    assert first is not None
    await gone(first)
    assert await house.run() == CleanerFailed(reason="no")
    assert house.cleaner.pid != first
    await house.close()


def test_frames_are_read_back(tmp_path: Path) -> None:
    directory, log = log_on(tmp_path / "data")
    order = Order(job=job_of(log), bytes_per_second_max=1.5)
    directory.close(clean=False)
    done = Done(result=CleanResult(clean_until_offset=3))
    for message, decode in ((order, decode_order), (done, decode_answer)):
        frame = encode_frame(message)
        assert frame_size(frame[: LENGTH.size]) == len(frame) - LENGTH.size
        assert decode(frame[LENGTH.size :]) == message
    assert decode_answer(encode_frame(Failed(reason="no"))[4:]) == Failed(reason="no")


def test_a_frame_that_is_too_long_is_refused() -> None:
    assert frame_size(LENGTH.pack(FRAME_BYTES_MAX)) == FRAME_BYTES_MAX
    with pytest.raises(ValueError, match="above"):
        frame_size(LENGTH.pack(FRAME_BYTES_MAX + 1))
