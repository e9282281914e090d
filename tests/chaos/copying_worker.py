"""A copy with exactly-once as a process: consume, transform, produce, commit the offsets, at once.

``python -m tests.chaos.copying_worker BOOTSTRAP SOURCE TARGET PARTITIONS BATCH_RECORDS``

Each batch is one transaction: the produced records and the group's offsets (KIP-447). It says what
it does on standard output, one JSON object per line, and ends with 0 at the end of the source. A
fatal error ends it with another code; whoever started it starts another.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, final

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from .worker import RECONNECT

GROUP: Final = "copy"
TRANSACTIONAL_ID: Final = "copy-1"
CALL_SECONDS: Final = 3.0
POLL_SECONDS: Final = 0.1
STUCK_SECONDS: Final = 5.0
"""For ``send_offsets_to_transaction``, which librdkafka 2.16 may never return from when the broker
was away: it does not look at its time limit (confluentinc/librdkafka#5456, #5511)."""
EXIT_STUCK: Final = 70
SESSION_TIMEOUT_MS: Final = 2_000
"""How long a killed worker's partitions wait for its successor."""


def transformed(value: bytes) -> bytes:
    """What the copy makes of a record."""
    return b"copy of " + value


@final
class Copier:
    """One worker: no transaction spans two polls, so a rebalance never meets an open one."""

    def __init__(self, bootstrap: str, source: str, target: str, *, partition_count: int) -> None:
        self._source, self._target = source, target
        self._partition_count = partition_count
        self._ended: set[int | None] = set()
        self._rebalances = 0
        self._producer = Producer(
            {
                **RECONNECT,
                "bootstrap.servers": bootstrap,
                "transactional.id": TRANSACTIONAL_ID,
                "linger.ms": 2,
                "retry.backoff.ms": 20,
            }
        )
        self._consumer = Consumer(
            {
                **RECONNECT,
                "bootstrap.servers": bootstrap,
                "group.id": GROUP,
                "isolation.level": "read_committed",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "session.timeout.ms": SESSION_TIMEOUT_MS,
                "heartbeat.interval.ms": 300,
                "fetch.queue.backoff.ms": 5,
            }
        )

    def run(self, batch_records: int) -> None:
        """Copy to the end of the source. Raises KafkaException for what cannot be overcome."""
        # First this, so that a dead predecessor's transaction is over before offsets are asked for.
        _until_it_works(lambda: self._producer.init_transactions(CALL_SECONDS))
        self._consumer.subscribe(
            [self._source], on_assign=self._rebalanced, on_revoke=self._rebalanced
        )
        while len(self._ended) < self._partition_count:
            if batch := self._batch(batch_records):
                self._copy(batch)
        self._consumer.close()

    def _batch(self, count_max: int) -> list[Message]:
        rebalances = self._rebalances
        batch = []
        for message in self._consumer.consume(count_max, POLL_SECONDS):
            error = message.error()
            if error is None:
                self._ended.discard(message.partition())
                batch.append(message)
            elif error.code() == KafkaError._PARTITION_EOF:
                self._ended.add(message.partition())
            elif error.fatal():
                raise KafkaException(error)
        if rebalances != self._rebalances:
            # What came before the rebalance comes again: one batch would have it twice.
            self._rewind()
            return []
        return batch

    def _copy(self, batch: list[Message]) -> None:
        positions: dict[int, int] = {}
        try:
            self._producer.begin_transaction()
            for message in batch:
                partition, offset = message.partition(), message.offset()
                assert partition is not None, "a record has its place"
                assert offset is not None, "a record has its place"
                self._send(transformed(message.value() or b""), partition)
                positions[partition] = offset + 1
            offsets = [TopicPartition(self._source, *place) for place in positions.items()]
            group = self._consumer.consumer_group_metadata()
            _until_it_works(lambda: self._send_offsets(offsets, group))
            _say(committing=True)
            _until_it_works(lambda: self._producer.commit_transaction(CALL_SECONDS))
        except KafkaException as error:
            if error.args[0].fatal():
                raise
            _say(aborting=str(error.args[0]))
            _until_it_works(lambda: self._producer.abort_transaction(CALL_SECONDS))
            self._rewind()
        else:
            _say(positions=positions, cpu_seconds=time.process_time())

    def _send(self, value: bytes, partition: int) -> None:
        while True:
            try:
                self._producer.produce(self._target, value, partition=partition)
            except BufferError:
                self._producer.poll(0.1)
            else:
                return

    def _send_offsets(self, offsets: list[TopicPartition], group: object) -> None:
        with _or_end_the_process(STUCK_SECONDS):
            self._producer.send_offsets_to_transaction(offsets, group, CALL_SECONDS)

    def _rewind(self) -> None:
        """Go on from what the group has committed."""
        self._ended.clear()
        assigned = self._consumer.assignment()
        committed: list[TopicPartition] = []

        def ask() -> None:
            committed[:] = self._consumer.committed(assigned, timeout=CALL_SECONDS)

        _until_it_works(ask)
        for place in committed:
            place.offset = place.offset if place.offset >= 0 else OFFSET_BEGINNING
            self._consumer.seek(place)

    def _rebalanced(self, _consumer: Consumer, _partitions: list[TopicPartition]) -> None:
        self._rebalances += 1
        self._ended.clear()


@contextmanager
def _or_end_the_process(seconds: float) -> Iterator[None]:
    """Give what is done inside so long. No thread can end a call that does not come back."""
    watchdog = threading.Timer(seconds, os._exit, (EXIT_STUCK,))
    watchdog.start()
    try:
        yield
    finally:
        watchdog.cancel()


def _until_it_works(call: Callable[[], object]) -> None:
    """Repeat what the client says can be repeated, such as a commit while the broker is away."""
    while True:
        try:
            call()
        except KafkaException as error:
            if not error.args[0].retriable():
                raise
        else:
            return


def _say(**facts: Any) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def main(bootstrap: str, source: str, target: str, partitions: str, batch_records: str) -> None:
    copier = Copier(bootstrap, source, target, partition_count=int(partitions))
    copier.run(int(batch_records))


if __name__ == "__main__":
    main(*sys.argv[1:])
