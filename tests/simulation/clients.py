"""The clients of the simulation: each has the manners of a real one, and writes down what it saw.

A client acts when it is told to, has answers called back, and loses its connection at any time.
What an answer contradicts (an acknowledged offset that is gone, a partition with two owners) is an
anomaly; what only the whole history can contradict goes into the history.
"""

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeVar

from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from headwater.core_log.protocol.messages.create_topics import CreateTopicsResponse
from headwater.core_log.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from headwater.core_log.protocol.messages.delete_topics import DeleteTopicsResponse
from headwater.core_log.protocol.messages.fetch import FetchResponse
from headwater.core_log.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from headwater.core_log.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from headwater.core_log.protocol.messages.incremental_alter_configs import (
    IncrementalAlterConfigsResponse,
)
from headwater.core_log.protocol.messages.init_producer_id import InitProducerIdResponse
from headwater.core_log.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from headwater.core_log.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
)
from headwater.core_log.protocol.messages.offset_commit import OffsetCommitResponse
from headwater.core_log.protocol.messages.offset_fetch import OffsetFetchResponse
from headwater.core_log.protocol.messages.produce import ProduceResponse
from headwater.core_log.protocol.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from headwater.core_log.protocol.schema import Message
from headwater.core_log.testing import requests
from headwater.core_log.testing.history import Acked, Event, Poll, Send
from headwater.core_log.testing.network import ConnectionRefused, Line, MemoryNetwork

M = TypeVar("M", bound=Message)

PATIENCE_MS: Final = 20_000
"""When a client takes a connection that does not answer for dead."""
ACCEPTED_IN_FLIGHT: Final = 5
"""Batches per partition that an idempotent producer may send ahead."""
MAIN: Final = "main"
TRIMMED: Final = "trimmed"


class World(Protocol):
    """What clients know of the run they are part of."""

    history: list[Event]
    network: MemoryNetwork
    partition_count: int
    committed: dict[tuple[str, int], int]
    owners: dict[tuple[str, int, int], str]
    producer_ids: set[int]
    is_draining: bool
    restarts: int

    @property
    def was_full(self) -> bool: ...
    @property
    def dice(self) -> random.Random: ...
    def topic_id(self, topic: str) -> bytes: ...
    def anomaly(self, what: str) -> None: ...


class Estate(World, Protocol):
    """A world whose topics come and go, and one whose beginning is deleted."""

    topics: dict[str, bool | None]
    trimmed_below: int
    trimmed_end: int


class Client:
    """A connection that is made again when it is lost, and one question at a time."""

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.name = name
        self.line: Line | None = None
        self.waiting = 0
        self.asked_ms = 0
        self.patience_ms = PATIENCE_MS

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.waiting} answers awaited>"

    @property
    def now_ms(self) -> int:
        return self.world.network.broker.clock.monotonic_ms()

    @property
    def is_done(self) -> bool:
        """Nothing is left to be answered when the run ends."""
        return True

    @property
    def is_ready(self) -> bool:
        """It need not wait for an answer."""
        return not self.waiting or self.now_ms - self.asked_ms > self.patience_ms

    def act(self) -> None:
        """Do the next thing: connect, give up on a dead connection, or ask."""
        if self.line is None:
            try:
                self.line = self.world.network.connect(on_lost=self._on_lost)
            except ConnectionRefused:
                return
        if not self.waiting:
            self.next()
        elif self.now_ms - self.asked_ms > self.patience_ms:
            self.give_up()
        else:
            self.meanwhile()

    def give_up(self) -> None:
        """The connection does not answer: break it."""
        assert self.line is not None
        self.line.reset()

    def ask(
        self,
        request: Message,
        response_class: type[M],
        version: int,
        on_answer: Callable[[M], None],
    ) -> None:
        assert self.line is not None
        self.waiting += 1
        self.asked_ms = self.now_ms

        def answered(response: Message) -> None:
            assert isinstance(response, response_class)
            self.waiting -= 1
            on_answer(response)

        self.line.send(request, version=version, on_answer=answered)

    def next(self) -> None:
        """Ask the next question; called with a connection and nothing awaited."""

    def meanwhile(self) -> None:
        """Do something while an answer is awaited."""

    def lost(self) -> None:
        """The connection is gone, and with it what was awaited."""

    def _on_lost(self) -> None:
        self.line = None
        self.waiting = 0
        self.lost()


@dataclass(eq=False)
class Batch:
    partition: int
    values: list[str]
    sequence: int
    life: int
    """Counts the broker's starts: in which one it was first sent."""


