"""aiokafka behind the wire of ``wire.py``: one event loop on a thread of its own."""

import asyncio
import contextlib
import sys
import threading
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

import aiokafka  # type: ignore[import-untyped] # no types
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete  # type: ignore[import-untyped] # no types
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType  # type: ignore[import-untyped] # no types
from aiokafka.coordinator.assignors.range import RangePartitionAssignor  # type: ignore[import-untyped] # no types
from aiokafka.errors import BrokerResponseError, OffsetOutOfRangeError  # type: ignore[import-untyped] # no types

from .wire import Json, Refused, record, serve, unpack, unpack_headers

T = TypeVar("T")

CALL_SECONDS = 20.0
MEMBER_POLL_MS = 50


class Operations:
    """One method per operation; see ``tests/interop/README.md``."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._members: dict[str, _Member] = {}
        self._transactors: dict[str, AIOKafkaProducer] = {}
        self._admin = self._run(self._open_admin())

    async def _open_admin(self) -> AIOKafkaAdminClient:
        admin = AIOKafkaAdminClient(bootstrap_servers=self._bootstrap)
        await admin.start()
        return admin

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)
        except BrokerResponseError as error:
            raise Refused(error.errno, str(error)) from error

    def hello(self) -> Json:
        return {
            "client": f"aiokafka {aiokafka.__version__}",
            "codecs": ["none", "gzip", "snappy", "lz4", "zstd"],
            "lacks": ["cooperative", "delete_group", "error_codes_above_85", "unset_config"],
        }

    def create_topic(self, *, topic: str, partitions: int, configs: dict[str, str]) -> None:
        new = NewTopic(topic, partitions, 1, topic_configs=configs)
        answer = self._run(self._admin.create_topics([new]))
        _raise_codes(each[1:3] for each in answer.topic_errors)

    def delete_topic(self, *, topic: str) -> None:
        answer = self._run(self._admin.delete_topics([topic]))
        _raise_codes((code, name) for name, code in answer.topic_error_codes)

    def add_partitions(self, *, topic: str, partitions: int) -> None:
        answer = self._run(self._admin.create_partitions({topic: NewPartitions(partitions)}))
        _raise_codes(each[1:3] for each in answer.topic_errors)

    def partition_count(self, *, topic: str) -> int:
        """Among all topics: to ask for one by name creates it (aiokafka's Metadata)."""
        for found in self._run(self._admin.describe_topics()):
            if found["topic"] == topic:
                _raise_codes([(found["error_code"], topic)])
                return len(found["partitions"])
        raise Refused(3, f"no topic {topic}")

    def describe_configs(self, *, topic: str) -> dict[str, str | None]:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        (answer,) = self._run(self._admin.describe_configs([resource]))
        ((code, message, _, _, entries),) = answer.resources
        _raise_codes([(code, message)])
        return {entry[0]: entry[1] for entry in entries}

    def alter_configs(self, *, topic: str, configs: dict[str, str | None]) -> None:
        """The older AlterConfigs: it replaces whatever was set before."""
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, configs)
        (answer,) = self._run(self._admin.alter_configs([resource]))
        _raise_codes(each[0:2] for each in answer.resources)

    def delete_records(self, *, topic: str, partition: int, offset: int) -> int:
        where = TopicPartition(topic, partition)
        low: int = self._run(self._admin.delete_records({where: RecordsToDelete(offset)}))[where]
        return low

    def offsets(self, *, topic: str, partition: int) -> Json:
        where = TopicPartition(topic, partition)

        async def ask() -> Json:
            async with self._reader() as consumer:
                start = await consumer.beginning_offsets([where])
                end = await consumer.end_offsets([where])
                return {"start": start[where], "end": end[where]}

        return self._run(ask())

    def offset_for_time(self, *, topic: str, partition: int, timestamp_ms: int) -> int | None:
        where = TopicPartition(topic, partition)

        async def ask() -> int | None:
            async with self._reader() as consumer:
                found = (await consumer.offsets_for_times({where: timestamp_ms}))[where]
                return None if found is None else found.offset

        return self._run(ask())

    def produce(
        self, *, topic: str, records: list[Json], codec: str, acks: str, idempotent: bool
    ) -> list[tuple[int, int]]:
        async def send_all() -> list[tuple[int, int]]:
            producer = AIOKafkaProducer(
                bootstrap_servers=self._bootstrap,
                acks="all" if acks == "all" else int(acks),
                compression_type=None if codec == "none" else codec,
                enable_idempotence=idempotent,
                linger_ms=5,
                max_request_size=20_000_000,
                request_timeout_ms=10_000,
            )
            await producer.start()
            try:
                placed = await _send(producer, topic, records)
            finally:
                await producer.stop()
            if acks == "0":
                return [(-1, -1)] * len(records)
            return [(each.partition, each.offset) for each in placed]

        return self._run(send_all())

    def open_transactor(
        self, *, transactor: str, transactional_id: str, transaction_timeout_ms: int
    ) -> None:
        async def start() -> AIOKafkaProducer:
            producer = AIOKafkaProducer(
                bootstrap_servers=self._bootstrap,
                transactional_id=transactional_id,
                transaction_timeout_ms=transaction_timeout_ms,
                linger_ms=5,
                request_timeout_ms=10_000,
            )
            await producer.start()
            return producer

        self._transactors[transactor] = self._run(start())

    def begin(self, *, transactor: str) -> None:
        self._run(self._transactors[transactor].begin_transaction())

    def send(self, *, transactor: str, topic: str, records: list[Json]) -> None:
        self._run(_send(self._transactors[transactor], topic, records))

    def send_position(
        self,
        *,
        transactor: str,
        group: str,
        topic: str,
        partition: int,
        offset: int,
        member: str | None,  # noqa: ARG002 - of the group this client tells its name alone
    ) -> None:
        positions = {TopicPartition(topic, partition): offset}
        producer = self._transactors[transactor]
        self._run(producer.send_offsets_to_transaction(positions, group))

    def end(self, *, transactor: str, commit: bool) -> None:
        producer = self._transactors[transactor]
        self._run(producer.commit_transaction() if commit else producer.abort_transaction())

    def close_transactor(self, *, transactor: str) -> None:
        self._run(self._transactors.pop(transactor).stop())

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
        where = TopicPartition(topic, partition)

        async def read() -> list[Json]:
            records: list[Json] = []
            deadline = time.monotonic() + timeout_ms / 1000
            async with self._reader(isolation) as consumer:
                consumer.assign([where])
                consumer.seek(where, offset)
                while len(records) < count and time.monotonic() < deadline:
                    polled = await consumer.getmany(
                        where, timeout_ms=100, max_records=count - len(records)
                    )
                    records.extend(_record(each) for each in polled.get(where, []))
            return records

        try:
            return self._run(read())
        except OffsetOutOfRangeError as error:  # of the client's own: no broker error class
            raise Refused(1, str(error)) from error

    def _reader(self, isolation: str = "read_uncommitted") -> AIOKafkaConsumer:
        return AIOKafkaConsumer(
            bootstrap_servers=self._bootstrap,
            isolation_level=isolation,
            auto_offset_reset="none",
            enable_auto_commit=False,
            fetch_max_wait_ms=100,
            max_partition_fetch_bytes=20_000_000,
        )

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
        assert strategy == "range", strategy
        settings = {
            "bootstrap_servers": self._bootstrap,
            "group_id": group,
            "group_instance_id": instance_id,
            "partition_assignment_strategy": [RangePartitionAssignor],
            "auto_offset_reset": "earliest",
            "enable_auto_commit": False,
            "session_timeout_ms": session_timeout_ms,
            "heartbeat_interval_ms": 200,
            "fetch_max_wait_ms": 100,
            "metadata_max_age_ms": 1000,
        }
        self._members[member] = self._run(_Member.open(settings, topics))

    def status(self, *, member: str) -> Json:
        return self._run(self._members[member].status())

    def commit(self, *, member: str) -> None:
        self._run(self._members[member].consumer.commit())

    def leave(self, *, member: str) -> None:
        self._run(self._members.pop(member).close())

    def committed(self, *, group: str, topic: str, partition: int) -> int | None:
        where = TopicPartition(topic, partition)
        found = self._run(self._admin.list_consumer_group_offsets(group, partitions=[where]))
        return None if found[where].offset < 0 else found[where].offset

    def groups(self) -> list[str]:
        return [found[0] for found in self._run(self._admin.list_consumer_groups())]

    def describe_group(self, *, group: str) -> Json:
        (answer,) = self._run(self._admin.describe_consumer_groups([group]))
        (found,) = answer.groups
        code, _, state, _, assignor, members = found[:6]
        _raise_codes([(code, group)])
        return {"state": state.upper(), "members": len(members), "assignor": assignor}


