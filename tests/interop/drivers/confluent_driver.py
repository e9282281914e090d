"""confluent-kafka (librdkafka) behind the wire of ``wire.py``."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import confluent_kafka
from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (  # type: ignore[attr-defined] # exported without saying so
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

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

EARLIEST: Any = OffsetSpec.earliest()  # type: ignore[no-untyped-call] # the library has no types
LATEST: Any = OffsetSpec.latest()  # type: ignore[no-untyped-call] # the library has no types

_KAFKA_CODE_OF_LOCAL = {
    KafkaError._UNKNOWN_PARTITION: 3,
    KafkaError._UNKNOWN_TOPIC: 3,
    KafkaError._AUTO_OFFSET_RESET: 1,
    KafkaError._FENCED: 90,
}
"""Errors that librdkafka raises in the broker's stead, as the code the broker would send."""


class Operations:
    """One method per operation; see ``tests/interop/README.md``."""

    def __init__(self, bootstrap: str) -> None:
        self._common: Json = {"bootstrap.servers": bootstrap, "socket.nagle.disable": True}
        self._admin = AdminClient(self._common)
        self._members = Members()
        self._transactors: dict[str, Producer] = {}

    def hello(self) -> Json:
        return {
            "client": f"confluent-kafka {confluent_kafka.__version__}",
            "codecs": ["none", "gzip", "snappy", "lz4", "zstd"],
            "lacks": [],
        }

    def create_topic(self, *, topic: str, partitions: int, configs: dict[str, str]) -> None:
        new = NewTopic(topic, num_partitions=partitions, replication_factor=1, config=configs)
        _wait(self._admin.create_topics([new])[topic])

    def delete_topic(self, *, topic: str) -> None:
        _wait(self._admin.delete_topics([topic])[topic])

    def add_partitions(self, *, topic: str, partitions: int) -> None:
        _wait(self._admin.create_partitions([NewPartitions(topic, partitions)])[topic])

    def partition_count(self, *, topic: str) -> int:
        """Metadata that may not create the topic: list_topics asks for all of them."""
        found = self._admin.list_topics(timeout=CALL_SECONDS).topics.get(topic)
        if found is None:
            raise Refused(3, f"no topic {topic}")
        return len(found.partitions)

    def describe_configs(self, *, topic: str) -> dict[str, str | None]:
        resource = ConfigResource(ResourceType.TOPIC, topic)
        entries = _wait(self._admin.describe_configs([resource])[resource])
        return {name: entry.value for name, entry in entries.items()}

    def alter_configs(self, *, topic: str, configs: dict[str, str | None]) -> None:
        changes = [
            ConfigEntry(
                name,
                value,
                incremental_operation=(
                    AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
                ),
            )
            for name, value in configs.items()
        ]
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=changes)
        _wait(self._admin.incremental_alter_configs([resource])[resource])

    def delete_records(self, *, topic: str, partition: int, offset: int) -> int:
        where = TopicPartition(topic, partition, offset)
        low: int = _wait(self._admin.delete_records([where])[where]).low_watermark
        return low

    def offsets(self, *, topic: str, partition: int) -> Json:
        return {
            "start": self._offset(topic, partition, EARLIEST),
            "end": self._offset(topic, partition, LATEST),
        }

    def offset_for_time(self, *, topic: str, partition: int, timestamp_ms: int) -> int | None:
        found = self._offset(topic, partition, OffsetSpec.for_timestamp(timestamp_ms))
        return None if found == -1 else found

    def _offset(self, topic: str, partition: int, spec: Any) -> int:
        where = TopicPartition(topic, partition)
        found: int = _wait(self._admin.list_offsets({where: spec})[where]).offset
        return found

    def produce(
        self, *, topic: str, records: list[Json], codec: str, acks: str, idempotent: bool
    ) -> list[tuple[int, int]]:
        producer = Producer(
            {
                **self._common,
                "acks": acks,
                "compression.type": codec,
                "enable.idempotence": idempotent,
                "linger.ms": 5,
                "message.max.bytes": 20_000_000,
                "message.timeout.ms": 15_000,
                "partitioner": "murmur2_random",
            }
        )
        return _send(producer, topic, records)

    def open_transactor(
        self, *, transactor: str, transactional_id: str, transaction_timeout_ms: int
    ) -> None:
        producer = Producer(
            {
                **self._common,
                "transactional.id": transactional_id,
                "transaction.timeout.ms": transaction_timeout_ms,
                "message.timeout.ms": min(transaction_timeout_ms, 15_000),
                "linger.ms": 5,
                "partitioner": "murmur2_random",
            }
        )
        self._transactors[transactor] = producer
        _tried(producer.init_transactions, CALL_SECONDS)

    def begin(self, *, transactor: str) -> None:
        _tried(self._transactors[transactor].begin_transaction)

    def send(self, *, transactor: str, topic: str, records: list[Json]) -> None:
        _send(self._transactors[transactor], topic, records)

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
        """librdkafka wants a consumer's word for the group, even of one that never joined."""
        positions = [TopicPartition(topic, partition, offset)]
        if member is None:
            consumer = Consumer({**self._common, "group.id": group})
            metadata = consumer.consumer_group_metadata()
            consumer.close()
        else:
            metadata = self._members.ask(member, "group_metadata")
        producer = self._transactors[transactor]
        _tried(producer.send_offsets_to_transaction, positions, metadata, CALL_SECONDS)

    def end(self, *, transactor: str, commit: bool) -> None:
        producer = self._transactors[transactor]
        _tried(producer.commit_transaction if commit else producer.abort_transaction, CALL_SECONDS)

    def close_transactor(self, *, transactor: str) -> None:
        """librdkafka's producer ends with the object."""
        self._transactors.pop(transactor)

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
        consumer = Consumer(
            {
                **self._common,
                "isolation.level": isolation,
                "group.id": "unused",
                "enable.auto.commit": False,
                "auto.offset.reset": "error",
                "allow.auto.create.topics": False,
                "fetch.wait.max.ms": 100,
                "fetch.message.max.bytes": 20_000_000,
            }
        )
        try:
            consumer.assign([TopicPartition(topic, partition, offset)])
            records: list[Json] = []
            deadline = time.monotonic() + timeout_ms / 1000
            while len(records) < count and time.monotonic() < deadline:
                for message in consumer.consume(count - len(records), timeout=0.1):
                    error = message.error()
                    if error is not None:
                        raise _refused(error)
                    records.append(_record(message))
            return records
        finally:
            consumer.close()

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
            **self._common,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "partition.assignment.strategy": strategy,
            "session.timeout.ms": session_timeout_ms,
            "heartbeat.interval.ms": 200,
            "fetch.wait.max.ms": 100,
            "topic.metadata.refresh.interval.ms": 1000,
        }
        if instance_id is not None:
            settings["group.instance.id"] = instance_id
        self._members.add(member, _ConfluentMember(settings, topics))

    def status(self, *, member: str) -> Json:
        return self._members.status(member)

    def commit(self, *, member: str) -> None:
        self._members.commit(member)

    def leave(self, *, member: str) -> None:
        self._members.leave(member)

    def committed(self, *, group: str, topic: str, partition: int) -> int | None:
        where = [TopicPartition(topic, partition)]
        asked = self._admin.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group, where)]
        )
        found = _wait(asked[group]).topic_partitions[0]
        if found.error is not None:
            raise _refused(found.error)
        return None if found.offset < 0 else found.offset

    def groups(self) -> list[str]:
        listed = _wait(self._admin.list_consumer_groups())
        return [group.group_id for group in listed.valid]

    def describe_group(self, *, group: str) -> Json:
        found = _wait(self._admin.describe_consumer_groups([group])[group])
        return {
            "state": found.state.name,
            "members": len(found.members),
            "assignor": found.partition_assignor,
        }

    def delete_group(self, *, group: str) -> None:
        _wait(self._admin.delete_consumer_groups([group])[group])


