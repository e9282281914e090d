"""Compaction in a whole broker, Kafka's and ours alike: what it takes, and who waits. A shell.

The files are there before the broker starts; a minimum lag keeps its cleaner from them until the
measurement begins. A smaller topic is cleaned first: a JVM is slow at what it does for the first
time, and our worker process starts with the first job.
"""

import contextlib
import os
import shutil
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Final

import msgspec
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # exported without __all__
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)
from confluent_kafka.cimpl import NewTopic

from headwater.core_log.storage.identity import CLEAN_SHUTDOWN
from headwater.core_log.testing.process import BrokerProcess
from headwater.tools.kafka.server import MEASURED_JVM, KafkaServer

from ..log import clients
from ..log.machine import cpu_seconds, resident_mb
from ..log.systems import TOPIC_CONFIG, Flush, SystemName
from .dataset import DataSet, check_survivors

WARM: Final = "warm"
MAIN: Final = "compacted"
LATENCY: Final = "latency"

LATENCY_SECONDS: Final = 4.0
"""Before, and from the start of the cleaning on: it should last as long."""

_NEVER_MS: Final = str(2**63 - 1)
_SETTINGS: Final = {
    "log.cleaner.backoff.ms": "100",
    "log.cleaner.min.cleanable.ratio": "0.01",
    "log.initial.task.delay.ms": "100",
    "log.segment.delete.delay.ms": "100",
}
_HEAP_MB: Final = 1024
_POLL_SECONDS: Final = 0.02
_CLEAN_TIMEOUT_SECONDS: Final = 600.0
_THREAD_NAME: Final = "kafka-log-clean"  # of kafka-log-cleaner-thread-0: the kernel keeps 15 bytes
_WORKER: Final = "cleaner_process"


class Live(msgspec.Struct, frozen=True, kw_only=True):
    """One cleaning of the main topic."""

    cleaner_cpu_seconds: float
    """Kafka: of the cleaner's thread. Ours: of the worker process."""
    process_cpu_seconds: float
    """Of the broker and its worker, in the same time: with a JVM's compiler and collector, and
    with the producer's requests."""
    seconds: float
    cleaner_cpu_seconds_per_gb: float
    resident_before_mb: float
    """Of the broker and its worker, before the first cleaning."""
    resident_after_mb: float
    worker_peak_mb: float | None
    """Ours only: the worker's resident memory, at most."""
    p50_us: dict[str, float]
    """Of a producer on another topic: ``idle``, and ``cleaning`` from its start on."""
    p99_us: dict[str, float]
    p999_us: dict[str, float]
    size_after_bytes: int


def measure(name: SystemName, scratch: Path, *, main: DataSet, warm: DataSet, flush: Flush) -> Live:
    """Prepare a node in *scratch*, clean, compare what is left with the dictionary."""
    directory = scratch / name
    system: BrokerProcess | KafkaServer
    if name == "headwater":
        system = BrokerProcess(directory, settings=_SETTINGS)
    else:
        system = KafkaServer(
            directory, jvm_options=MEASURED_JVM, heap_mb=_HEAP_MB, overrides=_SETTINGS
        )
    try:
        system.start()
        _create(system.bootstrap, flush)
        system.stop()
        for topic, data_set in ((WARM, warm), (MAIN, main)):
            data_set.link_into(system.data_directory / f"{topic}-0")
        (system.data_directory / CLEAN_SHUTDOWN).unlink()  # have it look at the files
        system.start()
        os.sync()  # else what was written before is flushed while the producer waits for its own
        found = _clean_both(system, main=main, warm=warm)
    finally:
        system.stop()
    left = (system.data_directory / f"{MAIN}-0").glob("*.log")
    found = msgspec.structs.replace(found, size_after_bytes=check_survivors(left, main))
    shutil.rmtree(directory)
    return found


