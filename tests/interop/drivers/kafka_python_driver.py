"""kafka-python behind the wire of ``wire.py``."""

import re
import sys
import time
from typing import Any

import kafka
from kafka import (
    KafkaAdminClient,
    KafkaConsumer,
    KafkaProducer,
    OffsetAndMetadata,
    TopicPartition,
)
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.errors import BrokerResponseError

from .wire import (
    MEMBER_POLL_SECONDS,
    Json,
    Member,
    Members,
    Refused,
    record,
    serve,
    unpack,
    unpack_headers,
)

CALL_SECONDS = 20.0

_ASSIGNORS = {"range": RangePartitionAssignor, "cooperative-sticky": CooperativeStickyAssignor}


class Operations:
    """One method per operation; see ``tests/interop/README.md``."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._admin = KafkaAdminClient(bootstrap_servers=bootstrap)
        self._members = Members()
        self._transactors: dict[str, KafkaProducer] = {}

    def hello(self) -> Json:
        return {
            "client": f"kafka-python {kafka.__version__}",
            "codecs": ["none", "gzip", "snappy", "lz4", "zstd"],
            "lacks": ["null_header"],
        }

    def create_topic(self, *, topic: str, partitions: int, configs: dict[str, str]) -> None:
        options = {"num_partitions": partitions, "replication_factor": 1, "configs": configs}
        self._ask(self._admin.create_topics, {topic: options})

    def delete_topic(self, *, topic: str) -> None:
        self._ask(self._admin.delete_topics, [topic])

    def add_partitions(self, *, topic: str, partitions: int) -> None:
        self._ask(self._admin.create_partitions, {topic: partitions})

    def partition_count(self, *, topic: str) -> int:
        """By DescribeTopicPartitions: the Metadata of this client creates what it asks for."""
        (found,) = self._ask(self._admin.describe_topic_partitions, [topic])["topics"]
        if found["error_code"] != 0:
            raise Refused(found["error_code"], f"describe {topic}")
        return len(found["partitions"])

    def describe_configs(self, *, topic: str) -> dict[str, str | None]:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        answer = self._ask(self._admin.describe_configs, [resource], config_filter="all")
        (described,) = (found for kind in answer.values() for found in kind.values())
        return {name: entry["value"] for name, entry in described.items()}

    def alter_configs(self, *, topic: str, configs: dict[str, str | None]) -> None:
        changes = {
            name: ("DELETE", None) if value is None else ("SET", value)
            for name, value in configs.items()
        }
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, configs=changes)
        answer = self._ask(self._admin.alter_configs, [resource], raise_on_unknown=False)
        outcome = answer["topic"][topic]
        failure = re.match(r"\[Error (\d+)\]", str(outcome))  # the answer is the error's text
        if failure is not None:
            raise Refused(int(failure[1]), str(outcome))

    def delete_records(self, *, topic: str, partition: int, offset: int) -> int:
        where = TopicPartition(topic, partition)
        answer = self._ask(self._admin.delete_records, {where: offset})
        low: int = answer[where]["low_watermark"]
        return low

    def offsets(self, *, topic: str, partition: int) -> Json:
        return {
            "start": self._offset(topic, partition, -2),
            "end": self._offset(topic, partition, -1),
        }

    def offset_for_time(self, *, topic: str, partition: int, timestamp_ms: int) -> int | None:
        found = self._offset(topic, partition, timestamp_ms)
        return None if found == -1 else found

    def _offset(self, topic: str, partition: int, timestamp_ms: int) -> int:
        where = TopicPartition(topic, partition)
        answer = self._ask(self._admin.list_partition_offsets, {where: timestamp_ms})
        found: int = answer[where].offset
        return found

    def produce(
        self, *, topic: str, records: list[Json], codec: str, acks: str, idempotent: bool
    ) -> list[tuple[int, int]]:
        producer = KafkaProducer(
            bootstrap_servers=self._bootstrap,
            acks="all" if acks == "all" else int(acks),
            compression_type=None if codec == "none" else codec,
            enable_idempotence=idempotent,
            linger_ms=5,
            max_request_size=20_000_000,
            max_block_ms=10_000,
        )
        try:
            placed = self._ask(_send, producer, topic, records)
        finally:
            producer.close(timeout=5)
        if acks == "0":
            return [(-1, -1)] * len(records)
        return [(each.partition, each.offset) for each in placed]

    def open_transactor(
        self, *, transactor: str, transactional_id: str, transaction_timeout_ms: int
    ) -> None:
        producer = KafkaProducer(
            bootstrap_servers=self._bootstrap,
            transactional_id=transactional_id,
            transaction_timeout_ms=transaction_timeout_ms,
            linger_ms=5,
            max_block_ms=10_000,
        )
        self._transactors[transactor] = producer
        self._ask(producer.init_transactions)

    def begin(self, *, transactor: str) -> None:
        self._ask(self._transactors[transactor].begin_transaction)

    def send(self, *, transactor: str, topic: str, records: list[Json]) -> None:
        self._ask(_send, self._transactors[transactor], topic, records)

    def send_position(
        self,
        *,
        transactor: str,
        group: str,
        topic: str,
        partition: int,
        offset: int,
        member: str | None,
    ) -> None:
        metadata = group if member is None else self._members.ask(member, "group_metadata")
        positions = {TopicPartition(topic, partition): OffsetAndMetadata(offset, "", -1)}
        producer = self._transactors[transactor]
        self._ask(producer.send_offsets_to_transaction, positions, metadata)

    def end(self, *, transactor: str, commit: bool) -> None:
        producer = self._transactors[transactor]
        self._ask(producer.commit_transaction if commit else producer.abort_transaction)

    def close_transactor(self, *, transactor: str) -> None:
        self._transactors.pop(transactor).close(timeout=5)

    def fetch(
        self,
        *,
        topic: str,
        partition: int,
        offset: int,
        count: int,
        timeout_ms: int,
        isolation: str,
    ) -> list[Json]:
        consumer = KafkaConsumer(
            bootstrap_servers=self._bootstrap,
            auto_offset_reset="none",
            isolation_level=isolation,
            enable_auto_commit=False,
            allow_auto_create_topics=False,
            fetch_max_wait_ms=100,
            max_partition_fetch_bytes=20_000_000,
        )
        where = TopicPartition(topic, partition)
        records: list[Json] = []
        deadline = time.monotonic() + timeout_ms / 1000
        try:
            consumer.assign([where])
            consumer.seek(where, offset)
            while len(records) < count and time.monotonic() < deadline:
                polled = self._ask(consumer.poll, 100, max_records=count - len(records))
                records.extend(_record(each) for each in polled.get(where, []))
        finally:
            consumer.close()
        return records

    def join(
        self,
        *,
        member: str,
        group: str,
        topics: list[str],
        strategy: str,
        instance_id: str | None,
        session_timeout_ms: int,
    ) -> None:
        settings = {
            "bootstrap_servers": self._bootstrap,
            "group_id": group,
            "group_instance_id": instance_id,
            "partition_assignment_strategy": [_ASSIGNORS[strategy]],
            "auto_offset_reset": "earliest",
            "enable_auto_commit": False,
            "session_timeout_ms": session_timeout_ms,
            "heartbeat_interval_ms": 200,
            "fetch_max_wait_ms": 100,
            "metadata_max_age_ms": 1000,
        }
        self._members.add(member, _KafkaPythonMember(settings, topics))

    def status(self, *, member: str) -> Json:
        return self._members.status(member)

    def commit(self, *, member: str) -> None:
        self._ask(self._members.commit, member)

    def leave(self, *, member: str) -> None:
        self._members.leave(member)

    def committed(self, *, group: str, topic: str, partition: int) -> int | None:
        where = TopicPartition(topic, partition)
        found = self._ask(self._admin.list_group_offsets, {group: [where]})[group].get(where)
        return None if found is None or found.offset < 0 else found.offset

    def groups(self) -> list[str]:
        return [group["group_id"] for group in self._ask(self._admin.list_groups)]

    def describe_group(self, *, group: str) -> Json:
        found = self._ask(self._admin.describe_groups, [group])[group]
        return {
            "state": found["group_state"].upper(),
            "members": len(found["members"]),
            "assignor": found["protocol_data"],
        }

    def delete_group(self, *, group: str) -> None:
        outcome = self._ask(self._admin.delete_groups, [group])[group]
        failure = getattr(kafka.errors, outcome, None)  # the answer is the name of a class
        if failure is not None and failure.errno != 0:
            raise Refused(failure.errno, outcome)

    def _ask(self, call: Any, *arguments: Any, **options: Any) -> Any:
        try:
            return call(*arguments, **options)
        except BrokerResponseError as error:
            raise Refused(error.errno, str(error)) from error


class _KafkaPythonMember(Member):
    def __init__(self, settings: Json, topics: list[str]) -> None:
        self._settings = settings
        self._topics = topics
        super().__init__()

    def open(self) -> None:
        self._consumer = KafkaConsumer(**self._settings)
        self._consumer.subscribe(self._topics)
        for topic in self._topics:
            # A leader that assigns before its first metadata assigns nothing, and stays with it
            # when that metadata arrives during the rebalance (seen with Kafka, 3.0.12).
            self._consumer.partitions_for_topic(topic)

    def poll(self) -> list[Json]:
        polled = self._consumer.poll(int(MEMBER_POLL_SECONDS * 1000))
        return [_record(each) for batch in polled.values() for each in batch]

    def assignment(self) -> list[tuple[str, int]]:
        return [(each.topic, each.partition) for each in self._consumer.assignment()]

    def commit(self) -> None:
        self._consumer.commit()

    def group_metadata(self) -> Any:
        return self._consumer.group_metadata()

    def close(self) -> None:
        self._consumer.close()


def _send(producer: KafkaProducer, topic: str, records: list[Json]) -> list[Any]:
    futures = [
        producer.send(
            topic,
            key=unpack(each["key"]),
            value=unpack(each["value"]),
            headers=unpack_headers(each["headers"]),
            partition=each["partition"],
            timestamp_ms=each["timestamp_ms"],
        )
        for each in records
    ]
    producer.flush(CALL_SECONDS)
    return [future.get(CALL_SECONDS) for future in futures]


def _record(received: Any) -> Json:
    return record(
        partition=received.partition,
        offset=received.offset,
        key=received.key,
        value=received.value,
        headers=list(received.headers),
        timestamp_ms=received.timestamp,
    )


if __name__ == "__main__":
    serve(Operations(sys.argv[1]))
