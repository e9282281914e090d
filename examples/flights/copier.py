"""The transactional copy, as a process: every flight once, by aircraft, in the order they left.

A shell: ``python -m headwater.examples.flights.copier BOOTSTRAP SOURCE BY_AIRCRAFT WITHOUT``.
Each transaction holds the records it writes to both targets and the offsets it has read up to, so
that after any crash they are there together or not at all. It reports on standard output, one
JSON object per line: ``{"open": flights}`` when half of a transaction is in the log,
``{"copied": flights}`` when one is committed. At the end of the source it ends with 0; anything
that goes wrong ends it too, and a successor goes on.
"""

import json
import sys
from collections import deque
from typing import Any, Final, final

import msgspec
from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)

from .dataset import Flight

TRANSACTION_FLIGHTS: Final = 6_000
POLL_RECORDS: Final = 2_000
POLL_SECONDS: Final = 0.2
AHEAD_MAX: Final = 20_000
"""Flights of one partition kept in memory while another one lags behind."""
CALL_SECONDS: Final = 30.0


@final
class InOrder:
    """The source's partitions merged by row: a carrier's flights are in order, so all are.

    An aircraft may fly for two carriers, which are two partitions of the source. Copied as they
    come in, the older of its flights could come last, and that is the one compaction would keep.
    """

    def __init__(self, consumer: Consumer, places: list[TopicPartition]) -> None:
        self.positions = {place.partition: max(place.offset, 0) for place in places}
        """The offset after the last flight taken, by partition."""
        self._consumer = consumer
        self._topic = places[0].topic
        self._decode = msgspec.json.Decoder(Flight).decode
        self._ahead: dict[int, deque[tuple[Flight, int, int]]]
        self._ahead = {place.partition: deque() for place in places}
        self._ended: set[int] = set()
        self._paused: set[int] = set()
        consumer.assign(places)

    def take(self, count: int) -> list[tuple[Flight, int]]:
        """The next flights with their time in milliseconds; fewer than *count* at the end only."""
        taken: list[tuple[Flight, int]] = []
        while len(taken) < count:
            if any(not ahead and index not in self._ended for index, ahead in self._ahead.items()):
                self._fetch()
                continue
            heads = [(ahead[0][0].row, index) for index, ahead in self._ahead.items() if ahead]
            if not heads:
                break
            _, index = min(heads)
            flight, timestamp_ms, offset = self._ahead[index].popleft()
            self.positions[index] = offset + 1
            taken.append((flight, timestamp_ms))
        return taken

    def _fetch(self) -> None:
        self._hold_back()
        for message in self._consumer.consume(POLL_RECORDS, POLL_SECONDS):
            partition, offset = message.partition(), message.offset()
            assert partition is not None, "a consumer reports with the place"
            error = message.error()
            if error is None:
                assert offset is not None, "a record has its place"
                flight = self._decode(message.value() or b"")
                self._ahead[partition].append((flight, message.timestamp()[1], offset))
            elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - librdkafka's names
                self._ended.add(partition)
            elif error.fatal():
                raise KafkaException(error)

    def _hold_back(self) -> None:
        """Pause partitions that are far ahead, resume those that are no more."""
        far = {index for index, ahead in self._ahead.items() if len(ahead) > AHEAD_MAX}
        near = {index for index in self._paused if not self._ahead[index]}
        if new := far - self._paused:
            self._consumer.pause([TopicPartition(self._topic, index) for index in new])
        if near:
            self._consumer.resume([TopicPartition(self._topic, index) for index in near])
        self._paused = (self._paused | far) - near


@final
class Copier:
    def __init__(self, bootstrap: str, source: str, by_aircraft: str, without: str) -> None:
        self._source, self._by_aircraft, self._without = source, by_aircraft, without
        self._encode = msgspec.json.Encoder().encode
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "transactional.id": f"{by_aircraft}-copier",
                "partitioner": "murmur2_random",
                "linger.ms": 5,
                "compression.type": "lz4",
            }
        )
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": f"{by_aircraft}-copier",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "fetch.queue.backoff.ms": 5,
            }
        )

    def run(self) -> None:
        """Copy to the end of the source. Raises KafkaException; a successor then goes on."""
        # Ends what a dead predecessor has left open, and fences it should it still live. Only
        # then are its offsets final.
        self._producer.init_transactions(CALL_SECONDS)
        flights = InOrder(self._consumer, self._places())
        while batch := flights.take(TRANSACTION_FLIGHTS):
            self._producer.begin_transaction()
            half = len(batch) // 2
            self._send(batch[:half])
            self._producer.flush(CALL_SECONDS)
            _report(open=half)
            self._send(batch[half:])
            offsets = [TopicPartition(self._source, *at) for at in flights.positions.items()]
            self._producer.send_offsets_to_transaction(
                offsets, self._consumer.consumer_group_metadata(), CALL_SECONDS
            )
            self._producer.commit_transaction(CALL_SECONDS)
            _report(copied=sum(flights.positions.values()))
        self._consumer.close()

    def _places(self) -> list[TopicPartition]:
        """Every partition of the source, with the offset to go on from."""
        metadata = self._consumer.list_topics(self._source, timeout=CALL_SECONDS)
        partitions = sorted(metadata.topics[self._source].partitions)
        places = [TopicPartition(self._source, index) for index in partitions]
        committed = self._consumer.committed(places, timeout=CALL_SECONDS)
        return [
            TopicPartition(
                *(each.topic, each.partition),
                each.offset if each.offset >= 0 else OFFSET_BEGINNING,
            )
            for each in committed
        ]

    def _send(self, batch: list[tuple[Flight, int]]) -> None:
        for flight, timestamp_ms in batch:
            # A record without a key has no place in a compacted topic, which keeps one per key.
            is_known = flight.tailnum is not None
            topic = self._by_aircraft if is_known else self._without
            key = flight.tailnum or flight.carrier
            self._produce(topic, self._encode(flight), key.encode(), timestamp_ms)

    def _produce(self, topic: str, value: bytes, key: bytes, timestamp_ms: int) -> None:
        while True:
            try:
                self._producer.produce(topic, value, key, timestamp=timestamp_ms)
            except BufferError:  # the queue is full: let answers come in
                self._producer.poll(0.1)
            else:
                return


def _report(**facts: Any) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    Copier(*sys.argv[1:]).run()
