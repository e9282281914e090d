"""SyncGroup, versions 0-5: the leader hands in the assignment, everybody takes a part home.

Since version 5 a member says which protocol it believes in (KIP-559).
"""

from typing import Final

from ..kernel.effects import Turn
from ..kernel.errors import ApiError, ErrorCode
from ..protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from .classic import ClassicGroup, ClassicGroupState
from .member import Waiting
from .rebalance import (
    answer_syncs,
    park_sync,
    rebalance_or_complete,
    reply_with_assignment,
    revoke_assignments,
    sync_received,
)
from .records import group_record
from .state import ShardState

_PROTOCOL_REQUIRED_SINCE: Final = 5


def sync_group(
    state: ShardState, request: SyncGroupRequest, *, waiting: Waiting, turn: Turn
) -> None:
    """Answer now, or park the request until the leader has sent the assignment."""
    try:
        group = _group(state, request, waiting.version)
    except ApiError as error:
        turn.reply(waiting.reply_to, SyncGroupResponse(error_code=error.code))
        return
    member_id = request.member_id
    if group.state is ClassicGroupState.PREPARING_REBALANCE:
        code = ErrorCode.REBALANCE_IN_PROGRESS
        turn.reply(waiting.reply_to, SyncGroupResponse(error_code=code))
        return
    if group.state is ClassicGroupState.STABLE:
        sync_received(state, group, member_id)
        reply_with_assignment(group, member_id, waiting, turn)
        return
    park_sync(group, member_id, waiting, turn)
    sync_received(state, group, member_id)
    if group.is_leader(member_id):
        _assign(state, group, request, turn)


def _group(state: ShardState, request: SyncGroupRequest, version: int) -> ClassicGroup:
    """The group that the request is for. Raises ApiError when the request does not fit it."""
    if not request.group_id:
        raise ApiError(ErrorCode.INVALID_GROUP_ID)
    named = request.protocol_type is not None and request.protocol_name is not None
    if version >= _PROTOCOL_REQUIRED_SINCE and not named:
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    group = state.groups.get(request.group_id)
    if group is None:
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
    group.validate_member(request.member_id, request.group_instance_id)
    if request.generation_id != group.generation_id:
        raise ApiError(ErrorCode.ILLEGAL_GENERATION)
    if _differs(request.protocol_type, group.protocol_type) or _differs(
        request.protocol_name, group.protocol_name
    ):
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    return group


def _differs(said: str | None, known: str | None) -> bool:
    return said is not None and known is not None and said != known


def _assign(state: ShardState, group: ClassicGroup, request: SyncGroupRequest, turn: Turn) -> None:
    """Take the leader's assignment over and answer all who wait for it.

    Members that the leader has left out get nothing; names that are no members are passed over.
    The group is stable at once in memory; nobody hears of it before the record is committed.
    """
    assignments = {a.member_id: bytes(a.assignment) for a in request.assignments}
    for member in group.members.values():
        member.assignment = assignments.get(member.member_id, b"")
    record = group_record(group)
    if not state.fits_batch([record]):
        revoke_assignments(state, group, turn, ErrorCode.UNKNOWN_SERVER_ERROR)
        reason = "the assignment does not fit into a record"
        rebalance_or_complete(state, group, turn, reason)
        return
    group.transition_to(ClassicGroupState.STABLE, now_ms=turn.now_ms)
    turn.append(*record)
    answer_syncs(state, group, turn)