class _Member:
    """A group member as a task that polls until it is told to leave."""

    def __init__(self, consumer: AIOKafkaConsumer) -> None:
        self.consumer = consumer
        self._records: list[Json] = []
        self._task = asyncio.create_task(self._poll())

    @classmethod
    async def open(cls, settings: Json, topics: list[str]) -> "_Member":
        consumer = AIOKafkaConsumer(*topics, **settings)
        await consumer.start()
        return cls(consumer)

    async def _poll(self) -> None:
        while True:
            polled = await self.consumer.getmany(timeout_ms=MEMBER_POLL_MS)
            self._records.extend(_record(each) for batch in polled.values() for each in batch)

    async def status(self) -> Json:
        taken, self._records = self._records, []
        failure = repr(self._task.exception()) if self._task.done() else None
        assignment = [(each.topic, each.partition) for each in self.consumer.assignment()]
        return {"assignment": assignment, "records": taken, "failure": failure}

    async def close(self) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        await self.consumer.stop()


async def _send(producer: AIOKafkaProducer, topic: str, records: list[Json]) -> list[Any]:
    waiting = [
        await producer.send(
            topic,
            key=unpack(each["key"]),
            value=unpack(each["value"]),
            headers=unpack_headers(each["headers"]),
            partition=each["partition"],
            timestamp_ms=each["timestamp_ms"],
        )
        for each in records
    ]
    return [await future for future in waiting]


def _raise_codes(outcomes: Any) -> None:
    """Raise Refused for the first error among pairs of code and message."""
    for code, message in outcomes:
        if code != 0:
            raise Refused(code, str(message))


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
