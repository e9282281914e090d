"""Kill the broker under load, again and again, and judge what its clients saw.

A shell. Two idempotent producers and a plain one write, a group of two reads; the broker gets
SIGKILL at a random moment and starts again, round after round. Afterwards a fresh client reads
everything, and the history checker says whether an acknowledged record was lost, an idempotent
one doubled, an offset left empty, an order broken or a reader led astray.
"""

import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, final

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from headwater.core_log.testing.history import Acked, Anomaly, Event, Poll, check, read_history

from ..interop.target import Target
from ..interop.waiting import eventually
from .worker import GROUP, PARTITION_COUNT

TOPIC: Final = "chaos"
PRODUCERS: Final = {"idempotent-1": "idempotent", "idempotent-2": "idempotent", "plain": "plain"}
CONSUMERS: Final = ("member-1", "member-2")
CHECKOUT: Final = Path(__file__).parents[2]

ACKED_PER_ROUND: Final = 500
"""New acknowledgements, and new records consumed, that a round waits for before it kills."""
KILL_DELAY_SECONDS_MAX: Final = 0.5
WAIT_SECONDS: Final = 90.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    anomalies: list[Anomaly]
    acked_count: int
    consumed_by_group_count: int
    missed_by_group: list[str]
    """Acknowledged values that no member of the group ever polled."""
    client_failures: list[str]
    restart_seconds: list[float]

    @property
    def is_clean(self) -> bool:
        return not (self.anomalies or self.missed_by_group or self.client_failures)

    def __str__(self) -> str:
        slowest = max(self.restart_seconds, default=0.0)
        counts = (
            f"{len(self.restart_seconds)} kills, {self.acked_count:,} records acknowledged, "
            f"{self.consumed_by_group_count:,} polled by the group; slowest restart {slowest:.2f} s"
        )
        lines = [counts]
        lines += [str(anomaly) for anomaly in self.anomalies[:20]]
        lines += [f"missed by the group: {value}" for value in self.missed_by_group[:20]]
        lines += self.client_failures
        return "\n".join(lines)


def run(
    target: Target,
    directory: Path,
    *,
    rounds: int,
    rng: random.Random,
    producers: Mapping[str, str] = PRODUCERS,
    say: Callable[[str], None] = lambda _: None,
) -> Report:
    """Kill *target* that many times under load; the clients' files stay in *directory*.

    Raises AssertionError when the load does not go on after a restart.
    """
    target.start()
    with ExitStack() as cleanup:
        cleanup.callback(target.kill)
        _create_topic(target)
        senders = [
            cleanup.enter_context(_Client("produce", name, target, directory, kind))
            for name, kind in producers.items()
        ]
        consumers = [
            cleanup.enter_context(_Client("consume", name, target, directory, ""))
            for name in CONSUMERS
        ]
        restart_seconds = []
        for number in range(1, rounds + 1):
            _wait_for_load(senders, consumers)
            time.sleep(rng.random() * KILL_DELAY_SECONDS_MAX)  # the moment must not be a habit
            target.kill()
            restart_seconds.append(target.start())
            say(f"round {number}: killed, back after {restart_seconds[-1]:.2f} s")
        _wait_for_load(senders, consumers)
        failures = [failure for client in senders for failure in client.stop()]
        _wait_until_group_is_done(target)
        failures += [failure for client in consumers for failure in client.stop()]
        history = [event for client in senders + consumers for event in client.history()]
        history += _read_everything(target)
    return _judge(history, failures, restart_seconds)


def _judge(history: list[Event], failures: list[str], restart_seconds: list[float]) -> Report:
    acked = {event.value for event in history if isinstance(event, Acked)}
    polled = {
        record[3]
        for event in history
        if isinstance(event, Poll) and event.subscribed
        for record in event.records
    }
    return Report(
        anomalies=check(history, dense=True),
        acked_count=len(acked),
        consumed_by_group_count=len(polled),
        missed_by_group=sorted(acked - polled),
        client_failures=failures,
        restart_seconds=restart_seconds,
    )


