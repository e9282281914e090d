"""One row on one system, once: metrics by name. A shell.

Names end in their unit. ``*_per_second`` and ``*_mb_s`` are better when higher, all others when
lower; ``report`` relies on it.
"""

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from . import clients, rows, systems
from .machine import cpu_seconds, resident_mb
from .systems import System

Metrics = dict[str, float]

SETTLE_SECONDS: Final = 2.0
"""Between ready and the measurement of idle memory: a JVM is still busy then."""

COMMON: Final = {"broker.address.family": "v4", "socket.nagle.disable": "true"}
PRODUCER: Final = {
    **COMMON,
    "linger.ms": "5",
    "max.in.flight.requests.per.connection": "5",  # Java's default; librdkafka's is a million
    "batch.num.messages": "100000",  # the batch's size decides, not its count
    "queue.buffering.max.messages": "500000",
    "queue.buffering.max.kbytes": "32768",  # sent to its end after the time is up: keep it short
}
CONSUMER: Final = {
    **COMMON,
    "fetch.queue.backoff.ms": "1",  # the default stalls a second when the queue was full
    "queued.min.messages": "1000000",
    "fetch.message.max.bytes": "1048576",
}
BYTES_MAX: Final = 3e9
"""Of one run: bounds the disk it takes."""
DATA_SET_BYTES: Final = {100: 250_000_000, 1024: 1_000_000_000}
"""What a consumer reads, by value size: a second's worth or so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How long a run takes."""

    produce_seconds: float
    requests_seconds: float
    latency_seconds: float
    data_set_fraction: float

    @classmethod
    def full(cls) -> "Effort":
        return cls(
            produce_seconds=1.5, requests_seconds=2.0, latency_seconds=5.0, data_set_fraction=1.0
        )

    @classmethod
    def quick(cls) -> "Effort":
        return cls(
            produce_seconds=1.0, requests_seconds=1.0, latency_seconds=3.0, data_set_fraction=0.5
        )


def produce(system: System, row: rows.Produce, effort: Effort) -> Metrics:
    """A fresh topic, filled for a while, deleted."""
    topic = _topic()
    systems.create_topic(system, topic, flush=row.flush)
    metrics = _bulk(
        *(system, "produce", topic),
        {
            **PRODUCER,
            "acks": row.acks,
            "batch.size": str(rows.BATCH_SIZES[row.batch]),
            "compression.type": row.codec,
            "size": str(row.value_bytes),
            "seconds": str(effort.produce_seconds),
            "bytes_max": str(BYTES_MAX),
        },
    )
    drop(system, topic)
    return metrics


def prepare_consume(system: System, row: rows.Consume, effort: Effort) -> str:
    """Write the data set that ``consume`` reads; returns its topic."""
    topic = _topic()
    systems.create_topic(system, topic, flush="lazy")
    _bulk(
        *(system, "produce", topic),
        {
            **PRODUCER,
            "acks": "1",
            "batch.size": str(rows.BATCH_SIZES[row.batch]),
            "compression.type": row.codec,
            "size": str(row.value_bytes),
            "count": str(_data_set_records(row, effort)),
        },
    )
    return topic


def consume(system: System, row: rows.Consume, effort: Effort, topic: str) -> Metrics:
    """Read the prepared topic from its beginning."""
    settings = {**CONSUMER, "count": str(_data_set_records(row, effort))}
    return _bulk(system, "consume", topic, settings)


def requests(system: System, row: rows.Requests, effort: Effort) -> Metrics:
    topic = _topic()
    systems.create_topic(system, topic, flush=row.flush)
    before = cpu_seconds(system.pid)
    answer = clients.run(
        *("requests", str(system.port), topic, str(row.connections), "1"),
        *(str(effort.requests_seconds), "-1" if row.acks == "all" else "1"),
    )
    used = cpu_seconds(system.pid) - before
    drop(system, topic)
    return {
        "requests_per_second": answer["requests"] / answer["seconds"],
        "p99_us": answer["p99_us"],
        "cpu_us_per_request": used / answer["requests"] * 1e6,
    }


