"""One scripted life of a broker, and the book of what it acknowledged.

The script does everything that writes: topics made and deleted, records appended and deleted,
offsets committed, segments rolled and expired, configurations changed, a clean stop and a start.
The power may go at any file operation; ``Book.compare`` then holds a restarted broker to what was
answered before.
"""

from dataclasses import dataclass, field
from typing import Final, TypeVar

from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from headwater.core_log.protocol.messages.create_topics import CreateTopicsResponse
from headwater.core_log.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from headwater.core_log.protocol.messages.delete_topics import DeleteTopicsResponse
from headwater.core_log.protocol.messages.fetch import FetchResponse
from headwater.core_log.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from headwater.core_log.protocol.messages.incremental_alter_configs import (
    IncrementalAlterConfigsResponse,
)
from headwater.core_log.protocol.messages.init_producer_id import InitProducerIdResponse
from headwater.core_log.protocol.messages.offset_commit import OffsetCommitResponse
from headwater.core_log.protocol.messages.offset_fetch import OffsetFetchResponse
from headwater.core_log.protocol.messages.produce import ProduceResponse
from headwater.core_log.protocol.schema import Message
from headwater.core_log.testing import requests
from headwater.core_log.testing.local_broker import LocalBroker, LocalConnection
from headwater.core_log.testing.memory_fs import MemoryFileSystem, PowerLost

M = TypeVar("M", bound=Message)

GROUP: Final = "g"
ROLL_OFTEN: Final = {"segment.index.bytes": "8", "index.interval.bytes": "0"}
CONFIGS: Final = {
    "offsets.topic.num.partitions": "1",
    "log.retention.check.interval.ms": "1000",
    "log.flush.offset.checkpoint.interval.ms": "5000",
}


@dataclass(slots=True)
class Book:
    """What the broker answered, and so has to keep."""

    records: dict[str, dict[int, str]] = field(default_factory=dict)
    """Values by topic and offset, of partition 0."""
    starts: dict[str, int] = field(default_factory=dict)
    expiring: set[str] = field(default_factory=set)
    """Topics whose oldest records may be gone."""
    committed: int = -1
    topics: dict[str, int] = field(default_factory=dict)
    """Partition counts of topics that are there."""
    deleted: set[str] = field(default_factory=set)
    producer_id: int = -1

    def compare(self, broker: LocalBroker) -> None:
        """Assert that the broker knows all of it."""
        image = broker.running.image
        for topic, count in self.topics.items():
            assert topic in image.topics, f"{topic} was created"
            assert len(image.topics[topic].partitions) >= count, f"{topic} had grown to {count}"
        for topic in self.deleted:
            assert topic not in image.topics, f"{topic} was deleted"
        client = broker.connect()
        for topic, expected in self.records.items():
            if topic in image.topics:
                self._compare_records(broker, client, topic, expected)
        if self.committed >= 0:
            look_up = requests.fetch_offsets(GROUP, "a", [0], version=8)
            answer = client.ask(look_up, OffsetFetchResponse, version=8)
            found = answer.groups[0].topics[0].partitions[0].committed_offset
            assert found >= self.committed, f"{self.committed} was committed, {found} is known"
        if self.producer_id >= 0:
            fresh = client.ask(requests.new_producer_id(), InitProducerIdResponse, version=4)
            assert fresh.producer_id > self.producer_id, "a producer id was given twice"

    def _compare_records(
        self, broker: LocalBroker, client: LocalConnection, topic: str, expected: dict[int, str]
    ) -> None:
        log = broker.running.hosted_by_name(topic, 0).log
        start = log.log_start_offset
        assert start >= self.starts.get(topic, 0), f"deleted records of {topic} came back"
        assert start <= self.starts.get(topic, 0) or topic in self.expiring or expected == {}
        found = _read(client, broker, topic, start)
        assert sorted(found) == list(range(start, log.log_end_offset)), f"{topic} has holes"
        for offset, value in expected.items():
            if offset >= start:
                assert found.get(offset) == value, f"{topic}@{offset} was {value!r}: {found}"


