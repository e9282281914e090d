"""Copy a topic with exactly-once while worker and broker are killed, then count.

A shell. A source of committed and aborted records is copied by one worker process with one
transactional id. The worker, the broker or both get SIGKILL at random moments, half of them inside
a commit, and start again; some workers are only stopped, and wake up when they have a successor.
Afterwards a fresh ``read_committed`` reader must find each input once, in the order of its
partition, and nothing else.
"""

import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, final

import psutil
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from ..interop.target import Target
from ..interop.waiting import eventually
from .copying_worker import transformed

SOURCE: Final = "source"
TARGET: Final = "target"
PARTITION_COUNT: Final = 4
CHECKOUT: Final = Path(__file__).parents[2]

TRANSACTION_COUNT: Final = 200
"""Batches the copy takes when nothing happens: enough that crashes fall into different ones."""
SOURCE_BATCH_RECORDS: Final = 5_000
ABORTED_RECORDS: Final = 50
"""Records of the aborted transaction between two committed ones of the source."""
CRASH_KINDS: Final = ("worker", "broker", "both", "zombie")
"""What dies. A zombie is stopped, replaced, and wakes up when its successor has committed."""
ZOMBIE_SECONDS: Final = 5.0
"""How long a zombie may try to go on before it is killed; most are fenced and end at once."""
COMMIT_DELAY_SECONDS_MAX: Final = 0.02
DELAY_SECONDS_MAX: Final = 0.1
GIVING_UP_MAX: Final = 100
WAIT_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Crash:
    at_position: int
    """Sum of the group's positions after which it happens."""
    kind: str
    inside_commit: bool
    delay_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    record_count: int
    crashes: Counter[str]
    crashes_planned: int
    workers_that_gave_up: int
    zombies_fenced: int
    wrong: list[str]
    seconds: float
    broker_cpu_seconds: float
    worker_cpu_seconds: float

    @property
    def is_clean(self) -> bool:
        return not self.wrong and self.crashes.total() == self.crashes_planned

    def __str__(self) -> str:
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self.crashes.items()))
        counts = (
            f"{self.record_count:,} records copied in {self.seconds:.1f} s across "
            f"{self.crashes.total()} of {self.crashes_planned} crashes ({kinds}); "
            f"{self.workers_that_gave_up} workers gave up by themselves, "
            f"{self.zombies_fenced} zombies were fenced"
        )
        cost = (
            f"CPU seconds: broker {self.broker_cpu_seconds:.1f}, "
            f"workers {self.worker_cpu_seconds:.1f}"
        )
        return "\n".join([counts, cost, *self.wrong])