class Producer(Client):
    """Sends records to the main topic; an idempotent one until each is acknowledged."""

    def __init__(self, world: World, name: str, *, is_idempotent: bool, acks: int = -1) -> None:
        super().__init__(world, name)
        self.is_idempotent = is_idempotent
        self.acks = acks
        self.producer_id = -1
        self.sequences: dict[int, int] = {}
        self.unacked: deque[Batch] = deque()
        self.resend = False
        self.failed: set[int] = set()
        self.sent_count = 0
        self.lives = 0

    @property
    def is_done(self) -> bool:
        return not self.unacked

    def next(self) -> None:
        if self.is_idempotent and self.producer_id < 0:
            self.ask(requests.new_producer_id(), InitProducerIdResponse, 4, self._identified)
        elif self.resend:
            self.resend = False
            self.failed.clear()
            for batch in list(self.unacked):
                self._send(batch)
        elif not self.world.is_draining:
            self._send_new()

    def meanwhile(self) -> None:
        ready = self.producer_id >= 0 or not self.is_idempotent
        if ready and not (self.resend or self.failed or self.world.is_draining):
            self._send_new()

    def lost(self) -> None:
        self.failed.clear()
        if self.is_idempotent:
            self.resend = bool(self.unacked)
        else:
            self.unacked.clear()  # nobody knows what became of them

    def _identified(self, response: InitProducerIdResponse) -> None:
        if response.error_code == ErrorCode.NONE:
            if response.producer_id in self.world.producer_ids:
                self.world.anomaly(f"producer id {response.producer_id} was given twice")
            self.world.producer_ids.add(response.producer_id)
            self.producer_id = response.producer_id

    def _send_new(self) -> None:
        world = self.world
        partition = world.dice.randrange(world.partition_count)
        ahead = sum(batch.partition == partition for batch in self.unacked)
        if ahead >= ACCEPTED_IN_FLIGHT:
            return
        values = []
        for _ in range(world.dice.randrange(1, 4)):
            values.append(f"{self.process}:{self.sent_count}")
            self.sent_count += 1
            world.history.append(
                Send(process=self.process, value=values[-1], idempotent=self.is_idempotent)
            )
        sequence = self.sequences.get(partition, 0)
        self.sequences[partition] = sequence + len(values)
        batch = Batch(partition, values, sequence, world.restarts)
        self.unacked.append(batch)
        self._send(batch)

    def _send(self, batch: Batch) -> None:
        data = requests.batch_of(
            batch.values,
            now_ms=self.world.network.broker.clock.now_ms(),
            producer_id=self.producer_id,
            sequence=batch.sequence,
        )
        request = requests.produce(
            MAIN, self.world.topic_id(MAIN), {batch.partition: data}, acks=self.acks
        )
        version = self.world.dice.choice((9, 13))
        self.ask(request, ProduceResponse, version, lambda answer: self._answered(batch, answer))

    def _answered(self, batch: Batch, response: ProduceResponse) -> None:
        answer = response.responses[0].partition_responses[0]
        code = answer.error_code
        if code == ErrorCode.NONE:
            self.unacked.remove(batch)
            if self.acks == -1:
                self.world.history.extend(
                    Acked(
                        value=value,
                        topic=MAIN,
                        partition=batch.partition,
                        offset=answer.base_offset + index,
                    )
                    for index, value in enumerate(batch.values)
                )
        elif not self.is_idempotent:
            self.unacked.remove(batch)
        else:
            expected = {
                ErrorCode.KAFKA_STORAGE_ERROR,
                ErrorCode.REQUEST_TIMED_OUT,
                ErrorCode.NOT_LEADER_OR_FOLLOWER,
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            }
            if batch.partition in self.failed:
                expected.add(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)  # the one before it failed
            forgotten = batch.life < self.world.restarts or self.world.was_full
            if code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and forgotten:
                self._start_over()
                return
            if code not in expected:
                self.world.anomaly(
                    f"{self.name} at {batch} got {ErrorCode(code).name}: {answer.error_message}"
                )
            self.failed.add(batch.partition)
            self.resend = True

    def _start_over(self) -> None:
        """Go on under a new name and id: nobody will ever know what became of these batches.

        A producer snapshot, in Kafka's format, holds the last batch of each producer only. Older
        ones are not known any more when one had to be read, after a restart and after a full disk,
        and are refused when they are sent again. Besides, a partition that knows nothing of a
        producer takes any sequence: the second batch, when there was no space for the first.
        """
        self.unacked.clear()
        self.sequences.clear()
        self.failed.clear()
        self.resend = False
        self.producer_id = -1
        self.lives += 1
        assert self.line is not None
        self.line.reset()

    @property
    def process(self) -> str:
        return f"{self.name}.{self.lives}"