@final
@dataclass(slots=True)
class _Client:
    """A worker process and its history file, of which the counts are followed as it grows."""

    mode: str
    name: str
    target: Target
    directory: Path
    kind: str
    acked: int = 0
    polls: int = 0
    _position: int = 0
    _process: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)

    @property
    def file(self) -> Path:
        return self.directory / f"{self.name}.jsonl"

    def __enter__(self) -> "_Client":
        self.file.touch()
        with self.file.with_suffix(".log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "tests.chaos.worker", self.mode, self.name),
                    *(self.target.bootstrap, TOPIC, str(self.file.absolute())),
                    *((self.kind,) if self.kind else ()),
                ],
                cwd=CHECKOUT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def look(self) -> None:
        """Count what was written since the last look."""
        assert self._process is not None, "entered before"
        assert self._process.poll() is None, (
            f"{self.name} ended: see {self.file.with_suffix('.log')}"
        )
        with self.file.open("rb") as file:
            file.seek(self._position)
            grown = file.read()
        grown = grown[: grown.rfind(b"\n") + 1]
        self._position += len(grown)
        self.acked += grown.count(b'"type":"acked"')
        self.polls += grown.count(b'"type":"poll"')

    def stop(self) -> list[str]:
        """End the client in good order; says what went wrong with it."""
        assert self._process is not None, "entered before"
        self._process.terminate()
        try:
            code = self._process.wait(WAIT_SECONDS + 30)
        except subprocess.TimeoutExpired:
            return [f"{self.name} did not end"]
        return (
            [f"{self.name} ended with {code}: see {self.file.with_suffix('.log')}"] if code else []
        )

    def history(self) -> Iterator[Event]:
        with self.file.open("rb") as lines:
            yield from read_history(lines)


def _wait_for_load(producers: list[_Client], consumers: list[_Client]) -> None:
    """Until every producer got new answers and the group as a whole polled anew."""

    def facts() -> tuple[list[int], int]:
        for client in producers + consumers:
            client.look()
        return [client.acked for client in producers], sum(client.polls for client in consumers)

    acked_before, polls_before = facts()
    wanted = [count + ACKED_PER_ROUND // len(producers) for count in acked_before]
    eventually(
        facts,
        lambda seen: (
            all(count >= want for count, want in zip(seen[0], wanted, strict=True))
            and seen[1] > polls_before
        ),
        timeout_seconds=WAIT_SECONDS,
    )


def _create_topic(target: Target) -> None:
    admin = AdminClient({"bootstrap.servers": target.bootstrap})
    topic = NewTopic(TOPIC, num_partitions=PARTITION_COUNT)
    for future in admin.create_topics([topic]).values():
        future.result(30)


def _wait_until_group_is_done(target: Target) -> None:
    admin = AdminClient({"bootstrap.servers": target.bootstrap})
    reader = Consumer({"bootstrap.servers": target.bootstrap, "group.id": "ends"})
    ends = _ends(reader)
    reader.close()

    def committed() -> dict[int, int]:
        answer = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(GROUP)])
        found = answer[GROUP].result(30).topic_partitions or ()
        return {each.partition: each.offset for each in found}

    eventually(committed, lambda offsets: offsets == ends, timeout_seconds=WAIT_SECONDS)


def _ends(reader: Consumer) -> dict[int, int]:
    ends = {}
    for partition in range(PARTITION_COUNT):
        watermarks = reader.get_watermark_offsets(TopicPartition(TOPIC, partition), timeout=30)
        assert watermarks is not None, "the broker did not tell the ends in time"
        ends[partition] = watermarks[1]
    return ends


def _read_everything(target: Target) -> list[Poll]:
    """All partitions from offset 0 to their ends, by a client that was not there before."""
    reader = Consumer(
        {
            "bootstrap.servers": target.bootstrap,
            "group.id": "catch-up",
            "enable.auto.commit": False,
            "fetch.queue.backoff.ms": 5,
        }
    )
    ends = _ends(reader)
    reader.assign([TopicPartition(TOPIC, partition, 0) for partition in ends])
    positions = {partition: 0 for partition, end in ends.items() if end}
    polls = []
    deadline = time.monotonic() + WAIT_SECONDS
    while any(position < ends[partition] for partition, position in positions.items()):
        assert time.monotonic() < deadline, f"read up to {positions} of {ends}"
        records = []
        for message in reader.consume(10_000, 0.2):
            partition, offset = message.partition(), message.offset()
            if message.error() is None and partition is not None and offset is not None:
                records.append((TOPIC, partition, offset, (message.value() or b"").decode()))
                positions[partition] = offset + 1
        polls.append(Poll(process="catch-up", records=tuple(records), subscribed=False))
    reader.close()
    return polls