def run(
    target: Target,
    directory: Path,
    *,
    records: int,
    crashes: int,
    rng: random.Random,
    say: Callable[[str], None] = lambda _: None,
) -> Report:
    """Copy *records* across *crashes*; the workers' logs stay in *directory*.

    Raises AssertionError when the copy does not go on after a crash.
    """
    target.start()
    stage = _Stage(target=target, directory=directory, batch_records=records // TRANSACTION_COUNT)
    try:
        _create_topics(target)
        expected = _write_source(target, records)
        end = sum(_ends(target, SOURCE))
        say(f"{records:,} records in {PARTITION_COUNT} partitions to copy")
        started = time.monotonic()
        stage.start_worker()
        done: Counter[str] = Counter()
        for number, crash in enumerate(_planned(end, crashes, rng), start=1):
            if not stage.wait_for(crash):
                break  # the copy came to its end before: the report says how many were left
            seconds = stage.crash(crash.kind)
            done[crash.kind] += 1
            say(
                f"{time.monotonic() - started:6.1f} s  {stage.position / end:4.0%}  "
                f"crash {number}: {crash.kind}{' inside a commit' if crash.inside_commit else ''}"
                f", again after {seconds:.2f} s"
            )
        stage.finish()
        seconds = time.monotonic() - started
        say(f"{seconds:6.1f} s  copied; reading the target")
        found = _read_committed(target, TARGET)
        stage.measure_broker()
    finally:
        stage.close()
    return Report(
        record_count=records,
        crashes=done,
        crashes_planned=crashes,
        workers_that_gave_up=stage.workers_that_gave_up,
        zombies_fenced=stage.zombies_fenced,
        wrong=differences(expected, found),
        seconds=seconds,
        broker_cpu_seconds=stage.broker_cpu_seconds,
        worker_cpu_seconds=stage.worker_cpu_seconds,
    )


def differences(expected: Sequence[list[bytes]], found: Sequence[list[bytes]]) -> list[str]:
    """What is wrong with *found*, by partition, one sentence each; empty for a true copy."""
    wrong = []
    for partition, (want, have) in enumerate(zip(expected, found, strict=True)):
        if want == have:
            continue
        wanted, had = set(want), Counter(have)
        missing = wanted - had.keys()
        doubled = [value for value, count in had.items() if count > 1]
        alien = had.keys() - wanted
        for what, values in (("missing", missing), ("doubled", doubled), ("alien", alien)):
            if values:
                example = min(values).decode(errors="replace")
                wrong.append(f"partition {partition}: {len(values)} {what}, such as {example}")
        once = list(dict.fromkeys(value for value in have if value in wanted))
        if once != [value for value in want if value in had]:
            wrong.append(f"partition {partition}: out of order")
    return wrong


def _planned(end: int, count: int, rng: random.Random) -> Iterator[Crash]:
    """Crashes spread evenly, of every kind, in an order and at moments that the dice choose."""
    kinds = [CRASH_KINDS[index % len(CRASH_KINDS)] for index in range(count)]
    rng.shuffle(kinds)
    for number, kind in enumerate(kinds, start=1):
        inside_commit = rng.random() < 0.5
        delay_max = COMMIT_DELAY_SECONDS_MAX if inside_commit else DELAY_SECONDS_MAX
        yield Crash(
            at_position=end * number // (count + 1),
            kind=kind,
            inside_commit=inside_commit,
            delay_seconds=rng.random() * delay_max,
        )


@final
@dataclass(slots=True, kw_only=True)
class _Stage:
    """The broker and the worker, their ends and their cost."""

    target: Target
    directory: Path
    batch_records: int
    worker_starts: int = 0
    workers_that_gave_up: int = 0
    zombies_fenced: int = 0
    position: int = 0
    broker_cpu_seconds: float = 0.0
    worker_cpu_seconds: float = 0.0
    _worker: "_Worker | None" = None
    _positions: dict[str, int] = field(default_factory=dict)

    def start_worker(self) -> None:
        self.worker_starts += 1
        log = self.directory / f"worker-{self.worker_starts}.log"
        arguments = (PARTITION_COUNT, self.batch_records)
        self._worker = _Worker(self.target.bootstrap, log, arguments, self._positions)

    def wait_for(self, crash: Crash) -> bool:
        """Until its moment; False when the copy is complete before."""

        def has_come() -> bool:
            self.position = sum(self._positions.values())
            return self.position >= crash.at_position or self._has_ended()

        eventually(has_come, timeout_seconds=WAIT_SECONDS)
        assert self._worker is not None, "it was started before"
        if crash.inside_commit:
            self._worker.is_committing.clear()
            self._worker.is_committing.wait(WAIT_SECONDS)
        time.sleep(crash.delay_seconds)
        return not self._has_ended()

    def crash(self, kind: str) -> float:
        """Kill and start again; the seconds that took."""
        started = time.monotonic()
        assert self._worker is not None, "it was started before"
        if kind == "zombie":
            self._raise_a_zombie()
        if kind in {"worker", "both"}:
            self._end_worker()
        if kind in {"broker", "both"}:
            self.measure_broker()
            self.target.kill()
            self.target.start()
        if kind in {"worker", "both"}:
            self.start_worker()
        return time.monotonic() - started

    def _raise_a_zombie(self) -> None:
        zombie = self._worker
        assert zombie is not None, "it was started before"
        zombie.pause()
        positions = dict(self._positions)
        self.start_worker()
        eventually(
            lambda: self._has_ended() or self._positions != positions,
            timeout_seconds=WAIT_SECONDS,
        )
        zombie.go_on()
        deadline = time.monotonic() + ZOMBIE_SECONDS
        while zombie.code is None and time.monotonic() < deadline:
            time.sleep(0.02)
        self.zombies_fenced += zombie.code not in {None, 0}
        zombie.kill()
        self.worker_cpu_seconds += zombie.cpu_seconds

    def finish(self) -> None:
        """Until the worker has come to the end of the source."""
        eventually(self._has_ended, timeout_seconds=WAIT_SECONDS)

    def measure_broker(self) -> None:
        """Add the CPU of the broker that runs; call it once for each of its lives."""
        process = psutil.Process(self.target.pid)
        for each in (process, *process.children(recursive=True)):
            times = each.cpu_times()
            self.broker_cpu_seconds += times.user + times.system

    def close(self) -> None:
        self._end_worker()
        self.target.kill()

    def _has_ended(self) -> bool:
        """Whether the copy is complete. A worker that gave up is replaced, as a supervisor does."""
        assert self._worker is not None, "it was started before"
        code = self._worker.code
        if code in {None, 0}:
            return code == 0
        self.workers_that_gave_up += 1
        assert self.workers_that_gave_up < GIVING_UP_MAX, (
            f"workers give up: see {self.directory}/worker-*.log"
        )
        self._end_worker()
        self.start_worker()
        return False

    def _end_worker(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self.worker_cpu_seconds += self._worker.cpu_seconds
            self._worker = None


@final
class _Worker:
    """A worker process and what it said last, read by a thread that ends with it."""

    def __init__(
        self, bootstrap: str, log: Path, numbers: tuple[int, ...], positions: dict[str, int]
    ) -> None:
        self.is_committing = threading.Event()
        self.cpu_seconds = 0.0
        self._positions = positions
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "tests.chaos.copying_worker"),
                    *(bootstrap, SOURCE, TARGET, *map(str, numbers)),
                ],
                cwd=CHECKOUT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        assert self._process.stdout is not None, "asked for a pipe"
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,))
        self._reader.start()

    @property
    def code(self) -> int | None:
        """The exit code; None while it runs."""
        return self._process.poll()

    def pause(self) -> None:
        """SIGSTOP: it does nothing and knows nothing of it."""
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """SIGKILL, or nothing when it has ended."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _read(self, lines: IO[bytes]) -> None:
        for line in lines:
            if not line.endswith(b"\n"):
                return  # cut short by the kill
            said = json.loads(line)
            self._positions.update(said.get("positions", {}))
            self.cpu_seconds = said.get("cpu_seconds", self.cpu_seconds)
            if "committing" in said:
                self.is_committing.set()


def _create_topics(target: Target) -> None:
    admin = AdminClient({"bootstrap.servers": target.bootstrap})
    topics = [NewTopic(name, num_partitions=PARTITION_COUNT) for name in (SOURCE, TARGET)]
    for future in admin.create_topics(topics).values():
        future.result(30)


def _write_source(target: Target, records: int) -> list[list[bytes]]:
    """Write the source; what the copy must have, by partition. Aborted records lie in between."""
    producer = Producer(
        {"bootstrap.servers": target.bootstrap, "transactional.id": "source", "linger.ms": 5}
    )
    producer.init_transactions(30)
    expected: list[list[bytes]] = [[] for _ in range(PARTITION_COUNT)]
    for start in range(0, records, SOURCE_BATCH_RECORDS):
        with _transaction(producer):
            for number in range(start, min(start + SOURCE_BATCH_RECORDS, records)):
                value = f"record {number:09} {'.' * 80}".encode()
                partition = number % PARTITION_COUNT
                _send(producer, value, partition)
                expected[partition].append(transformed(value))
        producer.begin_transaction()
        for number in range(ABORTED_RECORDS):
            _send(producer, f"aborted {start}-{number}".encode(), number % PARTITION_COUNT)
        producer.flush(30)  # so that they lie in the log, and not only in the client's queue
        producer.abort_transaction(30)
    return expected


@contextmanager
def _transaction(producer: Producer) -> Iterator[None]:
    producer.begin_transaction()
    yield
    producer.commit_transaction(60)


def _send(producer: Producer, value: bytes, partition: int) -> None:
    while True:
        try:
            producer.produce(SOURCE, value, partition=partition)
        except BufferError:
            producer.poll(0.1)
        else:
            return


def _ends(target: Target, topic: str) -> list[int]:
    """Each partition's last stable offset."""
    reader = _reader(target)
    ends = []
    for partition in range(PARTITION_COUNT):
        watermarks = reader.get_watermark_offsets(TopicPartition(topic, partition), timeout=30)
        assert watermarks is not None, "the broker did not tell the ends in time"
        ends.append(watermarks[1])
    reader.close()
    return ends


def _read_committed(target: Target, topic: str) -> list[list[bytes]]:
    """Every value that a fresh reader is shown, by partition."""
    reader = _reader(target)
    reader.assign([TopicPartition(topic, partition, 0) for partition in range(PARTITION_COUNT)])
    found: list[list[bytes]] = [[] for _ in range(PARTITION_COUNT)]
    ended: set[int] = set()
    deadline = time.monotonic() + WAIT_SECONDS
    while len(ended) < PARTITION_COUNT:
        assert time.monotonic() < deadline, f"only {sorted(ended)} were read to their ends"
        for message in reader.consume(10_000, 0.2):
            partition = message.partition()
            assert partition is not None, "what a consumer reports has its place"
            error = message.error()
            if error is None:
                found[partition].append(message.value() or b"")
            elif error.code() == KafkaError._PARTITION_EOF:
                ended.add(partition)
            else:
                raise KafkaException(error)
    reader.close()
    return found


def _reader(target: Target) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": target.bootstrap,
            "group.id": "fresh",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.queue.backoff.ms": 5,
        }
    )
