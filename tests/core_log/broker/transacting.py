"""A transactional producer over one connection, in either version of the protocol, step by step."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from headwater.core_log.kernel.effects import Sender
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnResponse
from headwater.core_log.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnResponse
from headwater.core_log.protocol.messages.end_txn import EndTxnResponse
from headwater.core_log.protocol.messages.fetch import FetchResponse, PartitionData
from headwater.core_log.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from headwater.core_log.protocol.messages.init_producer_id import InitProducerIdResponse
from headwater.core_log.protocol.messages.produce import PartitionProduceResponse, ProduceResponse
from headwater.core_log.protocol.messages.txn_offset_commit import TxnOffsetCommitResponse
from headwater.core_log.protocol.schema import Message
from headwater.core_log.records.batch import scan
from headwater.core_log.testing import requests
from headwater.core_log.testing import transaction_requests as transactional
from headwater.core_log.testing.local_broker import LocalConnection

from .world import FETCH, TOPIC, World

M = TypeVar("M", bound=Message)
ID = "copy"
FEW: Mapping[str, str] = {
    "transaction.state.log.num.partitions": "1",
    "offsets.topic.num.partitions": "1",
}
"""One shard of each kind: tests that load them again read fifty times less."""


@dataclass
class Transactor:
    """One producer; ``version`` is the transaction version it speaks."""

    world: World
    version: int = 2
    transactional_id: str = ID
    sender: Sender = transactional.NOBODY
    sequences: dict[tuple[str, int], int] = field(default_factory=dict)
    connection: LocalConnection | None = None

    @property
    def client(self) -> LocalConnection:
        if self.connection is None:
            self.connection = self.world.broker.connect()
        return self.connection

    def initialize(self, *, timeout_ms: int = 60_000) -> int:
        """Find the coordinator and take an identity; the error code."""
        find = FindCoordinatorRequest(key_type=1, coordinator_keys=[self.transactional_id])
        found = self.client.ask(find, FindCoordinatorResponse, version=6).coordinators[0]
        assert found.error_code == ErrorCode.NONE, found
        request = transactional.init_producer(self.transactional_id, timeout_ms=timeout_ms)
        answer = self.client.ask(request, InitProducerIdResponse, version=5)
        if answer.error_code == ErrorCode.NONE:
            self.sender = Sender(
                producer_id=answer.producer_id, producer_epoch=answer.producer_epoch
            )
            self.sequences.clear()
        return answer.error_code

    def add(self, *indexes: int, topic: str = TOPIC) -> int:
        """AddPartitionsToTxn as a client of version 1; the first error code."""
        answer = self.client.ask(
            transactional.add_partitions(self.transactional_id, self.sender, {topic: indexes}),
            AddPartitionsToTxnResponse,
            version=3,
        )
        results = answer.results_by_topic_v3_and_below[0].results_by_partition
        return next((r.partition_error_code for r in results if r.partition_error_code), 0)

    def sending(
        self, *values: str, index: int = 0, topic: str = TOPIC, api_version: int | None = None
    ) -> Callable[[], Message | None]:
        """Send a batch without waiting."""
        sequence = self.sequences.get((topic, index), 0)
        self.sequences[topic, index] = sequence + len(values)
        batch = requests.batch_of(
            values,
            now_ms=self.world.now_ms,
            producer_id=self.sender.producer_id,
            producer_epoch=self.sender.producer_epoch,
            sequence=sequence,
            is_transactional=True,
        )
        request = requests.produce(
            topic,
            self.world.topic_id(topic),
            {index: batch},
            transactional_id=self.transactional_id,
        )
        newest = 13 if self.version == 2 else 11
        return self.client.send(request, version=newest if api_version is None else api_version)

    def send(
        self, *values: str, index: int = 0, topic: str = TOPIC, api_version: int | None = None
    ) -> PartitionProduceResponse:
        """Send a batch; its answer."""
        answer = self.sending(*values, index=index, topic=topic, api_version=api_version)
        self.world.broker.settle()
        return produced(answer())

    def ending(self, *, commit: bool) -> Callable[[], Message | None]:
        """Send EndTxn without waiting."""
        request = transactional.end_transaction(self.transactional_id, self.sender, commit=commit)
        return self.client.send(request, version=5 if self.version == 2 else 3)

    def ended(self, answer: Message | None) -> int:
        """Take over what EndTxn answered; the error code."""
        assert isinstance(answer, EndTxnResponse)
        if answer.error_code == ErrorCode.NONE and self.version == 2:
            self.sender = Sender(
                producer_id=answer.producer_id, producer_epoch=answer.producer_epoch
            )
            self.sequences.clear()
        return answer.error_code

    def end(self, *, commit: bool = True) -> int:
        """End the transaction; the error code."""
        answer = self.ending(commit=commit)
        self.world.broker.settle()
        return self.ended(answer())

    def add_offsets(self, group_id: str) -> int:
        """AddOffsetsToTxn, of version 1; the error code."""
        request = transactional.add_offsets(self.transactional_id, self.sender, group_id)
        return self.client.ask(request, AddOffsetsToTxnResponse, version=3).error_code

    def commit_offset(self, group_id: str, offset: int) -> int:
        """TxnOffsetCommit for partition 0 of the world's topic; the error code."""
        request = transactional.commit_offsets_in_transaction(
            self.transactional_id, self.sender, group_id, TOPIC, {0: offset}
        )
        answer = self.client.ask(
            request, TxnOffsetCommitResponse, version=5 if self.version == 2 else 3
        )
        return answer.topics[0].partitions[0].error_code


def produced(answer: Message | None) -> PartitionProduceResponse:
    """The only partition of a Produce answer."""
    assert isinstance(answer, ProduceResponse)
    return answer.responses[0].partition_responses[0]


def committed(world: World, *, topic: str = TOPIC, index: int = 0) -> list[str]:
    """What a new ``read_committed`` reader of a partition gets."""
    values: list[str] = []
    offset = 0
    while True:
        request = requests.fetch(topic, world.topic_id(topic), {index: offset}, read_committed=True)
        data = world.ask(request, FetchResponse, FETCH).responses[0].partitions[0]
        values += [
            (record.value or b"").decode()
            for record in transactional.committed_records(data.records, data.aborted_transactions)
            if record.offset >= offset
        ]
        following = _after(data)
        if following is None:
            return values
        offset = following


def _after(data: PartitionData) -> int | None:
    """Where the next fetch goes on; None when there was nothing."""
    batches = list(scan(data.records or b"", verify_crc=True))
    return batches[-1].next_offset if batches else None
