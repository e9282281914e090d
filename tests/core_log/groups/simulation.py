"""A group under random clients, a clock that jumps, a log that commits late, and crashes.

The model is small: a dictionary says who owns which partition in which generation, another one the
highest offset that was acknowledged for each partition. Every commit writes a higher number than
all before it, so an offset that goes back is seen at once.

Members commit in transactions too, several at one time for one partition when they are slow to
learn what they own. What an open transaction has sent is not read, unless it commits; what an
aborted one has sent is never read.

``Simulation(seed).run()`` raises AssertionError when an invariant breaks.
"""

import random
from dataclasses import dataclass, field
from typing import Final

import msgspec

from headwater.core_log.groups.classic import ClassicGroupState
from headwater.core_log.groups.config import GroupConfig
from headwater.core_log.groups.records import OffsetRecord, read_record
from headwater.core_log.groups.shard import GroupShard
from headwater.core_log.kernel.effects import Caller, Effects, ReplyAfterCommit
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from headwater.core_log.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from headwater.core_log.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from headwater.core_log.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from headwater.core_log.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
)
from headwater.core_log.protocol.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from headwater.core_log.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)

from .conversation import (
    CountingRandom,
    FewTopics,
    Logged,
    Marker,
    replay_entry,
    subscription,
)

PARTITIONS: Final = 4
PRODUCERS: Final = 3
SESSION_MS: Final = 6_000
SUBSCRIPTION: Final = subscription("t")


@dataclass(eq=False)
class Member:
    """A client with the manners of a real one. ``life`` counts its connections."""

    name: str
    instance: str | None
    stubborn: bool  # beats, and does nothing else that it is told
    life: int = 0
    running: bool = True
    member_id: str = ""
    generation_id: int = -1
    phase: str = "out"  # out → joining → joined → syncing → stable
    leads: list[str] = field(default_factory=list)
    owns: tuple[int, ...] = ()

    def forget_generation(self) -> None:
        self.phase, self.generation_id, self.owns, self.leads = "out", -1, (), []

    def forget_all(self) -> None:
        self.forget_generation()
        self.member_id = ""
        self.life += 1


@dataclass
class Transaction:
    """What its producer and its coordinator know of it."""

    sent: list[tuple[int, int]] = field(default_factory=list)  # partition, offset
    unanswered: int = 0
    failed: bool = False
    decision: bool | None = None  # whether it commits; it is never taken back
    marker_end: int | None = None  # the log must be safe up to here, None: no marker in it


@dataclass(frozen=True)
class View:
    """What a log says of group g and topic t to somebody who reads all of it."""

    stands: dict[int, int]
    unstable: set[int]


def read_log(log: list[Logged | Marker]) -> View:
    """The youngest record of each partition that is in no transaction, or in one that committed."""
    stands, unstable = dict[int, int](), set[int]()
    for index, entry in enumerate(log):
        if isinstance(entry, Marker):
            continue
        record = read_record(entry.key, entry.value)
        if not isinstance(record, OffsetRecord) or record.committed is None:
            continue
        markers = (m for m in log[index:] if isinstance(m, Marker))
        marker = next((m for m in markers if m.producer_id == entry.producer_id), None)
        if entry.producer_id is not None and marker is None:
            unstable.add(record.partition)
        elif marker is None or marker.is_commit:
            stands[record.partition] = record.committed.offset
    return View(stands, unstable)


