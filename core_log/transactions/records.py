"""Records of __transaction_state, in Kafka's format, from and to what a shard knows.

A key is ``[2 type][transactional id]``, type 0, and a value ``[2 version][body]``; a value of None
deletes the id. Values are written as version 1, with tagged fields, when transaction.version
is 1 or above, as Kafka does, and also when a fact would not fit into version 0 after the feature
was lowered.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ..kernel.effects import Record
from ..kernel.ids import NO_PRODUCER_ID
from ..protocol.coordinator.frames import (
    UnreadableRecordError,
    batch_bytes,
    read_body,
    read_prefix,
    with_prefix,
)
from ..protocol.coordinator.transaction_log import (
    PartitionsSchema,
    TransactionLogKey,
    TransactionLogValue,
)
from ..protocol.errors import DecodeError
from .transaction import (
    ENDING,
    EPOCH_BUMP_VERSION,
    STORED,
    TopicPartition,
    Transaction,
    TransactionState,
)

_TOPIC: Final = "__transaction_state"
_PLAIN_VERSION: Final = 0
_FLEXIBLE_VERSION: Final = 1
_FLEXIBLE_SINCE_FEATURE_LEVEL: Final = 1
_FIXED_BYTES_MAX: Final = 72
"""Version 2, ids and epoch 34, timeout, state and times 21, count 5, tags 10."""
_TOPIC_BYTES_MAX: Final = 8
"""Around a topic's name: its length, the count of its partitions, tags."""
_PARTITION_BYTES: Final = 4
_STATE_BY_NUMBER: Final = {state.number: state for state in STORED}


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionRecord:
    """A transactional id as it stood; ``transaction`` is None when it is deleted."""

    transactional_id: str
    transaction: Transaction | None


def read_record(key: bytes, value: bytes | None) -> TransactionRecord | None:
    """What the record says, None when its key is of a type that is not known.

    Raises UnreadableRecordError when it does not have its layout.
    """
    try:
        if read_prefix(key) != TransactionLogKey.API_KEY:
            return None
        transactional_id = read_body(TransactionLogKey, 0, key).transactional_id
        transaction = None if value is None else _read_value(transactional_id, value)
    except DecodeError as error:
        raise UnreadableRecordError(_TOPIC, key, str(error)) from error
    return TransactionRecord(transactional_id=transactional_id, transaction=transaction)


def transaction_record(transaction: Transaction, *, feature_level: int) -> Record:
    """The record that keeps *transaction* at that level of transaction.version."""
    value = TransactionLogValue(
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=transaction.state.number,
        transaction_partitions=None
        if transaction.state is TransactionState.EMPTY
        else _write_partitions(transaction.partitions),
        transaction_last_update_timestamp_ms=transaction.update_ms,
        transaction_start_timestamp_ms=transaction.start_ms,
    )
    version = _PLAIN_VERSION
    if (
        feature_level >= _FLEXIBLE_SINCE_FEATURE_LEVEL
        or transaction.client_version >= EPOCH_BUMP_VERSION
        or transaction.next_producer_id != NO_PRODUCER_ID
    ):
        version = _FLEXIBLE_VERSION
        value.previous_producer_id = transaction.previous_producer_id
        value.next_producer_id = transaction.next_producer_id
        value.client_transaction_version = transaction.client_version
    return _key(transaction.transactional_id), with_prefix(version, value, version)


def tombstone(transactional_id: str) -> Record:
    """The record that deletes a transactional id."""
    return _key(transactional_id), None


def record_bytes_max(transactional_id: str, partitions: Iterable[TopicPartition]) -> int:
    """Bytes that a batch with any later record of such a transaction takes at most.

    Whatever its state and the version of its record: a transaction that could begin can end.
    """
    topics = set[str]()
    count = 0
    for topic, _ in partitions:
        topics.add(topic)
        count += 1
    value_bytes = (
        _FIXED_BYTES_MAX
        + sum(_TOPIC_BYTES_MAX + len(topic.encode()) for topic in topics)
        + _PARTITION_BYTES * count
    )
    return batch_bytes([(_key(transactional_id), None)]) + value_bytes


def _read_value(transactional_id: str, data: bytes) -> Transaction:
    value = read_body(TransactionLogValue, read_prefix(data), data)
    state = _STATE_BY_NUMBER.get(value.transaction_status)
    if state is None:
        raise DecodeError("TransactionLogValue", f"has status {value.transaction_status}")
    transaction = Transaction(
        transactional_id,
        producer_id=value.producer_id,
        timeout_ms=value.transaction_timeout_ms,
        now_ms=value.transaction_last_update_timestamp_ms,
    )
    transaction.previous_producer_id = value.previous_producer_id
    transaction.next_producer_id = value.next_producer_id
    transaction.producer_epoch = value.producer_epoch
    transaction.start_ms = value.transaction_start_timestamp_ms
    transaction.client_version = value.client_transaction_version
    transaction.state = state
    for topic in value.transaction_partitions or ():
        for partition in topic.partition_ids:
            transaction.partitions[topic.topic, partition] = None
    if state in ENDING:
        transaction.expect_markers()
    return transaction


def _write_partitions(partitions: Iterable[TopicPartition]) -> list[PartitionsSchema]:
    topics: dict[str, list[int]] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, []).append(partition)
    return [PartitionsSchema(topic=name, partition_ids=ids) for name, ids in topics.items()]


def _key(transactional_id: str) -> bytes:
    key = TransactionLogKey(transactional_id=transactional_id)
    return with_prefix(TransactionLogKey.API_KEY, key, 0)
