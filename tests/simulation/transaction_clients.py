"""Clients that use transactions, and readers that honour them."""

from typing import Final

from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.fetch import FetchResponse, PartitionData
from headwater.core_log.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from headwater.core_log.protocol.messages.offset_fetch import OffsetFetchResponse
from headwater.core_log.records.batch import scan
from headwater.core_log.testing import requests
from headwater.core_log.testing.history import OffsetsFetched, Poll
from headwater.core_log.testing.transaction_requests import committed_records

from .clients import MAIN, PATIENCE_MS, Client, Member, Producer
from .ledger import Entry
from .transacting import LATEST, Append, Bank, Engine, Offsets

LEDGER: Final = "ledger"
"""What transactors write."""
COPIES: Final = "copies"
"""What workers make of the main topic."""
KEYS: Final = 5
"""In the compacted topic; few, so that most records are superseded."""
FEED_RECORDS: Final = 20
NAP_MS: Final = 40_000
"""Longer than a member's session, shorter than most transactions' time-outs."""
BATCH_RECORDS_MAX: Final = 4
"""Inputs that a worker takes into one transaction."""


class Impatient(Client):
    """Gives up soon, and what it has sent may arrive all the same."""

    def give_up(self) -> None:
        assert self.line is not None
        self.line.abandon()
        self._on_lost()


class Transactor(Impatient):
    """Writes to several partitions in transactions, commits, aborts, dies."""

    world: Bank

    def __init__(
        self,
        world: Bank,
        name: str,
        transactional_id: str,
        *,
        version: int,
        timeout_ms: int,
        patience_ms: int,
        deaths: int,
        is_shared: bool = False,
    ) -> None:
        super().__init__(world, name)
        self.patience_ms = patience_ms
        self.engine = Engine(
            self,
            world,
            transactional_id,
            version=version,
            timeout_ms=timeout_ms,
            is_shared=is_shared,
        )
        self.is_dead = False
        self._deaths = deaths
        self._count = 0

    @property
    def is_done(self) -> bool:
        return self.is_dead or self.engine.is_idle

    def act(self) -> None:
        if self.is_dead:
            return
        if self.world.dice.randrange(1000) < self._deaths and not self.world.is_draining:
            self.is_dead = self.world.dice.randrange(4) == 0
            self.engine.die()
            return
        super().act()

    def give_up(self) -> None:
        super().give_up()
        if self.world.dice.randrange(4) == 0:
            self.engine.give_up_append()

    def next(self) -> None:
        if not self.engine.turn() and not self.world.is_draining:
            self._begin()

    def _begin(self) -> None:
        dice = self.world.dice
        appends = [self._append(LEDGER) for _ in range(dice.randrange(1, 4))]
        if dice.randrange(2):
            appends.insert(dice.randrange(len(appends) + 1), self._append(LATEST))
        self.engine.begin(appends, commit=dice.randrange(10) < 7)

    def _append(self, topic: str) -> Append:
        dice = self.world.dice
        entries: list[Entry] = []
        for _ in range(dice.randrange(1, 3)):
            self._count += 1
            value = f"{self.name}:{self._count}"
            is_tombstone = topic == LATEST and dice.randrange(5) == 0
            key = f"k{dice.randrange(KEYS)}".encode()
            entries.append((key, None if is_tombstone else value))
        return Append(topic, dice.randrange(self.world.partition_count), entries)


