"""KAFKA-17754: the end of one transaction arrives late, when the next one has begun.

The client asks for the end of its first transaction; the request lies in a stalled connection. The
client gives up, asks again on a new connection, is answered, and writes to the first of the two
partitions of its next transaction. Now the old request arrives. If it were served, the second
transaction would end in the middle: its first record committed, its second never.

The schedule is written out here once for each transaction version and for each request that may be
late; ``test_transaction_swarm`` meets it by dice.
"""

from dataclasses import dataclass, field

import pytest

from headwater.core_log.kernel.effects import Sender
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.create_topics import CreateTopicsResponse
from headwater.core_log.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from headwater.core_log.protocol.messages.fetch import FetchResponse
from headwater.core_log.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from headwater.core_log.protocol.messages.init_producer_id import InitProducerIdResponse
from headwater.core_log.protocol.messages.offset_fetch import OffsetFetchResponse
from headwater.core_log.protocol.messages.produce import ProduceResponse
from headwater.core_log.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest
from headwater.core_log.protocol.schema import Message
from headwater.core_log.testing import requests
from headwater.core_log.testing import transaction_requests as transactional
from headwater.core_log.testing.local_broker import LocalBroker, LocalConnection
from headwater.core_log.testing.network import Direction, Line, MemoryNetwork
from headwater.core_log.testing.transaction_requests import committed_records
from headwater.core_log.transactions.guard import Guard

ID = "copier"
TOPIC = "t"
GROUP = "g"


@dataclass
class Trace:
    """A client of one transaction version, its broker, and the connections it has had."""

    version: int
    network: MemoryNetwork = field(init=False)
    sender: Sender = field(init=False)
    line: Line = field(init=False)
    sequences: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        broker = LocalBroker()
        broker.start()
        self.network = MemoryNetwork(broker)
        client = broker.connect()
        client.ask(requests.create_topic(TOPIC, partitions=2), CreateTopicsResponse, version=7)
        for key_type, key in ((0, GROUP), (1, ID)):
            find = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
            client.ask(find, FindCoordinatorResponse, version=4)
        self.network.advance(100)
        self.line = self.network.connect()
        self.initialize()

    @property
    def observer(self) -> LocalConnection:
        """Somebody else's connection."""
        return self.network.broker.connect()

    def initialize(self) -> None:
        """Become the transactional id's producer."""
        answer = self.ask(transactional.init_producer(ID))
        assert isinstance(answer, InitProducerIdResponse)
        assert answer.error_code == ErrorCode.NONE
        self.sender = Sender(producer_id=answer.producer_id, producer_epoch=answer.producer_epoch)
        self.sequences.clear()

    def send(self, request: Message) -> list[Message]:
        """Send on the newest connection; the list gets the answer when it comes."""
        answers: list[Message] = []
        versions = transactional.VERSIONS_OF[type(request)][self.version]
        self.line.send(request, version=versions[1], on_answer=answers.append)
        return answers

    def ask(self, request: Message) -> Message:
        """Send and let the broker answer."""
        answers = self.send(request)
        self.network.advance(500)
        assert answers, f"{type(request).__name__} is not answered"
        return answers[0]

    def ask_late(self, request: Message) -> Line:
        """Send into a stalled connection, give it up, and go on with a new one."""
        late = self.line
        late.stall(Direction.TO_BROKER)
        self.send(request)
        late.abandon()
        self.line = self.network.connect()
        return late

    def arrive(self, late: Line) -> None:
        """What was under way arrives."""
        late.resume(Direction.TO_BROKER)
        self.network.advance(500)
        assert not late.is_delivering

    def add(self, partition: int) -> None:
        """Name a partition, as clients of version 1 have to."""
        if self.version == 1:
            self.ask(transactional.add_partitions(ID, self.sender, {TOPIC: [partition]}))

    def write(self, partition: int, value: str) -> ErrorCode:
        """Append one record within the transaction."""
        sequence = self.sequences.get(partition, 0)
        batch = requests.batch_of(
            [value],
            now_ms=self.network.broker.clock.now_ms(),
            producer_id=self.sender.producer_id,
            producer_epoch=self.sender.producer_epoch,
            sequence=sequence,
            is_transactional=True,
        )
        topic_id = self.network.broker.running.image.topics[TOPIC].topic_id
        request = requests.produce(TOPIC, topic_id, {partition: batch}, transactional_id=ID)
        answer = self.ask(request)
        assert isinstance(answer, ProduceResponse)
        code = ErrorCode(answer.responses[0].partition_responses[0].error_code)
        if code == ErrorCode.NONE:
            self.sequences[partition] = sequence + 1
        return code

    def commit_offset(self, offset: int) -> TxnOffsetCommitRequest:
        """The request that takes a position of the group into the transaction."""
        return transactional.commit_offsets_in_transaction(
            ID, self.sender, GROUP, TOPIC, {0: offset}
        )

    def ending(self, *, commit: bool) -> EndTxnRequest:
        """The request that ends the transaction."""
        return transactional.end_transaction(ID, self.sender, commit=commit)

    def end(self, *, commit: bool) -> ErrorCode:
        """End the transaction; version 2 goes on with the epoch it is given."""
        answer = self.ask(self.ending(commit=commit))
        assert isinstance(answer, EndTxnResponse)
        if self.version == 2 and answer.error_code == ErrorCode.NONE:
            self.sender = Sender(
                producer_id=answer.producer_id, producer_epoch=answer.producer_epoch
            )
            self.sequences.clear()
        return ErrorCode(answer.error_code)

    def committed(self) -> list[str]:
        """What a fresh ``read_committed`` reader sees, of both partitions."""
        topic_id = self.network.broker.running.image.topics[TOPIC].topic_id
        seen: list[str] = []
        for partition in (0, 1):
            fetch = requests.fetch(TOPIC, topic_id, {partition: 0}, read_committed=True)
            answer = self.observer.ask(fetch, FetchResponse, version=12)
            data = answer.responses[0].partitions[0]
            records = committed_records(data.records, data.aborted_transactions)
            seen += [bytes(record.value or b"").decode() for record in records]
        return seen

    def position(self) -> int:
        """What the group has committed."""
        request = requests.fetch_offsets(GROUP, TOPIC, [0], version=7)
        answer = self.observer.ask(request, OffsetFetchResponse, version=7)
        return answer.topics[0].partitions[0].committed_offset


