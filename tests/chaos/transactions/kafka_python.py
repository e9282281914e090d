"""kafka-python, as the roles want a client. Speaks transactions as before KIP-890 (version 1).

A batch that fails during ``commit_transaction`` makes version 3.0 bump its epoch, which aborts the
transaction, and then call the commit done. So the answers to all sends are waited for before.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, final

from kafka import ConsumerRebalanceListener, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from headwater.core_log.testing.history import GroupOffset, PolledRecord

from .roles import PARTITION_COUNT, MustAbort, NotSent, Reader, Sender, Unclear

RECONNECT: Final = {"reconnect_backoff_ms": 20, "reconnect_backoff_max_ms": 200}
TRANSACTION_TIMEOUT_MS: Final = 15_000
POLL_MS: Final = 200
CALL_SECONDS: Final = 20.0


@final
class KafkaPython:
    def __init__(self, bootstrap: str) -> None:
        self._common: dict[str, Any] = {
            **RECONNECT,
            "bootstrap_servers": bootstrap,
            "request_timeout_ms": 4_000,
        }

    def sender(self, transactional_id: str | None, *, idempotent: bool) -> Sender:
        config = {
            **self._common,
            "acks": "all",
            "linger_ms": 1,
            "retry_backoff_ms": 50,
            "max_block_ms": 20_000,
            "delivery_timeout_ms": 10_000,
        }
        try:
            if transactional_id is None:
                config["delivery_timeout_ms"] = 120_000
                return _Sender(KafkaProducer(**config, enable_idempotence=idempotent))
            producer = KafkaProducer(
                **config,
                transactional_id=transactional_id,
                transaction_timeout_ms=TRANSACTION_TIMEOUT_MS,
            )
        except KafkaError as error:
            raise Unclear from error
        try:
            producer.init_transactions()
        except KafkaError as error:
            producer.close(0)
            raise Unclear from error
        return _Sender(producer)

    def assigned(self, topics: Sequence[str], *, read_committed: bool) -> Reader:
        consumer = self._consumer(None, read_committed=read_committed)
        consumer.assign(
            [
                TopicPartition(topic, partition)
                for topic in topics
                for partition in range(PARTITION_COUNT)
            ]
        )
        consumer.seek_to_beginning()
        return _Reader(consumer)

    def member(self, group: str, topic: str) -> Reader:
        reader = _Reader(self._consumer(group, read_committed=True))
        reader.subscribe(topic)
        return reader

    def _consumer(self, group: str | None, *, read_committed: bool) -> Any:
        deadline = time.monotonic() + 60
        while True:
            try:
                return KafkaConsumer(
                    **self._common,
                    group_id=group,
                    isolation_level="read_committed" if read_committed else "read_uncommitted",
                    partition_assignment_strategy=[RangePartitionAssignor],
                    auto_offset_reset="earliest",
                    enable_auto_commit=False,
                    session_timeout_ms=6_000,
                    heartbeat_interval_ms=300,
                )
            except KafkaError:  # no broker there: it is being killed just now
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)


@final
class _Sender:
    def __init__(self, producer: Any) -> None:
        self._producer = producer
        self._outstanding: list[Any] = []

    def begin(self) -> None:
        self._outstanding.clear()
        self._call(self._producer.begin_transaction)

    def send(
        self, topic: str, partition: int, value: str, on_acked: Callable[[int | None], None]
    ) -> None:
        try:
            future = self._producer.send(topic, value.encode(), partition=partition)
        except KafkaError as error:
            raise NotSent from error
        future.add_callback(lambda placed: on_acked(placed.offset if placed.offset >= 0 else None))
        self._outstanding.append(future)

    def send_offsets(self, offsets: Sequence[GroupOffset], reader: Reader) -> None:
        assert isinstance(reader, _Reader), "made by the same client"
        places = {
            TopicPartition(topic, partition): OffsetAndMetadata(offset, "", -1)
            for topic, partition, offset in offsets
        }
        metadata = reader.group_metadata()
        self._call(lambda: self._producer.send_offsets_to_transaction(places, metadata))

    def commit(self) -> None:
        try:
            self._producer.flush(CALL_SECONDS)
        except KafkaError as error:
            raise MustAbort from error
        if not all(one.succeeded() for one in self._outstanding):
            raise MustAbort
        self._call(self._producer.commit_transaction)

    def abort(self) -> None:
        try:
            self._producer.abort_transaction()
        except KafkaError as error:
            raise Unclear from error

    def wait(self, outstanding_max: int) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            self._outstanding = [one for one in self._outstanding if not one.is_done]
            if len(self._outstanding) <= outstanding_max:
                return
            time.sleep(0.02)

    def close(self) -> None:
        self._producer.close(0.1)

    def _call(self, act: Callable[[], object]) -> None:
        """Whether an abort mends it, the abort tells."""
        try:
            act()
        except KafkaError as error:
            raise MustAbort from error


class _Listener(ConsumerRebalanceListener):  # type: ignore[misc]  # the library has no types
    def __init__(self, reader: "_Reader") -> None:
        self._reader = reader

    def on_partitions_revoked(self, revoked: object) -> None:  # noqa: ARG002 - the library's signature
        self._reader.rebalance_count += 1

    def on_partitions_assigned(self, assigned: object) -> None:  # noqa: ARG002 - the library's signature
        self._reader.rebalance_count += 1


@final
class _Reader:
    def __init__(self, consumer: Any) -> None:
        self._consumer = consumer
        self.rebalance_count = 0
        self._told_count = 0

    def subscribe(self, topic: str) -> None:
        self._consumer.subscribe([topic], listener=_Listener(self))

    def poll(self, records_max: int) -> list[PolledRecord]:
        try:
            batches = self._consumer.poll(POLL_MS, max_records=records_max)
        except KafkaError:  # it says so and goes on
            time.sleep(0.05)
            return []
        return [
            (place.topic, place.partition, record.offset, (record.value or b"").decode())
            for place, records in batches.items()
            for record in records
        ]

    def has_rebalanced(self) -> bool:
        has_rebalanced = self.rebalance_count != self._told_count
        self._told_count = self.rebalance_count
        return has_rebalanced

    def rewind(self) -> list[GroupOffset]:
        offsets = []
        for place in self._consumer.assignment():
            offset = self._committed(place)
            offsets.append((place.topic, place.partition, offset))
            self._consumer.seek(place, max(offset, 0))
        return offsets

    def _committed(self, place: Any) -> int:
        while True:
            try:
                found = self._consumer.committed(place)
            except KafkaError:  # nothing is known until the broker answers
                time.sleep(0.05)
            else:
                return -1 if found is None else int(getattr(found, "offset", found))

    def group_metadata(self) -> object:
        return self._consumer.group_metadata()

    def close(self) -> None:
        self._consumer.close()
