"""A shard as its runtime sees it: loading, parking, failing, and random lives of groups."""

from collections.abc import Callable
from typing import Any

import pytest

from headwater.core_log.groups import (
    commit_checks,
    commits,
    joining,
    rebalance,
    records,
    sessions,
    syncing,
    txn_commits,
)
from headwater.core_log.groups.classic import ClassicGroup
from headwater.core_log.groups.committed import CommittedOffset, Place
from headwater.core_log.groups.offsets import Offsets
from headwater.core_log.groups.pending import PendingOffsets
from headwater.core_log.groups.shard import GroupShard
from headwater.core_log.kernel.effects import NO_EFFECTS, Caller, Effects, Turn
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.heartbeat import HeartbeatRequest
from headwater.core_log.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from headwater.core_log.protocol.messages.produce import ProduceRequest

from .conversation import START_MS, Conversation, Logged
from .simulation import Simulation

SEEDS = range(80)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_lives_of_a_group(seed: int) -> None:
    """No partition has two owners in one generation, no committed offset goes back, every request
    is answered once, and after the storm everybody is back and everything is owned."""
    Simulation(seed).run()


def test_a_crash_loses_nothing_that_was_promised() -> None:
    """Members go on in their generation; their sessions start anew."""
    conversation = Conversation()
    conversation.run("a join v=3\nb join instance=i\n+ 6000\na sync a1=0 i1=1\nb sync")
    conversation.check("""
        a commit t/0=5
            log g t/0=5
            a t/0=ok
        + 9000
        crash
        + 9000
        a beat
            a ok
        b sync
            b assigned 1
        x describe
            x g Stable consumer range a1=0 i1@i=1
        a fetch
            a fetched t/0=5
        b join
            b joined 1 range as i1 follows a1
        + 10000
            34000 log g 2 empty
    """)


def test_a_crash_during_a_rebalance_goes_back_to_the_last_assignment() -> None:
    """The members learn from their next request that the generation they joined is gone."""
    conversation = Conversation()
    conversation.run("a join v=3\nb join v=3\n+ 6000\na sync a1=0 b1=1\nb sync")
    conversation.check("""
        c join v=3
        a join
        b join
            a joined 2 range as a1 leads a1 b1 c1
            b joined 2 range as b1 follows a1
            c joined 2 range as c1 follows a1
        crash
        a sync a1=0
            a ILLEGAL_GENERATION
        c beat
            c UNKNOWN_MEMBER_ID
        b join
            b joined 1 range as b1 follows a1
        a join
        b join
            a joined 2 range as a1 leads a1 b1
            b joined 2 range as b1 follows a1
    """)


def test_offsets_without_a_group_are_a_simple_group() -> None:
    """After a crash as before."""
    conversation = Conversation()
    conversation.run("x commit nobody t/0=5")
    conversation.check("""
        crash
        x list
            x lists g::Empty:classic
        x commit nobody t/0=6
            log g t/0=6
            x t/0=ok
        x delete
            log g t/0 deleted
            log g deleted
            x g=ok
        crash
        x list
            x lists
    """)


def test_a_loaded_group_above_the_bound_shrinks() -> None:
    """The bound was lowered while the group lived."""
    conversation = Conversation()
    conversation.run("a join v=3\nb join v=3\n+ 6000\na sync a1=0 b1=1\nb sync")
    conversation.config = type(conversation.config)(group_size_max=1)
    conversation.check("""
        crash
        b beat
            b REBALANCE_IN_PROGRESS
        a join
        b join
            a joined 2 range as a1 leads a1
            b GROUP_MAX_SIZE_REACHED
    """)


def test_groups_of_other_protocols_are_left_alone() -> None:
    """A partition that Kafka wrote opens; its consumer groups are kept, and their offsets serve."""
    conversation = Conversation(offsets_retention_ms=60_000)
    key, value = bytes.fromhex("0003000163"), bytes.fromhex("00000000000300")
    conversation.log = [
        Logged(key, value),
        Logged(bytes.fromhex("000500016300016d"), b"\0\0"),
        Logged(*records.offset_record("c", "t", 0, _committed(5))),
    ]
    conversation.check("""
        crash
        a join group=c v=3
            a INCONSISTENT_GROUP_PROTOCOL
        x list
            x lists
        x describe c
            x c Dead GROUP_ID_NOT_FOUND: Group c not found.
        x delete c
            x c=GROUP_ID_NOT_FOUND
        x fetch group=c
            x fetched t/0=5
        x commit group=c nobody t/0=6
            log c t/0=6
            x t/0=ok
        x list
            x lists
        + 3600000
    """)
    conversation.log.append(Logged(key, None))
    conversation.check("""
        crash
        x list
            x lists c::Empty:classic
    """)


