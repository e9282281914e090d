"""All groups of one partition of __consumer_offsets: the core that its runtime drives.

After the shape of Kafka's coordinator runtime (KIP-848): a request becomes records and responses,
the records alone rebuild the state. Kafka keeps versions of its memory and rolls back when an
append fails; here the runtime replays the partition, which is as true and happens as rarely as a
disk fails.
"""

from typing import assert_never

import msgspec

from ..kernel.effects import Caller, Effects, Sender, Turn
from ..kernel.errors import ErrorCode
from ..kernel.ports import Random
from ..protocol.messages.delete_groups import DeleteGroupsRequest
from ..protocol.messages.describe_groups import DescribeGroupsRequest
from ..protocol.messages.heartbeat import HeartbeatRequest
from ..protocol.messages.join_group import JoinGroupRequest
from ..protocol.messages.leave_group import LeaveGroupRequest
from ..protocol.messages.list_groups import ListGroupsRequest
from ..protocol.messages.offset_commit import OffsetCommitRequest
from ..protocol.messages.offset_delete import OffsetDeleteRequest
from ..protocol.messages.offset_fetch import OffsetFetchRequest
from ..protocol.messages.sync_group import SyncGroupRequest
from ..protocol.messages.txn_offset_commit import TxnOffsetCommitRequest
from .admin import delete_groups, delete_offsets, describe_groups, list_groups
from .commits import commit_offsets
from .committed import Place
from .config import GroupConfig
from .deadlines import Deadline, DeadlineKind
from .expiry import Sweep, forget_topics
from .fetches import fetch_offsets
from .joining import join_group
from .member import Waiting
from .rebalance import (
    complete_join,
    initial_wait_over,
    prepare_rebalance,
    refuse_join,
    refuse_sync,
)
from .records import ForeignGroupRecord, GroupRecord, OffsetRecord, read_record
from .refusals import GroupRequest
from .sessions import heartbeat, leave_group, session_over, sync_wait_over
from .state import ShardState
from .syncing import sync_group
from .topics import TopicNames
from .txn_commits import commit_offsets_in_transaction


