"""After the storm: fresh clients that read everything, and what the group had committed."""

import time
from typing import Final

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition

from headwater.core_log.testing.history import Event, OffsetsFetched, Poll

from ...interop.waiting import eventually
from .confluent import record_of
from .journal import now_ms
from .roles import GROUP, INPUT, PARTITION_COUNT, TOPICS

DECIDED_SECONDS: Final = 60.0
READ_SECONDS: Final = 60.0

PLACES: Final = tuple(
    (topic, partition) for topic in TOPICS for partition in range(PARTITION_COUNT)
)


def wait_until_decided(bootstrap: str) -> None:
    """Until no transaction is open: everybody may read to the end of every partition.

    Raises AssertionError when that does not come: a transaction hangs.
    """
    committed = _consumer(bootstrap, read_committed=True)
    uncommitted = _consumer(bootstrap, read_committed=False)
    eventually(
        lambda: {place: (_end(committed, *place), _end(uncommitted, *place)) for place in PLACES},
        lambda ends: all(stable == end for stable, end in ends.values()),
        timeout_seconds=DECIDED_SECONDS,
    )
    committed.close()
    uncommitted.close()


def read_everything(bootstrap: str, *, read_committed: bool) -> list[Event]:
    """All partitions from their beginning to their ends, by a client that was not there before."""
    name = "last-committed" if read_committed else "last-uncommitted"
    reader = _consumer(bootstrap, read_committed=read_committed)
    reader.assign([TopicPartition(*place, OFFSET_BEGINNING) for place in PLACES])
    left = set(PLACES)
    polls: list[Event] = []
    deadline = time.monotonic() + READ_SECONDS
    while left:
        assert time.monotonic() < deadline, f"{name} did not get to the ends of {sorted(left)}"
        records = []
        for message in reader.consume(10_000, 0.2):
            error = message.error()
            if error is None:
                records.append(record_of(message))
            elif error.code() == KafkaError._PARTITION_EOF:
                left.discard((message.topic() or "", message.partition() or 0))
        if records:
            polls.append(
                Poll(
                    process=name,
                    records=tuple(records),
                    subscribed=False,
                    read_committed=read_committed,
                )
            )
    reader.close()
    return polls


def committed_offsets(bootstrap: str) -> OffsetsFetched:
    """The group's offsets, when all is quiet."""
    reader = _consumer(bootstrap, read_committed=True, group=GROUP)
    places = [TopicPartition(INPUT, partition) for partition in range(PARTITION_COUNT)]
    asked_ms = now_ms()
    found = reader.committed(places, 30)
    reader.close()
    return OffsetsFetched(
        process="last-committed",
        group=GROUP,
        offsets=tuple((each.topic, each.partition, max(each.offset, -1)) for each in found),
        stable=True,
        asked_ms=asked_ms,
        at_ms=now_ms(),
    )


def _consumer(bootstrap: str, *, read_committed: bool, group: str = "last") -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "isolation.level": "read_committed" if read_committed else "read_uncommitted",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.queue.backoff.ms": 5,
        }
    )


def _end(reader: Consumer, topic: str, partition: int) -> int:
    watermarks = reader.get_watermark_offsets(TopicPartition(topic, partition), timeout=30)
    assert watermarks is not None, "the broker did not tell the ends in time"
    return int(watermarks[1])