class _ConfluentMember(Member):
    def __init__(self, settings: Json, topics: list[str]) -> None:
        self._settings = settings
        self._topics = topics
        super().__init__()

    def open(self) -> None:
        self._consumer = Consumer(self._settings)
        self._consumer.subscribe(self._topics)

    def poll(self) -> list[Json]:
        records = []
        for message in self._consumer.consume(500, timeout=MEMBER_POLL_SECONDS):
            error = message.error()
            if error is None:
                records.append(_record(message))
            elif error.fatal() or error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise KafkaException(error)
        return records

    def assignment(self) -> list[tuple[str, int]]:
        return [(each.topic, each.partition) for each in self._consumer.assignment()]

    def commit(self) -> None:
        _tried(self._consumer.commit, asynchronous=False)

    def group_metadata(self) -> Any:
        return self._consumer.consumer_group_metadata()

    def close(self) -> None:
        self._consumer.close()


def _send(producer: Producer, topic: str, records: list[Json]) -> list[tuple[int, int]]:
    """Send and wait; where each record came to lie."""
    placed: list[tuple[int, int]] = [(-1, -1)] * len(records)
    errors: list[KafkaError] = []
    for index, each in enumerate(records):
        optional: Json = {}
        if each["partition"] is not None:
            optional["partition"] = each["partition"]
        if each["timestamp_ms"] is not None:
            optional["timestamp"] = each["timestamp_ms"]
        _tried(
            producer.produce,
            topic,
            key=unpack(each["key"]),
            value=unpack(each["value"]),
            headers=[*unpack_headers(each["headers"])],
            on_delivery=_note(placed, errors, index),
            **optional,
        )
        producer.poll(0)
    producer.flush(CALL_SECONDS)
    if errors:
        raise _refused(errors[0])
    return placed


def _tried(call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    try:
        return call(*arguments, **options)
    except KafkaException as error:
        raise _refused(error.args[0]) from error


def _note(
    placed: list[tuple[int, int]], errors: list[KafkaError], index: int
) -> Callable[[KafkaError | None, Message], None]:
    def delivered(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            errors.append(error)
            return
        offset = message.offset()
        placed[index] = (message.partition() or 0, -1 if offset is None else offset)

    return delivered


def _record(message: Message) -> Json:
    return record(
        partition=message.partition() or 0,
        offset=message.offset() or 0,
        key=message.key(),
        value=message.value(),
        headers=_headers(message),
        timestamp_ms=message.timestamp()[1],
    )


def _headers(message: Message) -> list[tuple[str, bytes | None]]:
    received: Any = message.headers() or []  # declared as wider than what arrives
    return [(name, content) for name, content in received]


def _wait(future: Future[Any]) -> Any:
    try:
        return future.result(CALL_SECONDS)
    except KafkaException as error:
        raise _refused(error.args[0]) from error


def _refused(error: KafkaError) -> Refused:
    code = error.code()
    return Refused(_KAFKA_CODE_OF_LOCAL.get(code, code), error.str())


if __name__ == "__main__":
    import sys

    serve(Operations(sys.argv[1]))