def _committed(offset: int) -> CommittedOffset:
    return CommittedOffset(offset=offset, commit_timestamp_ms=START_MS)


def test_a_group_that_changed_its_protocol_is_foreign() -> None:
    """The newer metadata wins when both are in the log."""
    conversation = Conversation()
    conversation.run("x commit nobody group=c t/0=5\na join group=c v=3")
    conversation.log.append(Logged(bytes.fromhex("0003000163"), bytes.fromhex("00000000000300")))
    conversation.check("""
        crash
        x list
            x lists
    """)


def test_a_commit_is_answered_after_its_records() -> None:
    """And with what the client of a group understands when they cannot be appended."""
    conversation = Conversation()
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=5)
    request = OffsetCommitRequest(
        group_id="g", topics=[OffsetCommitRequestTopic(name="t", partitions=[partition])]
    )
    effects = conversation.shard.step(
        request, version=9, caller=Caller(), reply_to="x", now_ms=START_MS
    )
    assert len(effects.records) == 1
    assert effects.atomic
    assert not effects.replies
    (reply,) = effects.replies_after_commit
    assert reply.reply_to == "x"
    failed = reply.on_failure(ErrorCode.NOT_ENOUGH_REPLICAS)
    assert isinstance(failed, OffsetCommitResponse)
    code = failed.topics[0].partitions[0].error_code
    assert code == ErrorCode.COORDINATOR_NOT_AVAILABLE


def test_requests_of_others_are_our_mistake() -> None:
    """The handler table sends them here; no client can."""
    with pytest.raises(AssertionError, match="ProduceRequest is not for groups"):
        Conversation().shard.step(
            ProduceRequest(), version=9, caller=Caller(), reply_to=0, now_ms=START_MS
        )


def test_a_heartbeat_asks_for_nothing_but_its_reply() -> None:
    """It is the most frequent request by far."""
    effects = Conversation().shard.step(
        HeartbeatRequest(group_id="g"), version=4, caller=Caller(), reply_to=0, now_ms=START_MS
    )
    assert len(effects.replies) == 1
    assert (effects.records, effects.replies_after_commit, effects.notes) == ((), (), ())


def test_a_shard_shows_itself() -> None:
    """In log lines."""
    assert repr(Conversation().shard) == "<GroupShard [0 groups, 1 deadlines]>"


# The simulation is worth what it finds: each of these mistakes must break an invariant.

Break = Callable[[pytest.MonkeyPatch], None]


def _nothing(*args: object) -> None:
    pass


def _nobody_is_fenced(patch: pytest.MonkeyPatch) -> None:
    original = ClassicGroup.validate_member

    def validate(group: ClassicGroup, member_id: str, instance_id: str | None) -> None:
        original(group, member_id, None)

    patch.setattr(ClassicGroup, "validate_member", validate)


def _answers_before_the_log(patch: pytest.MonkeyPatch) -> None:
    def at_once(turn: Turn, reply_to: object, response: Any, on_failure: object) -> None:
        turn.reply(reply_to, response)

    patch.setattr(Turn, "reply_after_commit", at_once)


def _generations_stand_still(patch: pytest.MonkeyPatch) -> None:
    original = ClassicGroup.start_next_generation

    def start(group: ClassicGroup, *, now_ms: int) -> None:
        original(group, now_ms=now_ms)
        group.generation_id = 1

    patch.setattr(ClassicGroup, "start_next_generation", start)


