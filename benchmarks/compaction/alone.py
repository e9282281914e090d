"""Our cleaner alone, as a process: a job in, what it took out. A shell.

``python -m headwater.benchmarks.compaction.alone JOB`` reads the job as msgpack from a file and
prints JSON; ``run`` starts that. The broker's worker runs the same function.
"""

import resource
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from headwater.core_log.storage.compaction.job import CleanJob, CleanResult


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    result: CleanResult
    cpu_seconds: float
    """Of the process from its start to its end: interpreter and numpy included."""
    seconds: float
    peak_mb: float
    """Resident, at most."""


def run(job: CleanJob, scratch: Path) -> Taken:
    """Do *job* in a process of its own."""
    path = scratch / "job.msgpack"
    path.write_bytes(msgspec.msgpack.encode(job))
    done = subprocess.run(
        [sys.executable, "-m", "headwater.benchmarks.compaction.alone", str(path)],
        capture_output=True,
        check=True,
    )
    return msgspec.json.decode(done.stdout, type=Taken)


class _Clock:
    def now_ms(self) -> int:
        return int(time.time() * 1000)

    def monotonic_ms(self) -> int:
        return int(time.monotonic() * 1000)


def _main(path: str) -> None:
    from headwater.core_log.storage.compaction.cleaner import clean  # noqa: PLC0415 - counted
    from headwater.core_log.storage.fs import OsFileSystem  # noqa: PLC0415 - counted

    job = msgspec.msgpack.decode(Path(path).read_bytes(), type=CleanJob)
    started = time.monotonic()
    result = clean(job, OsFileSystem(), clock=_Clock(), pace=lambda _: None)
    seconds = time.monotonic() - started
    usage = resource.getrusage(resource.RUSAGE_SELF)
    taken = Taken(
        result=result,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        seconds=seconds,
        peak_mb=usage.ru_maxrss * 1024 / 1e6,
    )
    sys.stdout.buffer.write(msgspec.json.encode(taken))


if __name__ == "__main__":
    _main(sys.argv[1])