class Simulation:
    """One run. Everything that happens follows from the seed."""

    def __init__(self, seed: int, *, steps: int = 200) -> None:
        self.dice = random.Random(seed)
        self.steps = steps
        self.now_ms = 1_000_000
        self.config = GroupConfig(
            session_timeout_ms_min=1,
            initial_rebalance_delay_ms=self.dice.choice([0, 1_000]),
            new_member_join_timeout_ms=self.dice.choice([5_000, 60_000]),
            group_size_max=self.dice.choice([3, 100]),
        )
        self.ids = CountingRandom()
        self.members: list[Member] = []
        self.log: list[Logged | Marker] = []
        self.transactions: dict[int, Transaction] = {}  # by producer id
        self.committed = 0  # records of the log that cannot be lost any more
        self.parked: list[tuple[int, ReplyAfterCommit]] = []
        self.owners: dict[tuple[int, int], str] = {}
        self.generation_id = 0  # the highest one in which somebody was assigned something
        self.acknowledged = dict.fromkeys(range(PARTITIONS), -1)
        self.attempted = dict.fromkeys(range(PARTITIONS), -1)
        self.next_offset = 0
        self.unanswered: set[object] = set()
        self.static_share = self.dice.choice([0.2, 0.9])
        self.commit_lag = self.dice.choice([0.0, 0.3, 0.8])
        self.weights = {
            "start": 6,
            "live": self.dice.choice([20, 60, 150]),
            "commit": 12,
            "send": self.dice.choice([0, 15, 60]),
            "end": self.dice.choice([3, 12]),
            "fetch": 3,
            "time": self.dice.choice([2, 10]),
            "leave": self.dice.choice([0, 3]),
            "die": self.dice.choice([0, 4]),
            "disconnect": self.dice.choice([0, 3]),
            "log": 3,
            "crash": self.dice.choice([0, 2]),
            "fail": self.dice.choice([0, 1]),
        }
        self.shard = self.replay(self.log)

    def run(self) -> None:
        """Chaos, then peace: the group must come to rest with everything owned exactly once."""
        for _ in range(self.steps):
            self.chaos()
            self.shard.check()
            self.check_shard(self.shard, self.log)
            self.check_prefix()
        self.peace()

    # What happens

    def chaos(self) -> None:  # noqa: C901, PLR0912 - one case per event
        running = [m for m in self.members if m.running]
        if not running:
            self.start_member()
            return
        member = self.dice.choice(running)
        match self.dice.choices(list(self.weights), list(self.weights.values()))[0]:
            case "start":
                self.start_member()
            case "live":
                self.live(member)
            case "commit":
                self.commit_offset(member)
            case "send":
                self.send_offset(member)
            case "end":
                self.end_transaction()
            case "fetch":
                self.fetch()
            case "time":
                self.pass_time(self.dice.choice([1, 500, 2_500, SESSION_MS]))
            case "leave":
                self.leave(member)
            case "die":
                member.running = False  # no word to anybody
            case "disconnect":
                self.lose_connection(member)
            case "log":
                self.commit_log(self.dice.randint(self.committed, len(self.log)))
            case "crash":
                self.crash()
            case "fail":
                self.fail_append()
            case event:
                raise AssertionError(event)

    def peace(self) -> None:
        """Nobody dies any more and every client does its duty; after a while all is well."""
        self.static_share = self.dice.choice([0.2, 0.9])
        self.commit_lag = 0.0
        self.commit_log(len(self.log))
        while self.transactions:
            self.end_transaction()
        self.members.append(Member("last", None, stubborn=False))
        for _ in range(60):
            for member in self.running():
                self.live(member)
            self.pass_time(SESSION_MS // 4)
        group = self.shard._state.groups["g"]
        if all(m.stubborn for m in self.running()):
            return  # the last one found the group full, and those who are in it do nothing
        assert group.state is ClassicGroupState.STABLE
        assert set(group.members) == {m.member_id for m in self.running()}
        assert sorted(p for m in self.running() for p in m.owns) == list(range(PARTITIONS))
        self.fetch()
        assert not self.unanswered, "requests that nobody ever answered"
        # As in Kafka, static members that have not joined yet do not count against the size, so
        # that a group may be too large; then it rebalances when it is loaded.
        if len(group.members) <= self.config.group_size_max:
            self.restart()

    def restart(self) -> None:
        """A crash in peace: everybody goes on in the generation, with what it had."""
        self.crash()
        before = {m.name: (m.member_id, m.generation_id, m.owns) for m in self.running()}
        for member in self.running():
            member.phase, member.leads = "syncing", []
            self.sync(member)
        after = {m.name: (m.member_id, m.generation_id, m.owns) for m in self.running()}
        assert before == after
        assert {phase for m in self.running() for phase in [m.phase]} <= {"stable"}

    def running(self) -> list[Member]:
        return [m for m in self.members if m.running]

    def start_member(self) -> None:
        taken = {m.instance for m in self.members if m.running}
        instance = self.dice.choice(["i", "j"]) if self.dice.random() < self.static_share else None
        if instance in taken and self.dice.random() < 0.3:
            instance = None  # else it takes the instance over
        if sum(m.running for m in self.members) < 4:
            stubborn = self.dice.random() < 0.25
            self.members.append(Member(f"c{len(self.members)}", instance, stubborn))

    def live(self, member: Member) -> None:
        """The next thing that the client does."""
        match member.phase:
            case "out":
                self.join(member)
            case "joined" if not member.stubborn or self.dice.random() < 0.3:
                self.sync(member)
            case "joined" | "stable" | "syncing":
                self.beat(member)
            case _:
                pass  # it waits

    # Requests

    def join(self, member: Member) -> None:
        member.phase = "joining"
        request = JoinGroupRequest(
            group_id="g",
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=8_000,
            member_id=member.member_id,
            group_instance_id=member.instance,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=SUBSCRIPTION)],
        )
        self.send(member, request, 9)

    def sync(self, member: Member) -> None:
        member.phase = "syncing"
        shares: dict[str, list[str]] = {name: [] for name in member.leads}
        for partition in range(PARTITIONS) if member.leads else ():
            shares[member.leads[partition % len(member.leads)]].append(str(partition))
        request = SyncGroupRequest(
            group_id="g",
            generation_id=member.generation_id,
            member_id=member.member_id,
            group_instance_id=member.instance,
            protocol_type="consumer",
            protocol_name="range",
            assignments=[
                SyncGroupRequestAssignment(member_id=name, assignment=",".join(share).encode())
                for name, share in shares.items()
            ],
        )
        self.send(member, request, 5, what=member.generation_id)

    def beat(self, member: Member) -> None:
        request = HeartbeatRequest(
            group_id="g",
            generation_id=member.generation_id,
            member_id=member.member_id,
            group_instance_id=member.instance,
        )
        self.send(member, request, 4)

    def leave(self, member: Member) -> None:
        identity = MemberIdentity(member_id=member.member_id, group_instance_id=member.instance)
        if member.member_id:
            self.send(member, LeaveGroupRequest(group_id="g", members=[identity]), 5)
        member.forget_all()

    def commit_offset(self, member: Member) -> None:
        """Only what the member believes it owns."""
        if not member.owns:
            return
        partition, offset = self.dice.choice(member.owns), self.next_offset
        self.next_offset += 1
        topic = OffsetCommitRequestTopic(
            name="t",
            partitions=[
                OffsetCommitRequestPartition(partition_index=partition, committed_offset=offset)
            ],
        )
        request = OffsetCommitRequest(
            group_id="g",
            generation_id_or_member_epoch=member.generation_id,
            member_id=member.member_id,
            group_instance_id=member.instance,
            topics=[topic],
        )
        self.attempted[partition] = offset
        group = self.shard._state.groups.get("g")
        allowed = (
            group is not None
            and group.generation_id == member.generation_id
            and group.state is not ClassicGroupState.COMPLETING_REBALANCE
            and member.member_id in group.members
        )
        before = self.shard._state.offsets.get("g", "t", partition)
        self.send(member, request, 9, what=(partition, offset))
        assert allowed or self.shard._state.offsets.get("g", "t", partition) is before, (
            "a commit was taken from a member of another generation"
        )

    def send_offset(self, member: Member) -> None:
        """The same in a transaction of one of the producers."""
        if not member.owns:
            return
        producer_id = self.dice.randrange(PRODUCERS)
        transaction = self.transactions.setdefault(producer_id, Transaction())
        if transaction.decision is not None:
            return
        partition, offset = self.dice.choice(member.owns), self.next_offset
        self.next_offset += 1
        topic = TxnOffsetCommitRequestTopic(
            name="t",
            partitions=[
                TxnOffsetCommitRequestPartition(partition_index=partition, committed_offset=offset)
            ],
        )
        request = TxnOffsetCommitRequest(
            transactional_id=str(producer_id),
            group_id="g",
            producer_id=producer_id,
            generation_id=member.generation_id,
            member_id=member.member_id,
            group_instance_id=member.instance,
            topics=[topic],
        )
        self.attempted[partition] = offset
        transaction.sent.append((partition, offset))
        transaction.unanswered += 1
        group = self.shard._state.groups.get("g")
        allowed = (
            group is not None
            and group.generation_id == member.generation_id
            and member.member_id in group.members
        )
        before = len(self.log)
        self.send(member, request, 5, what=transaction)
        assert allowed or len(self.log) == before, "a member of another generation was believed"

    def end_transaction(self) -> None:
        """Its coordinator decides, once, and writes the marker until it is safe."""
        if not self.transactions:
            return
        producer_id, transaction = self.dice.choice(list(self.transactions.items()))
        if transaction.decision is None:
            certain = not transaction.unanswered and not transaction.failed
            transaction.decision = certain and self.dice.random() < 0.7
        if transaction.marker_end is None:
            self.log.append(Marker(producer_id, transaction.decision))
            transaction.marker_end = len(self.log)
            self.act(
                self.shard.end_transaction(
                    producer_id, is_commit=transaction.decision, now_ms=self.now_ms
                )
            )

    def fetch(self) -> None:
        stable = self.dice.random() < 0.5
        request = OffsetFetchRequest(
            groups=[OffsetFetchRequestGroup(group_id="g", topics=None)], require_stable=stable
        )
        view = read_log(self.log)
        expected: dict[int, int | ErrorCode] = dict(view.stands)
        if stable:
            expected |= dict.fromkeys(view.unstable, ErrorCode.UNSTABLE_OFFSET_COMMIT)
        self.send(None, request, 9, what=(dict(self.acknowledged), expected))

    # The world around the shard

    def send(
        self, member: Member | None, request: msgspec.Struct, version: int, what: object = None
    ) -> None:
        letter = (member, member.life if member else 0, what, object())
        self.unanswered.add(letter[3])
        effects = self.shard.step(
            request,
            version=version,
            caller=Caller(client_id=member.name if member else "admin"),
            reply_to=letter,
            now_ms=self.now_ms,
        )
        self.act(effects)

    def act(self, effects: Effects) -> None:
        producer_id = None if effects.sender is None else effects.sender.producer_id
        self.log.extend(Logged(key, value, producer_id) for key, value in effects.records)
        for reply in effects.replies:
            self.deliver(reply.reply_to, reply.response)
        self.parked.extend((len(self.log), reply) for reply in effects.replies_after_commit)
        if self.dice.random() >= self.commit_lag:
            self.commit_log(len(self.log))

    def commit_log(self, end: int) -> None:
        """Records before *end* are safe now: send what waited for them."""
        self.committed = max(self.committed, end)
        ready = [reply for needs, reply in self.parked if needs <= self.committed]
        self.parked = [(n, reply) for n, reply in self.parked if n > self.committed]
        for reply in ready:
            self.deliver(reply.reply_to, reply.response)
        for producer_id, transaction in list(self.transactions.items()):
            marker_end = transaction.marker_end
            if marker_end is not None and marker_end <= self.committed:
                del self.transactions[producer_id]
                for partition, offset in transaction.sent if transaction.decision else ():
                    self.acknowledged[partition] = max(self.acknowledged[partition], offset)

    def crash(self) -> None:
        """The process dies: what was not committed may be lost, and every connection is."""
        self.log = self.log[: self.dice.randint(self.committed, len(self.log))]
        self.committed = len(self.log)
        self.parked.clear()
        self.unanswered.clear()
        for transaction in self.transactions.values():
            transaction.failed = transaction.failed or bool(transaction.unanswered)
            if transaction.marker_end is not None and transaction.marker_end > self.committed:
                transaction.marker_end = None
        for member in self.members:
            member.life += 1
            if member.phase in ("joining", "syncing"):
                member.forget_generation()
        self.shard = self.replay(self.log)

    def fail_append(self) -> None:
        """The runtime's way out of an append that failed: refuse, unload, replay."""
        code = ErrorCode.KAFKA_STORAGE_ERROR
        parked, self.parked = self.parked, []
        for _, reply in parked:
            self.deliver(reply.reply_to, reply.on_failure(code))
        for gone in self.shard.unload(ErrorCode.NOT_COORDINATOR).replies:
            self.deliver(gone.reply_to, gone.response)
        self.commit_log(len(self.log))
        self.shard = self.replay(self.log)

    def lose_connection(self, member: Member) -> None:
        """The client tries again with what it knows; the old request stays where it is."""
        member.life += 1
        if member.phase in ("joining", "syncing"):
            member.forget_generation()

    def pass_time(self, ms: int) -> None:
        end_ms = self.now_ms + ms
        while (due_ms := self.shard.next_deadline_ms) is not None and due_ms <= end_ms:
            self.now_ms = max(self.now_ms, due_ms)
            self.act(self.shard.tick(self.now_ms))
        self.now_ms = end_ms

    def replay(self, log: list[Logged | Marker]) -> GroupShard:
        shard = GroupShard(self.config, self.ids, FewTopics())
        for entry in log:
            replay_entry(shard, entry, timestamp_ms=self.now_ms)
        effects = shard.loaded(self.now_ms)
        shard.check()
        assert effects.sender is None
        self.log.extend(Logged(key, value) for key, value in effects.records)
        return shard

    # Replies

    def deliver(self, reply_to: object, response: msgspec.Struct) -> None:
        assert isinstance(reply_to, tuple)
        member, life, what, number = reply_to
        assert number in self.unanswered, "answered twice"
        self.unanswered.remove(number)
        if isinstance(response, OffsetFetchResponse):
            self.read_offsets(response, what)
        elif isinstance(response, OffsetCommitResponse):
            self.commit_answered(response, what)
        elif isinstance(response, TxnOffsetCommitResponse):
            assert isinstance(what, Transaction)
            what.unanswered -= 1
            what.failed = what.failed or bool(response.topics[0].partitions[0].error_code)
        if member is None or member.life != life or not member.running:
            return
        # A client that has moved on meanwhile does not listen to old answers any more.
        if isinstance(response, JoinGroupResponse) and member.phase == "joining":
            self.joined(member, response)
        elif isinstance(response, SyncGroupResponse) and member.phase == "syncing":
            if member.generation_id == what:
                self.synced(member, response)
        elif isinstance(response, HeartbeatResponse):
            self.obey(member, ErrorCode(response.error_code))

    def joined(self, member: Member, response: JoinGroupResponse) -> None:
        code = ErrorCode(response.error_code)
        if code is ErrorCode.MEMBER_ID_REQUIRED:
            member.member_id, member.phase = response.member_id, "out"
        elif code:
            member.forget_generation()
            self.obey(member, code)
        else:
            member.member_id, member.generation_id = response.member_id, response.generation_id
            member.phase = "joined"
            skips = response.skip_assignment
            member.leads = [] if skips else [m.member_id for m in response.members]

    def synced(self, member: Member, response: SyncGroupResponse) -> None:
        if response.error_code:
            member.forget_generation()
            self.obey(member, ErrorCode(response.error_code))
            return
        member.phase = "stable"
        member.owns = tuple(int(p) for p in response.assignment.decode().split(",") if p)
        self.generation_id = max(self.generation_id, member.generation_id)
        me = member.instance or member.member_id
        for partition in member.owns:
            owner = self.owners.setdefault((member.generation_id, partition), me)
            assert owner == me, (
                f"partition {partition} belongs to {owner} and {me} in {member.generation_id}"
            )

    def obey(self, member: Member, code: ErrorCode) -> None:
        match code:
            case ErrorCode.NONE:
                pass
            case ErrorCode.UNKNOWN_MEMBER_ID:
                member.forget_all()
                member.running = not member.stubborn
            case ErrorCode.FENCED_INSTANCE_ID | ErrorCode.GROUP_MAX_SIZE_REACHED:
                member.running = False
            case _:
                if not member.stubborn:
                    member.forget_generation()

    def commit_answered(self, response: OffsetCommitResponse, what: object) -> None:
        assert isinstance(what, tuple)
        partition, offset = what
        if not response.topics[0].partitions[0].error_code:
            self.acknowledged[partition] = max(self.acknowledged[partition], offset)

    def read_offsets(self, response: OffsetFetchResponse, what: object) -> None:
        """What the log said when the request was sent; never less than was acknowledged then."""
        assert isinstance(what, tuple)
        acknowledged, expected = what
        if response.groups[0].error_code:
            return
        read = {
            p.partition_index: ErrorCode(p.error_code) if p.error_code else p.committed_offset
            for t in response.groups[0].topics
            for p in t.partitions
        }
        assert read == expected
        for partition, offset in acknowledged.items():
            found = read.get(partition, -1)
            if isinstance(found, ErrorCode):
                continue
            assert offset <= found <= self.attempted[partition], (
                f"partition {partition} stood at {offset} and is read back at {found}"
            )
            # Once somebody has read it, it is as good as acknowledged.
            self.acknowledged[partition] = max(self.acknowledged[partition], found)

    def check_shard(self, shard: GroupShard, log: list[Logged | Marker]) -> None:
        """The shard says what its log says."""
        view, offsets = read_log(log), shard._state.offsets
        standing = offsets.topics("g").get("t", {})
        assert {index: kept.offset for index, kept in standing.items()} == view.stands
        pending = {p.partition for p in offsets.places("g") if offsets.is_pending(p)}
        assert pending == view.unstable

    def check_prefix(self) -> None:
        """A shard made from any prefix of the log stands where the log says."""
        end = self.dice.randint(self.committed, len(self.log))
        shard = GroupShard(self.config, self.ids, FewTopics())
        for entry in self.log[:end]:
            replay_entry(shard, entry, timestamp_ms=self.now_ms)
        self.check_shard(shard, self.log[:end])
        shard.loaded(self.now_ms)
        shard.check()
        group = shard._state.groups.get("g")
        assert (group.generation_id if group else 0) >= self.generation_id
        for partition, offset in self.acknowledged.items():
            kept = shard._state.offsets.get("g", "t", partition)
            found = -1 if kept is None else kept.offset
            assert found >= offset, f"partition {partition} stood at {offset}, replayed to {found}"