def _old_generations_commit(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(commits, "_check_member", _nothing)


def _assignments_are_not_kept(patch: pytest.MonkeyPatch) -> None:
    original = records.group_record

    def without(group: ClassicGroup) -> Any:
        kept = {m.member_id: m.assignment for m in group.members.values()}
        for member in group.members.values():
            member.assignment = b""
        record = original(group)
        for member in group.members.values():
            member.assignment = kept[member.member_id]
        return record

    patch.setattr(syncing, "group_record", without)


def _new_static_ids_are_not_kept(patch: pytest.MonkeyPatch) -> None:
    original = records.group_record

    def stale(group: ClassicGroup) -> Any:
        return original(group) if not group.members else original(ClassicGroup("g", now_ms=0))

    patch.setattr(joining, "group_record", stale)


def _members_that_left_are_forgotten_at_the_next_sync(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sessions, "after_removal", _nothing)


def _sessions_never_end(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("headwater.core_log.groups.shard.session_over", _nothing)


def _parked_joins_are_dropped(patch: pytest.MonkeyPatch) -> None:
    def drop(group: ClassicGroup, member_id: str, waiting: Any, turn: Turn) -> None:
        group.awaiting_join[member_id] = waiting

    patch.setattr(joining, "park_join", drop)


def _everybody_leads(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ClassicGroup, "is_leader", lambda *_: True)


def _joins_wait_for_ever(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rebalance, "_wait_for_members", _nothing)


def _offsets_of_other_partitions(patch: pytest.MonkeyPatch) -> None:
    original = records.offset_record

    def to_the_first(group_id: str, topic: str, _: int, committed: CommittedOffset) -> Any:
        return original(group_id, topic, 0, committed)

    patch.setattr(commit_checks, "offset_record", to_the_first)


def _other_generations_commit_in_transactions(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(txn_commits, "_check_member", _nothing)


def _pending_offsets_count_at_once(patch: pytest.MonkeyPatch) -> None:
    def put(offsets: Offsets, _: int, place: Place, offset: CommittedOffset) -> None:
        offsets.put(*place, offset)

    patch.setattr(Offsets, "put_pending", put)


def _aborts_commit(patch: pytest.MonkeyPatch) -> None:
    original = PendingOffsets.end

    def end(pending: PendingOffsets, producer_id: int, *, is_commit: bool) -> Any:
        return original(pending, producer_id, is_commit=True)

    patch.setattr(PendingOffsets, "end", end)


def _the_last_to_end_wins(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PendingOffsets, "overtake", _nothing)


def _producers_do_not_overtake_each_other(patch: pytest.MonkeyPatch) -> None:
    def end(pending: PendingOffsets, producer_id: int, *, is_commit: bool) -> Any:
        sent = list(pending._places.get(producer_id, {}).items())
        for place, _ in sent:
            pending._forget(producer_id, place)
        return [(place, offset) for place, offset in sent if is_commit and offset is not None]

    patch.setattr(PendingOffsets, "end", end)


def _open_transactions_are_no_reason_to_wait(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Offsets, "is_pending", lambda *_: False)


def _markers_are_not_replayed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(GroupShard, "replay_end", lambda *_, **__: None)


def _markers_count_after_a_load_only(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(GroupShard, "end_transaction", lambda *_, **__: NO_EFFECTS)


def _records_of_transactions_are_plain(patch: pytest.MonkeyPatch) -> None:
    original = Turn.effects

    def effects(turn: Turn) -> Effects:
        turn.sender = None
        return original(turn)

    patch.setattr(Turn, "effects", effects)


@pytest.mark.parametrize(
    "break_it",
    [
        pytest.param(_nobody_is_fenced, marks=pytest.mark.slow),
        _answers_before_the_log,
        _generations_stand_still,
        pytest.param(_old_generations_commit, marks=pytest.mark.slow),
        _assignments_are_not_kept,
        _new_static_ids_are_not_kept,
        pytest.param(_members_that_left_are_forgotten_at_the_next_sync, marks=pytest.mark.slow),
        pytest.param(_sessions_never_end, marks=pytest.mark.slow),
        pytest.param(_parked_joins_are_dropped, marks=pytest.mark.slow),
        _everybody_leads,
        _joins_wait_for_ever,
        _offsets_of_other_partitions,
        _other_generations_commit_in_transactions,
        _pending_offsets_count_at_once,
        _aborts_commit,
        _the_last_to_end_wins,
        pytest.param(_producers_do_not_overtake_each_other, marks=pytest.mark.slow),
        _open_transactions_are_no_reason_to_wait,
        _markers_are_not_replayed,
        _markers_count_after_a_load_only,
        _records_of_transactions_are_plain,
    ],
)
def test_the_simulation_finds_mistakes(break_it: Break, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them within a few seeds."""
    break_it(monkeypatch)
    with pytest.raises((AssertionError, KeyError)):
        _run_all()


def _run_all() -> None:
    for seed in SEEDS:
        Simulation(seed).run()