class Reader(Client):
    """Reads every partition of the main topic in order, each from where it was."""

    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name)
        self.positions: dict[int, int] = {}

    def next(self) -> None:
        world = self.world
        offsets = {index: self.positions.get(index, 0) for index in range(world.partition_count)}
        request = requests.fetch(
            MAIN,
            world.topic_id(MAIN),
            offsets,
            max_wait_ms=world.dice.choice((0, 10, 500)),
            min_bytes=world.dice.choice((1, 1, 500)),
            max_bytes=world.dice.choice((100, 2_000, 1_000_000)),
        )
        self.ask(request, FetchResponse, world.dice.choice((11, 12, 17)), self._answered)

    def _answered(self, response: FetchResponse) -> None:
        for data in response.responses[0].partitions:
            index = data.partition_index
            if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                self.world.anomaly(f"{self.name} stood at {self.positions} of {MAIN}-{index}, gone")
            position = self.positions.get(index, 0)
            records = [
                (MAIN, index, record.offset, (record.value or b"").decode())
                for record in requests.records_of(data.records)
                if record.offset >= position
            ]
            if records:
                self.positions[index] = records[-1][2] + 1
                self.world.history.append(
                    Poll(process=self.name, records=tuple(records), subscribed=False)
                )


class Trimmer(Client):
    """Appends to a topic of its own and deletes its beginning."""

    world: Estate

    def __init__(self, world: Estate, name: str) -> None:
        super().__init__(world, name)

    def next(self) -> None:
        world = self.world
        if world.is_draining:
            return
        if world.trimmed_end > world.trimmed_below and world.dice.randrange(2):
            offset = world.dice.randrange(world.trimmed_below, world.trimmed_end) + 1
            request = DeleteRecordsRequest(
                topics=[
                    DeleteRecordsTopic(
                        name=TRIMMED,
                        partitions=[DeleteRecordsPartition(partition_index=0, offset=offset)],
                    )
                ],
                timeout_ms=30_000,
            )
            self.ask(request, DeleteRecordsResponse, 2, self._trimmed)
        else:
            batch = requests.batch_of(
                ["x"] * world.dice.randrange(1, 4), now_ms=world.network.broker.clock.now_ms()
            )
            request_ = requests.produce(TRIMMED, world.topic_id(TRIMMED), {0: batch})
            self.ask(request_, ProduceResponse, 13, self._produced)

    def _trimmed(self, response: DeleteRecordsResponse) -> None:
        result = response.topics[0].partitions[0]
        if result.error_code == ErrorCode.NONE:
            self.world.trimmed_below = max(self.world.trimmed_below, result.low_watermark)

    def _produced(self, response: ProduceResponse) -> None:
        answer = response.responses[0].partition_responses[0]
        if answer.error_code == ErrorCode.NONE:
            self.world.trimmed_end = max(self.world.trimmed_end, answer.base_offset + 1)