class GroupShard:
    """The groups of one partition of __consumer_offsets, as their records and requests make them.

    First ``replay`` every record of the partition, then ``loaded``; from then on ``step`` for each
    request and ``tick`` whenever ``next_deadline_ms`` has come, after the requests that wait: a
    member whose heartbeat stands in the queue is alive. One caller at a time.

    A request that names several groups is cut up by the caller: each shard gets its own groups.
    """

    def __init__(self, config: GroupConfig, rng: Random, topics: TopicNames) -> None:
        self._state = ShardState(config, rng, topics)
        self._sweep = Sweep()

    def __repr__(self) -> str:
        state = self._state
        return f"<GroupShard [{len(state.groups)} groups, {len(state.deadlines)} deadlines]>"

    @property
    def next_deadline_ms(self) -> int | None:
        """When ``tick`` has something to do, None when nothing waits."""
        return self._state.deadlines.next_ms()

    def replay(
        self,
        key: bytes,
        value: bytes | None,
        *,
        timestamp_ms: int,  # noqa: ARG002 - records carry the times that groups need
        sender: Sender | None = None,
    ) -> None:
        """Take one record of the partition into account; what other group types wrote is kept.

        An offset in a transactional batch, of *sender*, is pending until ``replay_end``. Records
        and markers come in the order of the log. A tombstone counts at once, as in Kafka.

        Raises UnreadableRecordError when the record is a group's or an offset's and broken.
        """
        state = self._state
        record = read_record(key, value)
        match record:
            case None:
                return
            case OffsetRecord(group_id=group_id, topic=topic, partition=partition):
                if record.committed is None:
                    state.offsets.remove(group_id, topic, partition)
                elif sender is not None:
                    place = Place(group_id, topic, partition)
                    state.offsets.put_pending(sender.producer_id, place, record.committed)
                else:
                    state.offsets.put(group_id, topic, partition, record.committed)
            case GroupRecord(group_id=group_id, group=group):
                if group is None:
                    state.groups.pop(group_id, None)
                else:
                    state.groups[group_id] = group
            case ForeignGroupRecord(group_id=group_id, exists=True):
                state.foreign_group_ids.add(group_id)
            case ForeignGroupRecord(group_id=group_id):
                state.foreign_group_ids.discard(group_id)
            case _:
                assert_never(record)

    def replay_end(self, producer_id: int, *, is_commit: bool) -> None:
        """Take a transaction marker of the partition into account; fine when nothing is pending."""
        self._state.offsets.end(producer_id, is_commit=is_commit)

    def loaded(self, now_ms: int) -> Effects:
        """Start the clocks of what was replayed: sessions of members, expiry of offsets.

        Offsets without a group are those of consumers that choose their partitions themselves;
        their group is made here. A group above the bound rebalances, and shrinks.
        """
        state, turn = self._state, Turn(now_ms=now_ms)
        for group_id in state.foreign_group_ids:
            state.groups.pop(group_id, None)  # it changed its protocol and left no tombstone
        for group_id in state.offsets.group_ids():
            if group_id not in state.groups and group_id not in state.foreign_group_ids:
                state.create_group(group_id, now_ms=now_ms)
        for group in state.groups.values():
            for member in group.members.values():
                state.expect(group, member, turn)
            if len(group.members) > state.config.group_size_max:
                prepare_rebalance(state, group, turn, "the loaded group is too large")
        self._sweep.schedule(state, now_ms=now_ms)
        return turn.effects()

    def step(
        self,
        request: msgspec.Struct,
        *,
        version: int,
        caller: Caller,
        reply_to: object,
        now_ms: int,
    ) -> Effects:
        """What follows from *request*: exactly one reply to *reply_to*, now or in a later step."""
        assert isinstance(request, GroupRequest), f"{type(request).__name__} is not for groups"
        turn = Turn(now_ms=now_ms)
        self._dispatch(request, caller, Waiting(reply_to, version), turn)
        return turn.effects()

    def end_transaction(self, producer_id: int, *, is_commit: bool, now_ms: int) -> Effects:
        """What follows from a marker that was just appended to the partition, behind every record
        that the shard has asked for so far.

        The runtime counts the marker among its appends: replies of later steps may depend on it and
        wait until it is committed. When it is lost the shard is built anew, as after any append.
        """
        turn = Turn(now_ms=now_ms)
        self._state.offsets.end(producer_id, is_commit=is_commit)
        return turn.effects()

    def tick(self, now_ms: int) -> Effects:
        """What follows from the time: every deadline up to *now_ms* has had its effect.

        Of the search for expired offsets one part is done; the rest is due at once.
        """
        turn = Turn(now_ms=now_ms)
        sweep = False
        while (deadline := self._state.deadlines.pop(now_ms)) is not None:
            if deadline.kind is DeadlineKind.RETENTION:
                sweep = True
            else:
                self._due(deadline, turn)
        if sweep:
            self._sweep.step(self._state, turn)
        return turn.effects()

    def topics_deleted(self, names: frozenset[str], now_ms: int) -> Effects:
        """Tombstones for every offset in these topics, committed or pending."""
        turn = Turn(now_ms=now_ms)
        forget_topics(self._state, names, turn)
        return turn.effects()

    def unload(self, code: ErrorCode) -> Effects:
        """Replies with *code* for every caller that waits inside; the shard is of no use after."""
        turn = Turn(now_ms=0)
        for group in self._state.groups.values():
            for member_id in list(group.awaiting_join):
                refuse_join(group, member_id, code, turn, told_member_id=member_id)
            for member_id in list(group.awaiting_sync):
                refuse_sync(group, member_id, code, turn)
        return turn.effects()

    def check(self) -> None:
        """Assert the invariants of every group; simulation calls this after every event."""
        for group_id, group in self._state.groups.items():
            assert group.group_id == group_id
            assert group_id not in self._state.foreign_group_ids
            group.check()
        self._state.offsets.check()

    def _dispatch(  # noqa: C901 - one case per request
        self, request: GroupRequest, caller: Caller, waiting: Waiting, turn: Turn
    ) -> None:
        state = self._state
        match request:
            case HeartbeatRequest():
                heartbeat(state, request, waiting=waiting, turn=turn)
            case OffsetCommitRequest():
                commit_offsets(state, request, waiting=waiting, turn=turn)
            case TxnOffsetCommitRequest():
                commit_offsets_in_transaction(state, request, waiting=waiting, turn=turn)
            case OffsetFetchRequest():
                fetch_offsets(state, request, waiting=waiting, turn=turn)
            case JoinGroupRequest():
                join_group(state, request, caller=caller, waiting=waiting, turn=turn)
            case SyncGroupRequest():
                sync_group(state, request, waiting=waiting, turn=turn)
            case LeaveGroupRequest():
                leave_group(state, request, waiting=waiting, turn=turn)
            case DescribeGroupsRequest():
                describe_groups(state, request, waiting=waiting, turn=turn)
            case ListGroupsRequest():
                list_groups(state, request, waiting=waiting, turn=turn)
            case DeleteGroupsRequest():
                delete_groups(state, request, waiting=waiting, turn=turn)
            case OffsetDeleteRequest():
                delete_offsets(state, request, waiting=waiting, turn=turn)
            case _:
                assert_never(request)

    def _due(self, deadline: Deadline, turn: Turn) -> None:
        """The deadline's moment has come; its group exists, or it would have been cancelled."""
        state, group = self._state, self._state.groups[deadline.group_id]
        match deadline.kind:
            case DeadlineKind.SESSION:
                session_over(state, group, deadline.member_id, turn)
            case DeadlineKind.INITIAL_JOIN:
                initial_wait_over(state, group, turn)
            case DeadlineKind.JOIN:
                complete_join(state, group, turn)
            case DeadlineKind.SYNC:
                sync_wait_over(state, group, turn)
            case DeadlineKind.RETENTION:
                raise AssertionError("the caller takes care of it")
            case _:
                assert_never(deadline.kind)
