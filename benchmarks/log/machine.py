"""The machine a result was taken on, and what a process cost there. A shell: it
reads ``/proc`` and asks Java for its version.
"""

import os
import platform
import subprocess
from pathlib import Path
from typing import Final

import confluent_kafka
import msgspec

from headwater.tools.kafka.jars import java

_TICKS_PER_SECOND: Final = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader of a result wants to know before he compares."""

    processor: str
    cores: int
    memory_gib: float
    kernel: str
    python: str
    java: str
    librdkafka: str
    load_1min_before: float
    """Above a tenth of the cores, somebody else was at work: take the ratios with care."""


def cpu_seconds(pid: int) -> float:
    """User and system time of a process and all its threads so far."""
    # The command's name, in parentheses, may hold anything; fields count from behind it.
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_SECOND


def resident_mb(pid: int) -> float:
    """Resident memory of a process in megabytes (10^6)."""
    pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * _PAGE_BYTES / 1e6


def describe() -> Machine:
    """This machine, now."""
    said = subprocess.run([java(), "-version"], capture_output=True, text=True, check=True)
    return Machine(
        processor=_processor(),
        cores=len(os.sched_getaffinity(0)),
        memory_gib=round(os.sysconf("SC_PHYS_PAGES") * _PAGE_BYTES / 2**30, 1),
        kernel=f"{platform.system()} {platform.release()} {platform.machine()}",
        python=platform.python_version(),
        java=said.stderr.splitlines()[0],
        librdkafka=confluent_kafka.libversion()[0],
        load_1min_before=os.getloadavg()[0],
    )


def commit() -> str:
    """The checkout's commit; empty outside one."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=12", "HEAD"]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    return said.stdout.strip()


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