def latency(system: System, row: rows.Latency, effort: Effort) -> Metrics:
    topic = _topic()
    systems.create_topic(system, topic, flush=row.flush)
    settings = {
        **PRODUCER,
        "linger.ms": "0",
        "acks": row.acks,
        "size": "100",
        "rate": "1000",
        "seconds": str(effort.latency_seconds),
    }
    answer = clients.run("bulk", "latency", system.bootstrap, topic, *_arguments(settings))
    drop(system, topic)
    return {name: answer[name] for name in ("p50_us", "p99_us", "p999_us")}


def start(name: systems.SystemName, scratch: Path) -> Metrics:
    """A node on an empty folder: how soon it answers, what it holds when idle."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        system = systems.new(name, Path(folder))
        ready_seconds = system.start()
        try:
            time.sleep(SETTLE_SECONDS)
            before = cpu_seconds(system.pid)
            time.sleep(SETTLE_SECONDS)
            idle_cpu = (cpu_seconds(system.pid) - before) / SETTLE_SECONDS
            memory = resident_mb(system.pid)
        finally:
            system.stop()
    return {"ready_seconds": ready_seconds, "idle_mb": memory, "idle_cpu_percent": 100 * idle_cpu}


def partitions(
    name: systems.SystemName, row: rows.Partitions, effort: Effort, scratch: Path
) -> Metrics:
    """A node of its own with *row.count* partitions, from creation to its second start."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        system = systems.new(name, Path(folder))
        system.start()
        try:
            metrics = _with_partitions(system, row, effort)
            stopping = time.monotonic()
            system.stop()
            metrics["stop_seconds"] = time.monotonic() - stopping
            metrics["restart_ready_seconds"] = system.start()
        finally:
            system.kill()
    return metrics


def _with_partitions(system: System, row: rows.Partitions, effort: Effort) -> Metrics:
    began = time.monotonic()
    topic_count = systems.create_partitions(system, "many", row.count)
    created_seconds = time.monotonic() - began
    memory = resident_mb(system.pid)
    # librdkafka sends one partition per request and looks at all of them in each round: with ten
    # thousand, it is what one would measure. Requests for a hundred partitions, as Java sends.
    seconds = str(2 * effort.produce_seconds)
    run = ("requests", str(system.port), "many", "4", "2", seconds, "-1")
    shape = (str(topic_count), str(row.count // topic_count), "100")
    # The node is new. Batches above index.interval.bytes make it touch every index file once, which
    # costs a JVM with its files mapped into memory a page fault each.
    clients.run(*run, *shape, "5000")
    before = cpu_seconds(system.pid)
    answer = clients.run(*run, *shape, "1024")
    produced = _rates(answer, cpu_seconds(system.pid) - before)
    return {
        "create_seconds": created_seconds,
        "created_mb": memory,
        "produced_mb": resident_mb(system.pid),
        **produced,
    }


def _bulk(system: System, mode: str, topic: str, settings: dict[str, str]) -> Metrics:
    before = cpu_seconds(system.pid)
    answer = clients.run("bulk", mode, system.bootstrap, topic, *_arguments(settings))
    return _rates(answer, cpu_seconds(system.pid) - before)


def _rates(answer: dict[str, Any], used_cpu_seconds: float) -> Metrics:
    return {
        "mb_s": answer["bytes"] / 1e6 / answer["seconds"],
        "records_per_second": answer["records"] / answer["seconds"],
        "cpu_seconds_per_gb": used_cpu_seconds / (answer["bytes"] / 1e9),
    }


def _arguments(settings: dict[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in settings.items()]


def _data_set_records(row: rows.Consume, effort: Effort) -> int:
    return int(DATA_SET_BYTES[row.value_bytes] * effort.data_set_fraction) // row.value_bytes


def _topic() -> str:
    return f"bench-{time.monotonic_ns()}"


def drop(system: System, topic: str) -> None:
    """Delete the data and let the disk come to rest, so that no run pays for the one before."""
    systems.delete_topic(system, topic)
    _wait_until_gone(lambda: not any(_folders(system, topic)))
    os.sync()


def _folders(system: System, topic: str) -> list[Path]:
    data = system.directory / "data"
    return [path for path in data.glob(f"{topic}*") if path.is_dir()]


def _wait_until_gone(is_gone: Callable[[], bool]) -> None:
    """At most a few seconds: files that stay longer cost disk, not correctness."""
    deadline = time.monotonic() + 5
    while not is_gone() and time.monotonic() < deadline:
        time.sleep(0.02)
