"""A client as a process: produces or consumes under fire and writes down all it sees.

``python -m tests.chaos.worker produce|consume NAME BOOTSTRAP TOPIC FILE [plain|idempotent]``

The history goes to FILE, one event of ``core_log.testing.history`` per line. A send is written
down before it happens. SIGTERM ends the client in good order; whoever kills the broker leaves the
client alive, as its owner would.
"""

import itertools
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import BinaryIO, Final, final

import msgspec
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer

from headwater.core_log.testing.history import Acked, Event, Poll, PolledRecord, Send

PARTITION_COUNT: Final = 4
BURST_RECORDS: Final = 20
BURST_INTERVAL_SECONDS: Final = 0.01
QUEUE_RECORDS_MAX: Final = 5_000
"""Sends that await their answer. Bounds what a broker that is down lets pile up."""
END_SECONDS: Final = 90.0
COMMIT_INTERVAL_SECONDS: Final = 0.3
GROUP: Final = "chaos"

RECONNECT: Final = {"reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 200}
"""A broker is back within a second; librdkafka's own 10 s would be what the run waits for."""


@final
class _Worker:
    """What both clients have: a history file and a way to be told to stop."""

    def __init__(self, history: BinaryIO) -> None:
        self._history = history
        self._encode = msgspec.json.Encoder().encode
        self.is_stopping = False
        signal.signal(signal.SIGTERM, self._stop)

    def write(self, event: Event) -> None:
        self._history.write(self._encode(event) + b"\n")

    def flush(self) -> None:
        self._history.flush()

    def _stop(self, _signal: int, _frame: FrameType | None) -> None:
        self.is_stopping = True


def produce(worker: _Worker, *, name: str, bootstrap: str, topic: str, idempotent: bool) -> int:
    """Send numbered values round the partitions until stopped; 1 when some were given up."""
    failures: list[KafkaError] = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            failures.append(error)  # ambiguous: the history says nothing of it
            return
        offset, partition = message.offset(), message.partition()
        assert partition is not None, "an acknowledged record lies in a partition"
        worker.write(
            Acked(
                value=(message.value() or b"").decode(),
                topic=topic,
                partition=partition,
                offset=None if offset is None or offset < 0 else offset,
            )
        )

    producer = Producer(
        {
            **RECONNECT,
            "bootstrap.servers": bootstrap,
            "enable.idempotence": idempotent,
            "acks": "all",
            "linger.ms": 2,
            "retry.backoff.ms": 50,
            "message.timeout.ms": 120_000,
        }
    )
    numbers = itertools.count()
    while not worker.is_stopping:
        if len(producer) < QUEUE_RECORDS_MAX:
            for number in itertools.islice(numbers, BURST_RECORDS):
                value = f"{name}-{number:07}"
                worker.write(Send(process=name, value=value, idempotent=idempotent))
                producer.produce(
                    topic, value, partition=number % PARTITION_COUNT, on_delivery=delivered
                )
        producer.poll(BURST_INTERVAL_SECONDS)
        worker.flush()
    left = producer.flush(END_SECONDS)
    if failures or left:
        sys.stderr.write(f"{left} records left, {len(failures)} given up: {failures[:3]}\n")
    return 1 if failures or left else 0


def consume(worker: _Worker, *, name: str, bootstrap: str, topic: str) -> int:
    """Read as a member of the group until stopped; write down first, commit later."""
    rebalances = [0]

    def rebalanced(*_: object) -> None:
        rebalances[0] += 1

    consumer = Consumer(
        {
            **RECONNECT,
            "bootstrap.servers": bootstrap,
            "group.id": GROUP,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "session.timeout.ms": 6_000,
            "heartbeat.interval.ms": 300,
        }
    )
    consumer.subscribe([topic], on_assign=rebalanced, on_revoke=rebalanced, on_lost=rebalanced)
    committed_at = time.monotonic()
    while not worker.is_stopping:
        rebalances_before = rebalances[0]
        messages = consumer.consume(500, 0.1)
        records = tuple(_record(message) for message in messages if message.error() is None)
        if records:
            has_rebalanced = rebalances[0] != rebalances_before
            worker.write(
                Poll(process=name, records=records, subscribed=True, rebalanced=has_rebalanced)
            )
            worker.flush()
        if time.monotonic() - committed_at > COMMIT_INTERVAL_SECONDS:
            committed_at = time.monotonic()
            _commit(consumer)
    _commit(consumer)
    consumer.close()
    return 0


def _commit(consumer: Consumer) -> None:
    """Commit what was polled. A commit that fails is made good by the next, or by reading again."""
    try:
        consumer.commit(asynchronous=False)
    except KafkaException as error:
        if error.args[0].fatal():
            raise


def _record(message: Message) -> PolledRecord:
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    assert topic is not None, "a polled record has its place"
    assert partition is not None, "a polled record has its place"
    assert offset is not None, "a polled record has its place"
    return topic, partition, offset, (message.value() or b"").decode()


def main(mode: str, name: str, bootstrap: str, topic: str, file: str, kind: str = "plain") -> int:
    with Path(file).open("ab") as history:
        worker = _Worker(history)
        if mode == "produce":
            return produce(
                worker,
                name=name,
                bootstrap=bootstrap,
                topic=topic,
                idempotent=kind == "idempotent",
            )
        return consume(worker, name=name, bootstrap=bootstrap, topic=topic)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