def _clean_both(system: BrokerProcess | KafkaServer, *, main: DataSet, warm: DataSet) -> Live:
    idle = _latency(system.bootstrap)  # compiles the producer's path as well
    idle = _latency(system.bootstrap)
    resident_before = resident_mb(system.pid)
    _release(system.bootstrap, WARM)
    _wait(system.data_directory, WARM, warm)
    cleaner_before, process_before = _cleaner_cpu(system.pid), _all_cpu(system.pid)
    busy: dict[str, Any] = {}
    producer = threading.Thread(target=lambda: busy.update(_latency(system.bootstrap)))
    started = time.monotonic()
    _release(system.bootstrap, MAIN)
    producer.start()
    _wait(system.data_directory, MAIN, main)
    seconds = time.monotonic() - started
    cleaner = _cleaner_cpu(system.pid) - cleaner_before
    process = _all_cpu(system.pid) - process_before
    worker = _worker(system.pid)
    peak = None if worker is None else _peak_mb(worker)
    resident = resident_mb(system.pid) + (0 if worker is None else resident_mb(worker))
    producer.join()
    return Live(
        cleaner_cpu_seconds=cleaner,
        process_cpu_seconds=process,
        seconds=seconds,
        cleaner_cpu_seconds_per_gb=cleaner / (main.size_bytes / 1e9),
        resident_before_mb=resident_before,
        resident_after_mb=resident,
        worker_peak_mb=peak,
        p50_us={"idle": idle["p50_us"], "cleaning": busy["p50_us"]},
        p99_us={"idle": idle["p99_us"], "cleaning": busy["p99_us"]},
        p999_us={"idle": idle["p999_us"], "cleaning": busy["p999_us"]},
        size_after_bytes=0,
    )


def _create(bootstrap: str, flush: Flush) -> None:
    compacted = {"cleanup.policy": "compact", "min.compaction.lag.ms": _NEVER_MS}
    topics = [
        NewTopic(WARM, num_partitions=1, config=compacted),
        NewTopic(MAIN, num_partitions=1, config=compacted),
        NewTopic(LATENCY, num_partitions=1, config=dict(TOPIC_CONFIG[flush])),
    ]
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    for future in admin.create_topics(topics).values():
        future.result(60)


def _release(bootstrap: str, topic: str) -> None:
    """Let the cleaner at *topic*."""
    entry = ConfigEntry("min.compaction.lag.ms", "0", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    for future in admin.incremental_alter_configs([resource]).values():
        future.result(60)


def _wait(data_directory: Path, topic: str, data_set: DataSet) -> None:
    """Until the partition's segments hold no more than the survivors.

    Not until the cleaner's checkpoint says so: Kafka writes that at once, ours with the next of
    its checkpoints.
    """
    partition = data_directory / f"{topic}-0"
    deadline = time.monotonic() + _CLEAN_TIMEOUT_SECONDS
    while _size_bytes(partition) > data_set.cleaned_bytes_max:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{topic} was not cleaned in {_CLEAN_TIMEOUT_SECONDS:.0f} s")
        time.sleep(_POLL_SECONDS)


def _size_bytes(partition: Path) -> int:
    total = 0
    for path in partition.glob("*.log"):
        with contextlib.suppress(FileNotFoundError):  # swapped just now
            total += path.stat().st_size
    return total


def _latency(bootstrap: str) -> dict[str, Any]:
    settings = {
        "broker.address.family": "v4",
        "socket.nagle.disable": "true",
        "linger.ms": "0",
        "acks": "all",
        "size": "100",
        "rate": "1000",
        "seconds": str(LATENCY_SECONDS),
    }
    arguments = [f"{name}={value}" for name, value in settings.items()]
    return clients.run("bulk", "latency", bootstrap, LATENCY, *arguments)


def _cleaner_cpu(pid: int) -> float:
    worker = _worker(pid)
    if worker is not None:
        return cpu_seconds(worker)
    for task in Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().strip() == _THREAD_NAME:
            return _thread_cpu(task)
    return 0.0


def _thread_cpu(task: Path) -> float:
    fields = (task / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _all_cpu(pid: int) -> float:
    worker = _worker(pid)
    return cpu_seconds(pid) + (0.0 if worker is None else cpu_seconds(worker))


def _worker(pid: int) -> int | None:
    """Our broker's cleaner process; None before its first job, and for Kafka."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            if _WORKER in Path(f"/proc/{child}/cmdline").read_text():
                return int(child)
    return None


def _peak_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise subprocess.SubprocessError(f"process {pid} has gone")