class GroupClient(Client):
    """What members of groups and lone committers share: offsets that never go back."""

    def __init__(self, world: World, name: str, group_id: str) -> None:
        super().__init__(world, name)
        self.group_id = group_id
        self.knows_coordinator = False

    def next(self) -> None:
        if self.knows_coordinator:
            self.go_on()
        else:
            request = FindCoordinatorRequest(key_type=0, coordinator_keys=[self.group_id])
            self.ask(request, FindCoordinatorResponse, 4, self._found)

    def go_on(self) -> None:
        raise NotImplementedError

    def rejected(self, code: int) -> None:
        """A commit was refused with *code*."""

    def lost(self) -> None:
        self.knows_coordinator = False

    def commit(
        self, partition: int, offset: int, *, member_id: str = "", generation_id: int = -1
    ) -> None:
        request = requests.commit_offset(
            self.group_id,
            MAIN,
            self.world.topic_id(MAIN),
            {partition: offset},
            member_id=member_id,
            generation_id=generation_id,
        )

        def answered(response: OffsetCommitResponse) -> None:
            code = response.topics[0].partitions[0].error_code
            if code == ErrorCode.NONE:
                self._raise_floor(partition, offset)
            else:
                self.rejected(code)

        self.ask(request, OffsetCommitResponse, self.world.dice.choice((7, 9, 10)), answered)

    def look_up(self, partition: int, on_offset: Callable[[int], None]) -> None:
        """Ask for the committed offset and hold it to what was acknowledged before."""
        floor = self.world.committed.get((self.group_id, partition), -1)
        version = self.world.dice.choice((5, 8, 9))
        request = requests.fetch_offsets(self.group_id, MAIN, [partition], version=version)

        def answered(response: OffsetFetchResponse) -> None:
            group = response.groups[0] if version >= 8 else response
            if group.error_code != ErrorCode.NONE:
                self.rejected(group.error_code)
                return
            offset = group.topics[0].partitions[0].committed_offset
            if offset < floor:
                self.world.anomaly(
                    f"group {self.group_id} had committed {floor} in {MAIN}-{partition}, "
                    f"{self.name} is told {offset}"
                )
            self._raise_floor(partition, offset)
            on_offset(offset)

        self.ask(request, OffsetFetchResponse, version, answered)

    def _raise_floor(self, partition: int, offset: int) -> None:
        key = (self.group_id, partition)
        self.world.committed[key] = max(self.world.committed.get(key, -1), offset)

    def _found(self, response: FindCoordinatorResponse) -> None:
        self.knows_coordinator = response.coordinators[0].error_code == ErrorCode.NONE


class Committer(GroupClient):
    """Commits ever higher offsets without being a member, and looks them up."""

    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name, f"group-of-{name}")
        self.offset = 0

    def go_on(self) -> None:
        if self.world.dice.randrange(2):
            self.offset += 1
            self.commit(0, self.offset)
        else:
            self.look_up(0, lambda _: None)


@dataclass(slots=True)
class Membership:
    """Where a member is on its way into a generation."""

    member_id: str = ""
    generation_id: int = -1
    phase: str = "out"  # out → joined → stable
    members: list[str] = field(default_factory=list)
    owned: list[int] = field(default_factory=list)


class Member(GroupClient):
    """Joins, syncs, commits what it owns, leaves now and then."""

    def __init__(self, world: World, name: str, group_id: str) -> None:
        super().__init__(world, name, group_id)
        self.me = Membership()
        self.positions: dict[int, int] = {}

    def go_on(self) -> None:
        if self.me.phase == "out":
            self._join()
        elif self.me.phase == "joined":
            self._sync()
        else:
            self._work()

    def lost(self) -> None:
        super().lost()
        if self.me.phase == "joined":
            self.me.phase = "out"

    def rejected(self, code: int) -> None:
        match code:
            case ErrorCode.UNKNOWN_MEMBER_ID:
                self.me = Membership()
            case ErrorCode.ILLEGAL_GENERATION | ErrorCode.REBALANCE_IN_PROGRESS:
                self.me = Membership(member_id=self.me.member_id)
            case ErrorCode.NOT_COORDINATOR | ErrorCode.COORDINATOR_NOT_AVAILABLE:
                self.knows_coordinator = False
            case ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                pass
            case _:
                self.world.anomaly(f"{self.name} got {ErrorCode(code).name}")

    def _join(self) -> None:
        self.positions.clear()
        request = JoinGroupRequest(
            group_id=self.group_id,
            session_timeout_ms=10_000,
            rebalance_timeout_ms=5_000,
            member_id=self.me.member_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
        )
        self.ask(request, JoinGroupResponse, 7, self._joined)

    def _joined(self, response: JoinGroupResponse) -> None:
        if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.me.member_id = response.member_id
        elif response.error_code != ErrorCode.NONE:
            self.rejected(response.error_code)
        else:
            self.me = Membership(
                member_id=response.member_id,
                generation_id=response.generation_id,
                phase="joined",
                members=[member.member_id for member in response.members],
            )

    def _sync(self) -> None:
        count = self.world.partition_count
        members = self.me.members
        request = SyncGroupRequest(
            group_id=self.group_id,
            generation_id=self.me.generation_id,
            member_id=self.me.member_id,
            protocol_type="consumer",
            protocol_name="range",
            assignments=[
                SyncGroupRequestAssignment(
                    member_id=member, assignment=bytes(range(place, count, len(members)))
                )
                for place, member in enumerate(members)
            ],
        )
        self.ask(request, SyncGroupResponse, 5, self._synced)

    def _synced(self, response: SyncGroupResponse) -> None:
        if response.error_code != ErrorCode.NONE:
            self.rejected(response.error_code)
            return
        self.me.phase = "stable"
        self.me.owned = list(response.assignment)
        for partition in self.me.owned:
            key = (self.group_id, self.me.generation_id, partition)
            owner = self.world.owners.setdefault(key, self.me.member_id)
            if owner != self.me.member_id:
                self.world.anomaly(f"{key} belongs to {owner} and to {self.me.member_id}")

    def _work(self) -> None:
        me, dice = self.me, self.world.dice
        unknown = [partition for partition in me.owned if partition not in self.positions]
        if unknown:
            partition = unknown[0]
            self.look_up(
                partition, lambda offset: self.positions.__setitem__(partition, max(0, offset))
            )
        elif dice.randrange(40) == 0:
            request = LeaveGroupRequest(
                group_id=self.group_id, members=[MemberIdentity(member_id=me.member_id)]
            )
            self.ask(request, LeaveGroupResponse, 4, self._left)
        elif me.owned and dice.randrange(3):
            partition = dice.choice(me.owned)
            self.positions[partition] += dice.randrange(1, 4)
            self.commit(
                partition,
                self.positions[partition],
                member_id=me.member_id,
                generation_id=me.generation_id,
            )
        else:
            beat = HeartbeatRequest(
                group_id=self.group_id, generation_id=me.generation_id, member_id=me.member_id
            )
            self.ask(beat, HeartbeatResponse, 4, self._beaten)

    def _beaten(self, response: HeartbeatResponse) -> None:
        if response.error_code != ErrorCode.NONE:
            self.rejected(response.error_code)

    def _left(self, response: LeaveGroupResponse) -> None:
        if response.error_code == ErrorCode.NONE:
            self.me = Membership()
        else:
            self.rejected(response.error_code)


