"""A group under random clients, a clock that jumps, a log that commits late, and crashes.

The model is small: a dictionary says who owns which partition in which generation, another one the
highest offset that was acknowledged for each partition. Every commit writes a higher number than
all before it, so an offset that goes back is seen at once.

``Simulation(seed).run()`` raises AssertionError when an invariant breaks.
"""

import random
from dataclasses import dataclass, field
from typing import Final

import msgspec

from headwater.core_log.groups.classic import ClassicGroupState
from headwater.core_log.groups.config import GroupConfig
from headwater.core_log.groups.shard import GroupShard
from headwater.core_log.kernel.effects import Caller, Effects, Record, ReplyAfterCommit
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

from .conversation import CountingRandom, FewTopics, subscription

PARTITIONS: Final = 4
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


class Simulation:
    """One run. Everything that happens follows from the seed."""

    def __init__(self, seed: int, *, steps: int = 120) -> None:
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
        self.log: list[Record] = []
        self.committed = 0  # records of the log that cannot be lost any more
        self.parked: list[tuple[int, ReplyAfterCommit]] = []
        self.owners: dict[tuple[int, int], str] = {}
        self.generation_id = 0  # the highest one in which somebody was assigned something
        self.acknowledged = dict.fromkeys(range(PARTITIONS), -1)
        self.attempted = dict.fromkeys(range(PARTITIONS), -1)
        self.next_offset = 0
        self.unanswered: set[object] = set()
        self.commit_lag = self.dice.choice([0.0, 0.3, 0.8])
        self.weights = {
            "start": 6,
            "live": self.dice.choice([20, 60, 150]),
            "commit": 12,
            "fetch": 3,
            "time": self.dice.choice([2, 10]),
            "leave": self.dice.choice([0, 3]),
            "die": self.dice.choice([0, 2]),
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
        self.commit_lag = 0.0
        self.commit_log(len(self.log))
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
        instance = self.dice.choice([None, None, "i", "j"])
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

    def fetch(self) -> None:
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=None)])
        self.send(None, request, 9, what=dict(self.acknowledged))

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
        self.log.extend(effects.records)
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

    def crash(self) -> None:
        """The process dies: what was not committed may be lost, and every connection is."""
        self.log = self.log[: self.dice.randint(self.committed, len(self.log))]
        self.committed = len(self.log)
        self.parked.clear()
        self.unanswered.clear()
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
        self.committed = len(self.log)
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

    def replay(self, log: list[Record]) -> GroupShard:
        shard = GroupShard(self.config, self.ids, FewTopics())
        for key, value in log:
            shard.replay(key, value, timestamp_ms=self.now_ms)
        effects = shard.loaded(self.now_ms)
        shard.check()
        self.log.extend(effects.records)
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
        """Never less than what was acknowledged when the request was sent."""
        assert isinstance(what, dict)
        if response.groups[0].error_code:
            return
        read = {
            p.partition_index: p.committed_offset
            for t in response.groups[0].topics
            for p in t.partitions
        }
        for partition, offset in what.items():
            found = read.get(partition, -1)
            assert offset <= found <= self.attempted[partition], (
                f"partition {partition} stood at {offset} and is read back at {found}"
            )
            # Once somebody has read it, it is as good as acknowledged.
            self.acknowledged[partition] = max(self.acknowledged[partition], found)

    def check_prefix(self) -> None:
        """A shard made from any prefix of the log stands where the log says."""
        end = self.dice.randint(self.committed, len(self.log))
        shard = GroupShard(self.config, self.ids, FewTopics())
        for key, value in self.log[:end]:
            shard.replay(key, value, timestamp_ms=self.now_ms)
        shard.loaded(self.now_ms)
        shard.check()
        group = shard._state.groups.get("g")
        assert (group.generation_id if group else 0) >= self.generation_id
        for partition, offset in self.acknowledged.items():
            kept = shard._state.offsets.get("g", "t", partition)
            found = -1 if kept is None else kept.offset
            assert found >= offset, f"partition {partition} stood at {offset}, replayed to {found}"
