"""Transactions one after another, on Apache Kafka and on Headwater: the command line.

One librdkafka producer (transaction version 1) begins, sends, commits, and begins again. What a
transaction costs beside its records shows in the small ones.
"""

import argparse
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec
from confluent_kafka import Producer

from headwater.service.tables import columns, show

from ..log.machine import Machine, cpu_seconds, describe
from ..log.systems import SYSTEM_NAMES, Flush, System, create_topic, new

RESULTS: Final = Path(__file__).parents[1] / "results"
TOPIC: Final = "transactions"
PARTITIONS: Final = 4
VALUE: Final = b"v" * 100
WARM_TRANSACTIONS: Final = 300
"""Before the measured ones: a JVM is slow at what it does for the first time."""
SHAPES: Final = ((1, 1_000), (100, 300), (10_000, 30))
"""Records in a transaction, and how many transactions are measured."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One system at one size of transactions."""

    system: str
    flush: str
    records: int
    transactions: int
    per_second: float
    commit_ms_p50: float
    commit_ms_p99: float
    broker_cpu_ms_each: float


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One run."""

    taken_at: str
    machine: Machine
    rows: list[Row]


def main() -> int:
    """Measure, print, keep the result."""
    parser = argparse.ArgumentParser(prog="benchmarks.transactions", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the transactions")
    parser.add_argument("--output", type=Path, help="JSON file; default: under benchmarks/results")
    arguments = parser.parse_args()
    machine = describe()
    rows: list[Row] = []
    flushes: tuple[Flush, ...] = ("lazy", "flushed")
    with tempfile.TemporaryDirectory() as scratch:
        for name in SYSTEM_NAMES:
            system = new(name, Path(scratch) / name)
            system.start()
            try:
                for flush in flushes:
                    rows += _measure(system, name, flush, 10 if arguments.quick else 1)
            finally:
                system.stop()
    result = Result(
        taken_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), machine=machine, rows=rows
    )
    show(
        [msgspec.structs.asdict(row) for row in rows],
        columns(*Row.__struct_fields__),
        as_json=False,
        out=sys.stdout,
    )
    stamp = result.taken_at.replace(":", "").replace("-", "")
    path = arguments.output or RESULTS / f"transactions-{stamp}.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")
    sys.stdout.write(f"\nkept in {path}\n")
    return 0


def _measure(system: System, name: str, flush: Flush, divisor: int) -> list[Row]:
    topic = f"{TOPIC}-{flush}"
    create_topic(system, topic, flush=flush, partitions=PARTITIONS)
    producer = Producer(
        {
            "bootstrap.servers": system.bootstrap,
            "transactional.id": f"bench-{flush}",
            "linger.ms": 0,
        }
    )
    producer.init_transactions(60)
    for _ in range(WARM_TRANSACTIONS // divisor):
        _transact(producer, topic, 1)
    rows: list[Row] = []
    for records, count in SHAPES:
        measured = max(count // divisor, 3)
        cpu = cpu_seconds(system.pid)
        began = time.monotonic()
        commits = sorted(_transact(producer, topic, records) for _ in range(measured))
        seconds = time.monotonic() - began
        rows.append(
            Row(
                system=name,
                flush=flush,
                records=records,
                transactions=measured,
                per_second=round(measured / seconds, 1),
                commit_ms_p50=round(commits[measured // 2], 2),
                commit_ms_p99=round(commits[min(measured - 1, measured * 99 // 100)], 2),
                broker_cpu_ms_each=round((cpu_seconds(system.pid) - cpu) * 1000 / measured, 3),
            )
        )
    return rows


def _transact(producer: Producer, topic: str, records: int) -> float:
    """One transaction; the milliseconds that its commit took, flushing included."""
    producer.begin_transaction()
    for number in range(records):
        producer.produce(topic, VALUE, partition=number % PARTITIONS)
    began = time.monotonic()
    producer.commit_transaction(60)
    return (time.monotonic() - began) * 1000


if __name__ == "__main__":
    sys.exit(main())
