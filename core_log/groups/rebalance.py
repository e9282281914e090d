"""From one generation of a group to the next: everybody joins, one leads, everybody syncs.

After KIP-134 (a new group waits a moment for more members) and KIP-62 (how long a rebalance waits
for old ones).
"""

from ..kernel.effects import Turn
from ..kernel.errors import ErrorCode
from ..protocol.messages.join_group import (
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from ..protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from .classic import ClassicGroup, ClassicGroupState
from .deadlines import Deadline, DeadlineKind
from .member import ClassicMember, Waiting
from .records import group_record
from .refusals import after_failed_append, join_refusal
from .state import ShardState

_EMPTY = ClassicGroupState.EMPTY
_PREPARING = ClassicGroupState.PREPARING_REBALANCE
_COMPLETING = ClassicGroupState.COMPLETING_REBALANCE
_STABLE = ClassicGroupState.STABLE


# Joining


def rebalance_or_complete(state: ShardState, group: ClassicGroup, turn: Turn, reason: str) -> None:
    """Start a rebalance; in one that runs already, see whether that was the last join."""
    if group.can_rebalance():
        prepare_rebalance(state, group, turn, reason)
    else:
        complete_join_if_all_joined(state, group, turn)


def prepare_rebalance(state: ShardState, group: ClassicGroup, turn: Turn, reason: str) -> None:
    """Ask every member to join, from now until the rebalance timeout.

    A group without members waits for the initial delay instead, and longer if more arrive.
    """
    if group.state is _COMPLETING:
        revoke_assignments(state, group, turn, ErrorCode.REBALANCE_IN_PROGRESS)
    state.deadlines.cancel(Deadline(DeadlineKind.SYNC, group.group_id))
    turn.note(
        "group_rebalances",
        group=group.group_id,
        generation_id=group.generation_id,
        state=group.state.value,
        reason=reason,
    )
    was_empty = group.state is _EMPTY
    group.transition_to(_PREPARING, now_ms=turn.now_ms)
    if was_empty:
        delay_ms = state.config.initial_rebalance_delay_ms
        group.initial_wait_ms_left = max(group.rebalance_timeout_ms() - delay_ms, 0)
        group.new_member_added = False
        _set(state, group, DeadlineKind.INITIAL_JOIN, turn.now_ms + delay_ms)
    elif group.all_members_joined():
        complete_join(state, group, turn)
    else:
        _wait_for_members(state, group, DeadlineKind.JOIN, turn)


def complete_join_if_all_joined(state: ShardState, group: ClassicGroup, turn: Turn) -> None:
    """End the join phase when nobody is missing; the initial wait is never cut short."""
    initial = group.previous_state is _EMPTY
    if group.state is _PREPARING and not initial and group.all_members_joined():
        complete_join(state, group, turn)


def initial_wait_over(state: ShardState, group: ClassicGroup, turn: Turn) -> None:
    """Wait once more when members arrived meanwhile and time is left, else end the join phase."""
    left_ms = group.initial_wait_ms_left
    if not (group.new_member_added and left_ms):
        complete_join(state, group, turn)
        return
    delay_ms = min(state.config.initial_rebalance_delay_ms, left_ms)
    group.new_member_added = False
    group.initial_wait_ms_left = left_ms - delay_ms
    _set(state, group, DeadlineKind.INITIAL_JOIN, turn.now_ms + delay_ms)


def complete_join(state: ShardState, group: ClassicGroup, turn: Turn) -> None:
    """Leave behind who has not joined, and begin the next generation with the others.

    Static members stay although they are missing, until their session ends. When nobody at all
    has joined there is nobody to lead, and the group waits on.
    """
    state.deadlines.cancel(Deadline(DeadlineKind.INITIAL_JOIN, group.group_id))
    state.deadlines.cancel(Deadline(DeadlineKind.JOIN, group.group_id))
    for member in _missing_dynamic_members(group):
        state.expect_no_more(group, member.member_id)
        group.remove(member.member_id)
        turn.note("member_left_behind", group=group.group_id, member=member.member_id)
    if group.members and not group.elect_joined_leader():
        _wait_for_members(state, group, DeadlineKind.JOIN, turn)
        return
    group.start_next_generation(now_ms=turn.now_ms)
    turn.note(
        "group_generation_started",
        group=group.group_id,
        generation_id=group.generation_id,
        members=len(group.members),
        protocol=group.protocol_name or "",
    )
    if group.state is _EMPTY:
        turn.append(*group_record(group))
    else:
        _answer_joins(state, group, turn)


def _missing_dynamic_members(group: ClassicGroup) -> list[ClassicMember]:
    return [
        member
        for member in group.members.values()
        if member.member_id not in group.awaiting_join and member.group_instance_id is None
    ]


def _answer_joins(state: ShardState, group: ClassicGroup, turn: Turn) -> None:
    for member in group.members.values():
        waiting = group.awaiting_join.pop(member.member_id, None)
        if waiting is not None:
            response = join_response(group, member.member_id)
            turn.reply(waiting.reply_to, response)
        state.expect(group, member, turn)
        member.is_new = False
        group.pending_syncs[member.member_id] = None
    _wait_for_members(state, group, DeadlineKind.SYNC, turn)


# Requests that are parked


def park_join(group: ClassicGroup, member_id: str, waiting: Waiting, turn: Turn) -> None:
    """Hold a join until the phase ends. One that the member sent before is of no use to it."""
    refuse_join(group, member_id, ErrorCode.REBALANCE_IN_PROGRESS, turn, told_member_id=member_id)
    group.awaiting_join[member_id] = waiting


def refuse_join(
    group: ClassicGroup, member_id: str, code: ErrorCode, turn: Turn, *, told_member_id: str
) -> None:
    """Answer the join that the member has parked, if any, with *code*."""
    waiting = group.awaiting_join.pop(member_id, None)
    if waiting is not None:
        turn.reply(
            waiting.reply_to,
            join_refusal(version=waiting.version, code=code, member_id=told_member_id),
        )


def park_sync(group: ClassicGroup, member_id: str, waiting: Waiting, turn: Turn) -> None:
    """Hold a sync until the assignment is there. One that the member sent before is of no use."""
    refuse_sync(group, member_id, ErrorCode.REBALANCE_IN_PROGRESS, turn)
    group.awaiting_sync[member_id] = waiting


def refuse_sync(group: ClassicGroup, member_id: str, code: ErrorCode, turn: Turn) -> None:
    """Answer the sync that the member has parked, if any, with *code*."""
    waiting = group.awaiting_sync.pop(member_id, None)
    if waiting is not None:
        turn.reply(waiting.reply_to, SyncGroupResponse(error_code=code))


def answer_syncs(state: ShardState, group: ClassicGroup, turn: Turn) -> None:
    """Hand every member that waits its assignment, once the group's record is committed."""
    for member_id, waiting in group.awaiting_sync.items():
        state.expect(group, group.members[member_id], turn)
        reply_with_assignment(group, member_id, waiting, turn)
    group.awaiting_sync.clear()


def reply_with_assignment(
    group: ClassicGroup, member_id: str, waiting: Waiting, turn: Turn
) -> None:
    """Hand one member its assignment, once the group's record is committed."""
    response = SyncGroupResponse(
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        assignment=group.members[member_id].assignment,
    )
    request = SyncGroupRequest()  # a refused sync repeats nothing of its request
    turn.reply_after_commit(
        waiting.reply_to,
        response,
        lambda code: after_failed_append(request, version=waiting.version, code=code),
    )


def revoke_assignments(state: ShardState, group: ClassicGroup, turn: Turn, code: ErrorCode) -> None:
    """Forget this generation's assignments and answer the syncs that wait for them with *code*."""
    for member in group.members.values():
        member.assignment = b""
        if member.member_id in group.awaiting_sync:
            state.expect(group, member, turn)
            refuse_sync(group, member.member_id, code, turn)


def sync_received(state: ShardState, group: ClassicGroup, member_id: str) -> None:
    """Wait no longer for this member's sync, and for none when it was the last."""
    group.pending_syncs.pop(member_id, None)
    if not group.pending_syncs:
        state.deadlines.cancel(Deadline(DeadlineKind.SYNC, group.group_id))


# Members that go


def remove_member(state: ShardState, group: ClassicGroup, member_id: str, turn: Turn) -> None:
    """Forget a member or a pending one; what the group makes of it is decided afterwards.

    A request that it has parked is answered UNKNOWN_MEMBER_ID: if the client is alive after all,
    it joins as a new member.
    """
    state.expect_no_more(group, member_id)
    refuse_join(group, member_id, ErrorCode.UNKNOWN_MEMBER_ID, turn, told_member_id="")
    refuse_sync(group, member_id, ErrorCode.UNKNOWN_MEMBER_ID, turn)
    group.remove(member_id)


def after_removal(state: ShardState, group: ClassicGroup, turn: Turn, reason: str) -> None:
    """Give the partitions of members that went to the others."""
    if group.state is not _EMPTY:
        rebalance_or_complete(state, group, turn, reason)


# Responses


def join_response(
    group: ClassicGroup,
    member_id: str,
    *,
    leader_id: str | None = None,
    skip_assignment: bool = False,
) -> JoinGroupResponse:
    """This generation as *member_id* sees it: the leader also gets what all members said.

    With *leader_id* the response names that one as the leader, whoever leads.
    """
    leads = (leader_id or group.leader_id) == member_id
    protocol_name = group.protocol_name
    return JoinGroupResponse(
        generation_id=group.generation_id,
        protocol_type=group.protocol_type,
        protocol_name=protocol_name,
        leader=leader_id or group.leader_id or "",
        skip_assignment=skip_assignment,
        member_id=member_id,
        members=_members(group, protocol_name) if leads and protocol_name is not None else [],
    )


def _members(group: ClassicGroup, protocol_name: str) -> list[JoinGroupResponseMember]:
    return [
        JoinGroupResponseMember(
            member_id=member.member_id,
            group_instance_id=member.group_instance_id,
            metadata=member.metadata(protocol_name),
        )
        for member in group.members.values()
    ]


def _wait_for_members(
    state: ShardState, group: ClassicGroup, kind: DeadlineKind, turn: Turn
) -> None:
    """Wait as long as the most patient member asks for, and never for no time at all.

    A deadline that sets itself for the same moment would keep one tick busy for ever.
    """
    _set(state, group, kind, turn.now_ms + max(group.rebalance_timeout_ms(), 1))


def _set(state: ShardState, group: ClassicGroup, kind: DeadlineKind, due_ms: int) -> None:
    state.deadlines.set(Deadline(kind, group.group_id), due_ms)
