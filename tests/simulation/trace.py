"""One transactional client and its broker, step by step: for schedules that are written out."""

from dataclasses import dataclass, field

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
from headwater.core_log.testing.memory_fs import MemoryFileSystem
from headwater.core_log.testing.network import Direction, Line, MemoryNetwork
from headwater.core_log.testing.transaction_requests import committed_records

ID = "copier"
TOPIC = "t"
GROUP = "g"


@dataclass
class Trace:
    """A client of one transaction version, its broker, and the connections it has had."""

    version: int
    seed: int = 0
    network: MemoryNetwork = field(init=False)
    sender: Sender = field(init=False)
    line: Line = field(init=False)
    sequences: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        broker = LocalBroker(fs=MemoryFileSystem(seed=self.seed))
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