class Worker(Impatient, Member):
    """A member of a group that copies its partitions, with its position in the transaction.

    After a rebalance it may go on with what it has begun, as a member that does not know yet: the
    group has to refuse its offsets (KIP-447).
    """

    world: Bank

    def __init__(
        self,
        world: Bank,
        name: str,
        group_id: str,
        *,
        version: int,
        timeout_ms: int,
        patience_ms: int,
        deaths: int,
        naps: int,
    ) -> None:
        super().__init__(world, name, group_id)
        self._patience_ms = patience_ms
        self.engine = Engine(
            self,
            world,
            f"id-of-{name}",
            version=version,
            timeout_ms=timeout_ms,
            on_end=self._ended,
        )
        self._deaths = deaths
        self._naps = naps
        self._asleep_until_ms = 0
        self._copied: dict[int, int] = {}
        """Where the partitions go on once the transaction at hand is committed."""
        self._count = 0

    @property
    def is_done(self) -> bool:
        world = self.world
        ends = world.network.broker.running.partitions
        return self.engine.is_idle and all(
            max(0, world.committed.get((self.group_id, index), 0)) >= hosted.high_watermark
            for index in range(world.partition_count)
            if (hosted := ends.by_name(MAIN, index)) is not None
        )

    def act(self) -> None:
        if self.world.dice.randrange(1000) < self._deaths and not self.world.is_draining:
            self.engine.die()
            return
        if self.now_ms < self._asleep_until_ms and not self.world.is_draining:
            return
        if self.world.dice.randrange(1000) < self._naps:
            self._asleep_until_ms = self.now_ms + NAP_MS
        # A group lets its members wait for each other.
        self.patience_ms = self._patience_ms if self.me.phase == "stable" else PATIENCE_MS
        super().act()

    def go_on(self) -> None:
        if not self.engine.is_idle and self.world.dice.randrange(4):
            self.engine.turn()
        elif self.me.phase == "stable" and self.world.dice.randrange(4) == 0:
            self._beat()
        elif not self.engine.is_idle or not self.engine.is_identified:
            self.engine.turn()
        else:
            super().go_on()

    def lost(self) -> None:
        knows_coordinator = self.knows_coordinator
        super().lost()
        self.knows_coordinator = knows_coordinator  # where there is one broker it stays

    def _beat(self) -> None:
        beat = HeartbeatRequest(
            group_id=self.group_id,
            generation_id=self.me.generation_id,
            member_id=self.me.member_id,
        )
        self.ask(beat, HeartbeatResponse, 4, self._beaten)

    def _work(self) -> None:
        if not self.me.owned:
            self._beat()
            return
        partition = self.world.dice.choice(self.me.owned)
        if partition in self.positions:
            self._read(partition)
        else:
            self._look_up_stable(partition)

    def _look_up_stable(self, partition: int) -> None:
        """Where to go on; nobody knows while another member's transaction is open there."""
        floor = self.world.committed.get((self.group_id, partition), -1)
        version = self.world.dice.choice((7, 8, 9))
        request = requests.fetch_offsets(self.group_id, MAIN, [partition], version=version)
        request.require_stable = True
        generation_id = self.me.generation_id

        def answered(response: OffsetFetchResponse) -> None:
            group = response.groups[0] if version >= 8 else response
            if group.error_code != ErrorCode.NONE:
                self.rejected(group.error_code)
                return
            answer = group.topics[0].partitions[0]
            if answer.error_code == ErrorCode.UNSTABLE_OFFSET_COMMIT:
                return
            offset = answer.committed_offset
            self.world.note(
                OffsetsFetched(
                    process=self.name,
                    group=self.group_id,
                    offsets=((MAIN, partition, offset),),
                    stable=True,
                )
            )
            if offset < floor:
                self.world.anomaly(
                    f"group {self.group_id} had committed {floor} in {MAIN}-{partition}, "
                    f"{self.name} is told {offset}"
                )
            self._raise_floor(partition, offset)
            if self.me.generation_id == generation_id and self.me.phase == "stable":
                self.positions[partition] = max(0, offset)

        self.ask(request, OffsetFetchResponse, version, answered)

    def _read(self, partition: int) -> None:
        position = self.positions[partition]
        request = requests.fetch(
            MAIN, self.world.topic_id(MAIN), {partition: position}, read_committed=True
        )

        def answered(response: FetchResponse) -> None:
            data = response.responses[0].partitions[0]
            records = [
                record
                for record in committed_records(data.records, data.aborted_transactions)
                if record.offset >= position
            ][: BATCH_RECORDS_MAX * (5 if self.world.is_draining else 1)]
            if records and self.engine.is_idle and self.me.phase == "stable":
                values = [bytes(record.value or b"").decode() for record in records]
                self._copy(partition, values, records[-1].offset + 1)

        version = self.world.dice.choice((11, 12, 17))
        self.ask(request, FetchResponse, version, answered)

    def _copy(self, partition: int, values: list[str], next_offset: int) -> None:
        world, dice = self.world, self.world.dice
        self._copied = {partition: next_offset}
        sources: dict[str, str] = {}
        appends = []
        for value in values:
            self._count += 1
            copy = f"{value}>{self.name}:{self._count}"
            sources[copy] = value
            appends.append(Append(COPIES, dice.randrange(world.partition_count), [(b"k", copy)]))
        offsets = Offsets(
            group_id=self.group_id,
            topic=MAIN,
            positions=self._copied,
            member_id=self.me.member_id,
            generation_id=self.me.generation_id,
        )
        self.engine.begin(appends, commit=dice.randrange(10) > 0, offsets=offsets, sources=sources)

    def _ended(self, committed: bool | None) -> None:  # noqa: FBT001 - as Engine has it
        for partition, offset in self._copied.items():
            if committed:
                self._raise_floor(partition, offset)
                self.positions[partition] = offset
            else:
                self.positions.pop(partition, None)
        self._copied = {}