VERSIONS = pytest.mark.parametrize("version", [1, 2])


@VERSIONS
@pytest.mark.parametrize("commit", [True, False])
def test_a_late_end_does_not_touch_the_next_transaction(version: int, *, commit: bool) -> None:
    """KAFKA-17754 itself: fenced, and both transactions whole."""
    trace = Trace(version)
    trace.add(0)
    assert trace.write(0, "first") == ErrorCode.NONE
    late = trace.ask_late(trace.ending(commit=commit))
    assert trace.end(commit=commit) == ErrorCode.NONE
    trace.add(0)
    assert trace.write(0, "second, here") == ErrorCode.NONE
    trace.arrive(late)
    first = ["first"] if commit else []
    assert trace.committed() == first, "the next transaction is not decided yet"
    trace.add(1)
    assert trace.write(1, "second, there") == ErrorCode.NONE
    assert trace.end(commit=not commit) == ErrorCode.NONE
    second = [] if commit else ["second, here", "second, there"]
    assert trace.committed() == [*first, *second]


@pytest.mark.patches_code
def test_without_the_guard_a_late_end_tears_a_transaction_of_version_1(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So the schedule is the one that it is about."""
    monkeypatch.setattr(Guard, "admits", lambda *_: True)
    trace = Trace(1)
    trace.add(0)
    trace.write(0, "first")
    late = trace.ask_late(trace.ending(commit=True))
    trace.end(commit=True)
    trace.add(0)
    trace.write(0, "second, here")
    trace.arrive(late)
    assert trace.committed() == ["first", "second, here"]
    trace.write(1, "second, there")
    assert trace.end(commit=False) == ErrorCode.INVALID_TXN_STATE


def test_a_late_partition_does_not_begin_a_transaction_that_nobody_ends() -> None:
    """Version 1 only; the partition would have to wait for the time-out, the client be fenced."""
    trace = Trace(1)
    late = trace.ask_late(transactional.add_partitions(ID, trace.sender, {TOPIC: [0]}))
    trace.add(0)
    assert trace.write(0, "first") == ErrorCode.NONE
    assert trace.end(commit=True) == ErrorCode.NONE
    trace.arrive(late)
    trace.network.advance(120_000)  # beyond the transaction's time-out
    trace.add(1)
    assert trace.write(1, "second") == ErrorCode.NONE
    assert trace.end(commit=True) == ErrorCode.NONE
    assert trace.committed() == ["first", "second"]


def test_late_offsets_do_not_begin_a_transaction_that_nobody_ends() -> None:
    trace = Trace(1)
    late = trace.ask_late(transactional.add_offsets(ID, trace.sender, GROUP))
    trace.ask(transactional.add_offsets(ID, trace.sender, GROUP))
    trace.ask(trace.commit_offset(5))
    assert trace.end(commit=True) == ErrorCode.NONE
    trace.arrive(late)
    trace.network.advance(120_000)
    trace.add(1)
    assert trace.write(1, "second") == ErrorCode.NONE
    assert trace.end(commit=True) == ErrorCode.NONE
    assert trace.position() == 5


@VERSIONS
def test_a_late_position_does_not_enter_the_next_transaction(version: int) -> None:
    """The first transaction's position, sent twice, would replace the second one's own."""
    trace = Trace(version)
    if version == 1:
        trace.ask(transactional.add_offsets(ID, trace.sender, GROUP))
    late = trace.ask_late(trace.commit_offset(10))
    trace.ask(trace.commit_offset(10))
    assert trace.end(commit=True) == ErrorCode.NONE
    assert trace.position() == 10
    if version == 1:
        trace.ask(transactional.add_offsets(ID, trace.sender, GROUP))
    trace.ask(trace.commit_offset(20))
    trace.arrive(late)
    assert trace.end(commit=True) == ErrorCode.NONE
    assert trace.position() == 20


@VERSIONS
def test_a_late_record_does_not_enter_the_next_transaction(version: int) -> None:
    """It was sent again and acknowledged, so its sequence numbers, or its epoch, are known."""
    trace = Trace(version)
    trace.add(0)
    batch = requests.batch_of(
        ["first"],
        now_ms=trace.network.broker.clock.now_ms(),
        producer_id=trace.sender.producer_id,
        producer_epoch=trace.sender.producer_epoch,
        is_transactional=True,
    )
    topic_id = trace.network.broker.running.image.topics[TOPIC].topic_id
    late = trace.ask_late(requests.produce(TOPIC, topic_id, {0: batch}, transactional_id=ID))
    assert trace.write(0, "first") == ErrorCode.NONE
    assert trace.end(commit=True) == ErrorCode.NONE
    trace.add(0)
    assert trace.write(0, "second") == ErrorCode.NONE
    trace.arrive(late)
    assert trace.end(commit=True) == ErrorCode.NONE
    assert trace.committed() == ["first", "second"]
