"""Heartbeat 0-4 and LeaveGroup 0-5, and what happens when a member is not heard of.

A leave names several members since version 3; an administrator may name a static member by its
instance alone (KIP-345).
"""

from typing import Final

from ..kernel.effects import Turn
from ..kernel.errors import ApiError, ErrorCode
from ..protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ..protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from .classic import ClassicGroup, ClassicGroupState
from .member import Waiting
from .rebalance import (
    after_removal,
    complete_join_if_all_joined,
    prepare_rebalance,
    remove_member,
)
from .refusals import after_failed_append, leave_refusal
from .state import ShardState

_LEAVE_MEMBERS_SINCE: Final = 3


# Heartbeats


def heartbeat(
    state: ShardState, request: HeartbeatRequest, *, waiting: Waiting, turn: Turn
) -> None:
    """Keep the member alive and tell it whether to join again."""
    code = ErrorCode.NONE
    try:
        group = _beating_group(state, request)
    except ApiError as error:
        code = error.code
    else:
        state.expect(group, group.members[request.member_id], turn)
        if group.state is ClassicGroupState.PREPARING_REBALANCE:
            code = ErrorCode.REBALANCE_IN_PROGRESS
    turn.reply(waiting.reply_to, HeartbeatResponse(error_code=code))


def _beating_group(state: ShardState, request: HeartbeatRequest) -> ClassicGroup:
    """The group of the member that beats. Raises ApiError when it is not its member any more."""
    if not request.group_id:
        raise ApiError(ErrorCode.INVALID_GROUP_ID)
    group = state.groups.get(request.group_id)
    if group is None:
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
    group.validate_member(request.member_id, request.group_instance_id)
    if request.generation_id != group.generation_id:
        raise ApiError(ErrorCode.ILLEGAL_GENERATION)
    return group


# Leaving


def leave_group(
    state: ShardState, request: LeaveGroupRequest, *, waiting: Waiting, turn: Turn
) -> None:
    """Let the members go, each with its own error code, and rebalance once for all of them."""
    version = waiting.version
    if not request.group_id:
        code = ErrorCode.INVALID_GROUP_ID
        turn.reply(waiting.reply_to, leave_refusal(request, version=version, code=code))
        return
    group = state.groups.get(request.group_id)
    if group is None:
        code = ErrorCode.UNKNOWN_MEMBER_ID
        turn.reply(waiting.reply_to, leave_refusal(request, version=version, code=code))
        return
    several = version >= _LEAVE_MEMBERS_SINCE
    members = request.members if several else [MemberIdentity(member_id=request.member_id)]
    codes = [_leave(state, group, member, turn) for member in members]
    if ErrorCode.NONE in codes:
        after_removal(state, group, turn, "members left")
    response = LeaveGroupResponse(
        error_code=ErrorCode.NONE if several else codes[0],
        members=[
            MemberResponse(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                error_code=code,
            )
            for member, code in zip(members, codes, strict=True)
        ]
        if several
        else [],
    )
    # A group that has become empty is written down: the leave is done when that is.
    turn.reply_after_commit(
        waiting.reply_to,
        response,
        lambda code: after_failed_append(request, version=version, code=code),
    )


def _leave(
    state: ShardState, group: ClassicGroup, identity: MemberIdentity, turn: Turn
) -> ErrorCode:
    member_id, instance_id = identity.member_id, identity.group_instance_id
    if not member_id and instance_id is not None:
        member_id = group.static_members.get(instance_id, "")
    if member_id not in group.pending_joins:
        try:
            group.validate_member(member_id, instance_id)
        except ApiError as error:
            return error.code
    remove_member(state, group, member_id, turn)
    turn.note("member_left", group=group.group_id, member=member_id)
    return ErrorCode.NONE


# Time


def session_over(state: ShardState, group: ClassicGroup, member_id: str, turn: Turn) -> None:
    """Remove a member, or an id that was handed out and never used.

    A member with a parked request is alive as far as anybody knows, and its clock starts anew
    when the request is answered. A new member is the exception, see ``ClassicMember.is_new``.
    """
    if member_id in group.pending_joins:
        remove_member(state, group, member_id, turn)
        complete_join_if_all_joined(state, group, turn)
        return
    member = group.members[member_id]
    parked = member_id in group.awaiting_join or member_id in group.awaiting_sync
    if parked and not member.is_new:
        return
    remove_member(state, group, member_id, turn)
    turn.note("member_expired", group=group.group_id, member=member_id)
    after_removal(state, group, turn, f"member {member_id} was not heard of")


def sync_wait_over(state: ShardState, group: ClassicGroup, turn: Turn) -> None:
    """Remove the members that have joined this generation and never asked for its assignment."""
    assert group.pending_syncs, "the last sync cancels the deadline"
    for member_id in list(group.pending_syncs):
        remove_member(state, group, member_id, turn)
        turn.note("member_expired", group=group.group_id, member=member_id)
    prepare_rebalance(state, group, turn, "members did not sync in time")