class Feeder(Producer):
    """Keeps the workers' topic a little ahead of them."""

    def _send_new(self) -> None:
        copied = sum(max(0, offset) for offset in self.world.committed.values())
        if self.sent_count - copied < FEED_RECORDS:
            super()._send_new()


class IsolatedReader(Client):
    """Reads the ledger and the copies in one isolation level, partition by partition in order."""

    world: Bank

    def __init__(self, world: Bank, name: str, *, read_committed: bool) -> None:
        super().__init__(world, name)
        self.read_committed = read_committed
        self.positions: dict[tuple[str, int], int] = {}

    def next(self) -> None:
        world = self.world
        topic = world.dice.choice((LEDGER, COPIES))
        offsets = {
            index: self.positions.get((topic, index), 0) for index in range(world.partition_count)
        }
        request = requests.fetch(
            topic,
            world.topic_id(topic),
            offsets,
            max_wait_ms=world.dice.choice((0, 10, 500)),
            max_bytes=world.dice.choice((100, 2_000, 1_000_000)),
            partition_max_bytes=world.dice.choice((100, 1_000, 1_000_000)),
            read_committed=self.read_committed,
        )
        version = world.dice.choice((11, 12, 17))
        self.ask(request, FetchResponse, version, lambda answer: self._answered(topic, answer))

    def _answered(self, topic: str, response: FetchResponse) -> None:
        for data in response.responses[0].partitions:
            self._take(topic, data)

    def _take(self, topic: str, data: PartitionData) -> None:
        index, world = data.partition_index, self.world
        if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            world.anomaly(f"{self.name} stood at {self.positions} of {topic}-{index}, gone")
        position = self.positions.get((topic, index), 0)
        if self.read_committed:
            read = committed_records(data.records, data.aborted_transactions)
        else:
            read = requests.records_of(data.records)
        records = [
            (topic, index, record.offset, bytes(record.value or b"").decode())
            for record in read
            if record.offset >= position
        ]
        next_offset = position
        for batch in scan(data.records or b"", verify_crc=True):
            next_offset = max(next_offset, batch.next_offset)
        self.positions[topic, index] = next_offset
        if data.error_code == ErrorCode.NONE and data.last_stable_offset > data.high_watermark:
            world.anomaly(f"{topic}-{index} is stable up to {data.last_stable_offset}, beyond")
        if self.read_committed:
            self._hold_back(data, [record[2:] for record in records])
        if records:
            world.note(
                Poll(
                    process=self.name,
                    records=tuple(records),
                    subscribed=False,
                    read_committed=self.read_committed,
                )
            )

    def _hold_back(self, data: PartitionData, records: list[tuple[int, str]]) -> None:
        for offset, value in records:
            if offset >= data.last_stable_offset:
                self.world.anomaly(f"{value!r} at {offset} is beyond the last stable offset")
            if not self.world.book.may_be_read(value):
                self.world.anomaly(f"{self.name} reads {value!r}, which is open or aborted")
