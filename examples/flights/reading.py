"""Topics as a reader of committed records sees them."""

import time
from collections.abc import Iterator
from typing import Final

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from .story import DEADLINE_SECONDS, DemoFailed

READ_RECORDS: Final = 10_000
POLL_SECONDS: Final = 0.1


def read(bootstrap: str, topic: str) -> Iterator[Message]:
    """Every committed record, each partition from its start to its end. Raises DemoFailed."""
    reader = _reader(bootstrap, "read_committed")
    places = [TopicPartition(topic, index, 0) for index in _partitions(reader, topic)]
    reader.assign(places)
    ended: set[int | None] = set()
    deadline = time.monotonic() + DEADLINE_SECONDS
    try:
        while len(ended) < len(places):
            if time.monotonic() > deadline:
                raise DemoFailed(f"reading {topic} did not end in {DEADLINE_SECONDS:.0f} s")
            for message in reader.consume(READ_RECORDS, POLL_SECONDS):
                error = message.error()
                if error is None:
                    yield message
                elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - librdkafka's names
                    ended.add(message.partition())
                elif error.fatal():
                    raise KafkaException(error)
    finally:
        reader.close()


def place(message: Message) -> tuple[int, int]:
    """Partition and offset."""
    partition, offset = message.partition(), message.offset()
    assert partition is not None, "a record has its place"
    assert offset is not None, "a record has its place"
    return partition, offset


def open_records(bootstrap: str, topics: tuple[str, ...]) -> int:
    """How many records lie behind the last stable offset of their partition. Raises DemoFailed."""
    return _end(bootstrap, topics, "read_uncommitted") - _end(bootstrap, topics, "read_committed")


def _end(bootstrap: str, topics: tuple[str, ...], isolation: str) -> int:
    """The sum of all partitions' ends as this isolation level has them."""
    reader = _reader(bootstrap, isolation)
    total = 0
    for topic in topics:
        for index in _partitions(reader, topic):
            asked = TopicPartition(topic, index)
            watermarks = reader.get_watermark_offsets(asked, timeout=DEADLINE_SECONDS)
            if watermarks is None:
                raise DemoFailed(f"the broker does not tell the end of {topic}-{index}")
            total += watermarks[1]
    reader.close()
    return total


def _partitions(reader: Consumer, topic: str) -> list[int]:
    return sorted(reader.list_topics(topic, timeout=DEADLINE_SECONDS).topics[topic].partitions)


def _reader(bootstrap: str, isolation: str) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "flights-reader",
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "fetch.queue.backoff.ms": 5,
        }
    )