class Admin(Client):
    """Creates and deletes topics, grows the main one, changes configurations."""

    CONFIGS: Final = (
        {"segment.index.bytes": "16", "index.interval.bytes": "0"},
        {"segment.index.bytes": "64", "index.interval.bytes": "100"},
        {"segment.ms": "2000"},
        {"segment.ms": None},
        {"min.insync.replicas": "2"},
        {"message.timestamp.type": "LogAppendTime"},
        {"message.timestamp.type": None},
        {"compression.type": "gzip"},
        {"compression.type": "producer"},
    )

    world: Estate

    def __init__(self, world: Estate, name: str, *, partitions_max: int) -> None:
        super().__init__(world, name)
        self.partitions_max = partitions_max
        self.topic_count = 0
        self.undecided: str | None = None

    def lost(self) -> None:
        self.undecided = None  # which stays undecided in the world's book

    def next(self) -> None:
        world = self.world
        if world.is_draining:
            return
        choice = world.dice.randrange(10)
        existing = [name for name, exists in world.topics.items() if exists]
        if choice < 4:
            name = f"scratch-{self.topic_count}"
            self.topic_count += 1
            world.topics[name] = None
            request = requests.create_topic(name, partitions=world.dice.randrange(1, 3))
            self.ask(request, CreateTopicsResponse, 7, lambda r: self._created(name, r))
        elif choice < 7 and existing:
            name = world.dice.choice(existing)
            world.topics[name] = None
            deletion = requests.delete_topic(name, version=6)
            self.ask(deletion, DeleteTopicsResponse, 6, lambda r: self._deleted(name, r))
        elif choice < 8 and world.partition_count < self.partitions_max:
            count = world.partition_count + 1
            growth = CreatePartitionsRequest(
                topics=[CreatePartitionsTopic(name=MAIN, count=count, assignments=None)],
                timeout_ms=30_000,
            )
            self.ask(growth, CreatePartitionsResponse, 3, lambda r: self._grown(count, r))
        else:
            configs = world.dice.choice(self.CONFIGS)
            change = requests.alter_topic(MAIN, configs)
            self.ask(change, IncrementalAlterConfigsResponse, 1, lambda _: None)

    def _created(self, name: str, response: CreateTopicsResponse) -> None:
        if response.topics[0].error_code == ErrorCode.NONE:
            self.world.topics[name] = True

    def _deleted(self, name: str, response: DeleteTopicsResponse) -> None:
        if response.responses[0].error_code == ErrorCode.NONE:
            self.world.topics[name] = False

    def _grown(self, count: int, response: CreatePartitionsResponse) -> None:
        known = (ErrorCode.NONE, ErrorCode.INVALID_PARTITIONS)  # the second: it had grown before
        if response.results[0].error_code in known:
            self.world.partition_count = max(self.world.partition_count, count)
