"""librdkafka, through confluent-kafka, as the roles want a client. Speaks transactions as before
KIP-890 (version 1)."""

import contextlib
import time
from collections.abc import Callable, Sequence
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

from headwater.core_log.testing.history import GroupOffset, PolledRecord

from .roles import PARTITION_COUNT, MustAbort, NotSent, Reader, Sender, Unclear

RECONNECT: Final = {"reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 200}
TRANSACTION_TIMEOUT_MS: Final = 15_000
CALL_SECONDS: Final = 20.0
"""A call that the broker leaves without an answer so long has an unclear outcome."""
POLL_SECONDS: Final = 0.2


@final
class Confluent:
    def __init__(self, bootstrap: str) -> None:
        self._common: dict[str, Any] = {
            **RECONNECT,
            "bootstrap.servers": bootstrap,
            "socket.timeout.ms": 4_000,
            "log_level": 3,
            "error_cb": lambda error: None,  # or a callback raises what the call itself tells
        }

    def sender(self, transactional_id: str | None, *, idempotent: bool) -> Sender:
        config = {
            **self._common,
            "enable.idempotence": idempotent,
            "acks": "all",
            "linger.ms": 1,
            "retry.backoff.ms": 50,
            "message.timeout.ms": 10_000,
        }
        if transactional_id is None:
            return _Sender(Producer({**config, "message.timeout.ms": 120_000}))
        config["transactional.id"] = transactional_id
        config["transaction.timeout.ms"] = TRANSACTION_TIMEOUT_MS
        sender = _Sender(Producer(config))
        sender.take_over()
        return sender

    def assigned(self, topics: Sequence[str], *, read_committed: bool) -> Reader:
        consumer = self._consumer("nobody", read_committed=read_committed)
        places = [
            TopicPartition(topic, partition, OFFSET_BEGINNING)
            for topic in topics
            for partition in range(PARTITION_COUNT)
        ]
        consumer.assign(places)
        return _Reader(consumer)

    def member(self, group: str, topic: str) -> Reader:
        reader = _Reader(self._consumer(group, read_committed=True))
        reader.subscribe(topic)
        return reader

    def _consumer(self, group: str, *, read_committed: bool) -> Consumer:
        return Consumer(
            {
                **self._common,
                "group.id": group,
                "isolation.level": "read_committed" if read_committed else "read_uncommitted",
                "partition.assignment.strategy": "range",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "session.timeout.ms": 6_000,
                "heartbeat.interval.ms": 300,
                "fetch.error.backoff.ms": 50,
            }
        )


@final
class _Sender:
    def __init__(self, producer: Producer) -> None:
        self._producer = producer

    def take_over(self) -> None:
        self._call(lambda: self._producer.init_transactions(CALL_SECONDS))

    def begin(self) -> None:
        self._call(self._producer.begin_transaction)

    def send(
        self, topic: str, partition: int, value: str, on_acked: Callable[[int | None], None]
    ) -> None:
        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is None:
                offset = message.offset()
                on_acked(None if offset is None or offset < 0 else offset)

        try:
            self._producer.produce(topic, value, partition=partition, on_delivery=delivered)
        except (KafkaException, BufferError) as error:
            raise NotSent from error
        self._producer.poll(0)

    def send_offsets(self, offsets: Sequence[GroupOffset], reader: Reader) -> None:
        assert isinstance(reader, _Reader), "made by the same client"
        places = [TopicPartition(*offset) for offset in offsets]
        metadata = reader.group_metadata()
        self._call(
            lambda: self._producer.send_offsets_to_transaction(places, metadata, CALL_SECONDS)
        )

    def commit(self) -> None:
        try:
            self._producer.flush(CALL_SECONDS)
        except (KafkaException, SystemError) as failure:  # a fatal one, in a callback or at last
            raise Unclear from failure
        self._call(lambda: self._producer.commit_transaction(CALL_SECONDS))

    def abort(self) -> None:
        try:
            self._call(lambda: self._producer.abort_transaction(CALL_SECONDS))
        except MustAbort as error:
            raise Unclear from error

    def wait(self, outstanding_max: int) -> None:
        deadline = time.monotonic() + 3 * CALL_SECONDS
        while len(self._producer) > outstanding_max and time.monotonic() < deadline:
            self._producer.poll(0.05)

    def close(self) -> None:
        with contextlib.suppress(KafkaException, SystemError):  # a fatal one, told before
            self._producer.flush(0.1)

    def _call(self, act: Callable[[], object]) -> None:
        """Repeats what the library calls safe to repeat."""
        deadline = time.monotonic() + CALL_SECONDS
        while True:
            try:
                act()
            except KafkaException as failure:
                error: KafkaError = failure.args[0]
                if error.txn_requires_abort():
                    raise MustAbort from failure
                if not error.retriable() or time.monotonic() > deadline:
                    raise Unclear from failure
                time.sleep(0.05)
            else:
                return


@final
class _Reader:
    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self._rebalance_count = 0
        self._told_count = 0

    def subscribe(self, topic: str) -> None:
        def rebalanced(*_: object) -> None:
            self._rebalance_count += 1

        self._consumer.subscribe(
            [topic], on_assign=rebalanced, on_revoke=rebalanced, on_lost=rebalanced
        )

    def poll(self, records_max: int) -> list[PolledRecord]:
        """Those before a rebalance are dropped: the offsets of a new generation must not cover
        what an old one read, and after it reading goes on from the committed offsets."""
        records: list[PolledRecord] = []
        wait_seconds = POLL_SECONDS
        while len(records) < records_max:
            count_before = self._rebalance_count
            message = self._consumer.poll(wait_seconds)
            if self._rebalance_count != count_before:
                records.clear()
            if message is None:
                break
            if message.error() is None:
                records.append(record_of(message))
                wait_seconds = 0.0
        return records

    def has_rebalanced(self) -> bool:
        has_rebalanced = self._rebalance_count != self._told_count
        self._told_count = self._rebalance_count
        return has_rebalanced

    def rewind(self) -> list[GroupOffset]:
        while True:
            try:
                found = self._consumer.committed(self._consumer.assignment(), 5)
                break
            except KafkaException:  # nothing is known until the broker answers
                time.sleep(0.05)
        offsets = [(each.topic, each.partition, max(each.offset, -1)) for each in found]
        self._consumer.assign(
            [
                TopicPartition(topic, partition, OFFSET_BEGINNING if offset < 0 else offset)
                for topic, partition, offset in offsets
            ]
        )
        return offsets

    def group_metadata(self) -> object:
        return self._consumer.consumer_group_metadata()

    def close(self) -> None:
        self._consumer.close()


def record_of(message: Message) -> PolledRecord:
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    assert topic is not None, "a polled record has its place"
    assert partition is not None, "a polled record has its place"
    assert offset is not None, "a polled record has its place"
    return topic, partition, offset, (message.value() or b"").decode()