class Script:
    """The life of a broker, with a book that is kept answer by answer."""

    def __init__(self, *, seed: int = 0) -> None:
        self.fs = MemoryFileSystem(seed=seed)
        self.broker = LocalBroker(seed=seed, fs=self.fs, configs=CONFIGS)
        self.book = Book()
        self.client: LocalConnection

    def run(self) -> None:
        """Live; raises PowerLost where the file system says so."""
        self._start()
        self._make_topics()
        self._append()
        self._commit()
        self._trim()
        self._restart()
        self._change()
        self._expire()
        self._append()
        self._commit()
        self._delete_topic()
        self.broker.stop()

    def _ask(self, request: Message, response_class: type[M], version: int) -> M:
        return self.client.ask(request, response_class, version=version)

    def _start(self) -> None:
        self.broker.start()
        self.broker.settle()
        self.client = self.broker.connect()

    def _restart(self) -> None:
        self.broker.stop()
        self._start()

    def _make_topics(self) -> None:
        for topic, configs in (
            ("a", ROLL_OFTEN),
            ("gone", {}),
            ("short", ROLL_OFTEN | {"retention.ms": "10000", "segment.ms": "5000"}),
        ):
            if topic == "short":
                self.book.expiring.add(topic)
            request = requests.create_topic(topic, partitions=2, configs=configs)
            result = self._ask(request, CreateTopicsResponse, 7).topics[0]
            assert result.error_code == ErrorCode.NONE
            self.book.topics[topic] = 2

    def _append(self) -> None:
        identified = self._ask(requests.new_producer_id(), InitProducerIdResponse, 4)
        self.book.producer_id = identified.producer_id
        for sequence in range(3):
            for topic in ("a", "short", "gone"):
                value = f"{identified.producer_id}:{sequence}"
                batch = requests.batch_of(
                    [value],
                    now_ms=self.broker.clock.now_ms(),
                    producer_id=identified.producer_id,
                    sequence=sequence,
                )
                topic_id = self.broker.running.image.topics[topic].topic_id
                answer = self._ask(
                    requests.produce(topic, topic_id, {0: batch}), ProduceResponse, 13
                )
                partition = answer.responses[0].partition_responses[0]
                assert partition.error_code == ErrorCode.NONE
                self.book.records.setdefault(topic, {})[partition.base_offset] = value

    def _commit(self) -> None:
        find = FindCoordinatorRequest(key_type=0, coordinator_keys=[GROUP])
        self._ask(find, FindCoordinatorResponse, 4)
        for _ in range(2):
            offset = self.book.committed + 1
            request = requests.commit_offset(GROUP, "a", bytes(16), {0: offset})
            answer = self._ask(request, OffsetCommitResponse, 9)
            assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE
            self.book.committed = offset

    def _trim(self) -> None:
        request = DeleteRecordsRequest(
            topics=[
                DeleteRecordsTopic(
                    name="a", partitions=[DeleteRecordsPartition(partition_index=0, offset=2)]
                )
            ],
            timeout_ms=1_000,
        )
        self.book.expiring.add("a")  # asked for: from now on it may happen
        answer = self._ask(request, DeleteRecordsResponse, 2)
        assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE
        self.book.starts["a"] = 2
        self.book.expiring.discard("a")

    def _change(self) -> None:
        growth = CreatePartitionsRequest(
            topics=[CreatePartitionsTopic(name="a", count=3, assignments=None)], timeout_ms=1_000
        )
        grown = self._ask(growth, CreatePartitionsResponse, 3)
        assert grown.results[0].error_code == ErrorCode.NONE
        self.book.topics["a"] = 3
        change = requests.alter_topic("a", {"segment.ms": "60000"})
        changed = self._ask(change, IncrementalAlterConfigsResponse, 1)
        assert changed.responses[0].error_code == ErrorCode.NONE

    def _expire(self) -> None:
        self.broker.advance(15_000)
        assert self.broker.running.hosted_by_name("short", 0).log.log_start_offset > 0

    def _delete_topic(self) -> None:
        self.book.topics.pop("gone")  # asked for: from now on it may happen
        request = requests.delete_topic("gone", version=6)
        answer = self._ask(request, DeleteTopicsResponse, 6)
        assert answer.responses[0].error_code == ErrorCode.NONE
        self.book.deleted.add("gone")
        self.broker.advance(70_000)  # beyond file.delete.delay.ms


def _read(client: LocalConnection, broker: LocalBroker, topic: str, start: int) -> dict[int, str]:
    found: dict[int, str] = {}
    position = start
    topic_id = broker.running.image.topics[topic].topic_id
    while True:
        request = requests.fetch(topic, topic_id, {0: position})
        answer = client.ask(request, FetchResponse, version=13)
        records = list(requests.records_of(answer.responses[0].partitions[0].records))
        new = [record for record in records if record.offset >= position]
        if not new:
            return found
        found |= {record.offset: (record.value or b"").decode() for record in new}
        position = new[-1].offset + 1


def after_power_loss(count: int) -> bool:
    """Live until *count* file operations are done, lose power, start again, compare.

    False when the script came to its end before.
    """
    script = Script(seed=count)
    script.fs.crash_after(count)
    try:
        script.run()
    except PowerLost:
        script.broker.crash()
    else:
        return False
    script.broker.start()
    script.broker.settle()
    script.broker.check()
    script.book.compare(script.broker)
    return True
