"""A transactional producer frame by frame, in the versions that clients speak.

It does only what it is told: a client that was cut off is told to ``reconnect`` and ask again.
"""

import time
from dataclasses import dataclass
from typing import Final, final

from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from headwater.core_log.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from headwater.core_log.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from headwater.core_log.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from headwater.core_log.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from headwater.core_log.protocol.messages.produce import ProduceResponse
from headwater.core_log.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from headwater.core_log.protocol.schema import Message
from headwater.core_log.testing.requests import batch_of, produce

from ..interop.waiting import eventually
from .wire import Raw


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """What a client of a transaction version speaks."""

    transaction: int
    init_producer_id: int
    adding: int | None
    """AddPartitionsToTxn and AddOffsetsToTxn; None: produce and commit add by themselves."""
    produce: int
    offset_commit: int
    end_txn: int


VERSION_1: Final = Versions(
    transaction=1, init_producer_id=4, adding=3, produce=11, offset_commit=4, end_txn=3
)
VERSION_2: Final = Versions(
    transaction=2, init_producer_id=5, adding=None, produce=12, offset_commit=5, end_txn=5
)


@final
class RawProducer:
    """One producer of records of *topic*; the topic's name is its transactional id, and its group's
    name too."""

    def __init__(self, bootstrap: str, topic: str, versions: Versions) -> None:
        self.topic = topic
        self.versions = versions
        self.producer_id = -1
        self.epoch = -1
        self._bootstrap = bootstrap
        self._connection = Raw(bootstrap)
        self._sequences: dict[int, int] = {}

    def reconnect(self) -> None:
        self._connection.close()
        self._connection = Raw(self._bootstrap)

    def close(self) -> None:
        self._connection.close()

    def begin_anew(self) -> None:
        """Find both coordinators and become the producer of the id, as after a start."""
        self._find_coordinator(key_type=0)
        self._find_coordinator(key_type=1)
        request = InitProducerIdRequest(transactional_id=self.topic, transaction_timeout_ms=60_000)
        version = self.versions.init_producer_id
        given = eventually(
            lambda: self._connection.ask(request, InitProducerIdResponse, version),
            lambda answer: answer.error_code == ErrorCode.NONE,
        )
        self.producer_id, self.epoch = given.producer_id, given.producer_epoch
        self._sequences.clear()

    def _find_coordinator(self, key_type: int) -> None:
        wanted = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[self.topic])
        eventually(
            lambda: self._connection.ask(wanted, FindCoordinatorResponse, 4),
            lambda found: found.coordinators[0].error_code == ErrorCode.NONE,
        )

    def send(self, request: Message, version: int) -> None:
        """Without waiting for the answer."""
        self._connection.send(self._connection.encode(request, version))

    def add_partition(self, partition: int) -> ErrorCode:
        """NONE where the version has no such request."""
        version = self.versions.adding
        if version is None:
            return ErrorCode.NONE
        request = self.adding(partition)
        answer = self._connection.ask(request, AddPartitionsToTxnResponse, version)
        (topic,) = answer.results_by_topic_v3_and_below
        return ErrorCode(topic.results_by_partition[0].partition_error_code)

    def produce(self, partition: int, value: str) -> ErrorCode:
        sequence = self._sequences.get(partition, 0)
        batch = batch_of(
            [value],
            now_ms=time.time_ns() // 1_000_000,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            sequence=sequence,
            is_transactional=True,
        )
        request = produce(self.topic, bytes(16), {partition: batch}, transactional_id=self.topic)
        answer = self._connection.ask(request, ProduceResponse, self.versions.produce)
        code = ErrorCode(answer.responses[0].partition_responses[0].error_code)
        if code == ErrorCode.NONE:
            self._sequences[partition] = sequence + 1
        return code

    def add_offsets(self) -> ErrorCode:
        """NONE where the version has no such request."""
        version = self.versions.adding
        if version is None:
            return ErrorCode.NONE
        request = AddOffsetsToTxnRequest(
            transactional_id=self.topic,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            group_id=self.topic,
        )
        return ErrorCode(self._connection.ask(request, AddOffsetsToTxnResponse, version).error_code)

    def commit_offset(self, offset: int) -> ErrorCode:
        """Of partition 0."""
        request, version = self.committing(offset), self.versions.offset_commit
        answer = self._connection.ask(request, TxnOffsetCommitResponse, version)
        return ErrorCode(answer.topics[0].partitions[0].error_code)

    def end(self, *, committed: bool) -> ErrorCode:
        request = self.ending(committed=committed)
        answer = self._connection.ask(request, EndTxnResponse, self.versions.end_txn)
        if answer.error_code == ErrorCode.NONE and self.versions.transaction == 2:
            self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
            self._sequences.clear()
        return ErrorCode(answer.error_code)

    def adding(self, partition: int) -> AddPartitionsToTxnRequest:
        """The request itself, to be sent and lost sight of."""
        return AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.topic,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=self.topic, partitions=[partition])],
        )

    def committing(self, offset: int) -> TxnOffsetCommitRequest:
        partition = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        return TxnOffsetCommitRequest(
            transactional_id=self.topic,
            group_id=self.topic,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            topics=[TxnOffsetCommitRequestTopic(name=self.topic, partitions=[partition])],
        )

    def ending(self, *, committed: bool) -> EndTxnRequest:
        return EndTxnRequest(
            transactional_id=self.topic,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            committed=committed,
        )
