"""JoinGroup, versions 0-9: a member enters a group, or enters it again.

A dynamic member gets an id first and joins with it (KIP-394, version 4), a static one takes over
what its instance had (KIP-345, version 5), a static leader that comes back to a stable group is
told to skip the assignment (KIP-814, version 9).

Deviations from Kafka: a join that is refused does not create the group, member ids that wait are
bounded, and so is what one member may say. A second join of a member that waits already answers
the first one; Kafka forgets it, which only works where a connection has one request at a time.
"""

import uuid
from typing import Final

from ..kernel.effects import Caller, Turn
from ..kernel.errors import ApiError, ErrorCode
from ..protocol.messages.join_group import JoinGroupRequest
from .classic import ClassicGroup, ClassicGroupState
from .member import ClassicMember, GroupProtocol, Waiting, distinct
from .rebalance import (
    complete_join_if_all_joined,
    join_response,
    park_join,
    rebalance_or_complete,
    refuse_join,
    refuse_sync,
    remove_member,
)
from .records import group_record
from .refusals import after_failed_append, join_refusal
from .state import ShardState

_MEMBER_ID_REQUIRED_SINCE: Final = 4
_SKIP_ASSIGNMENT_SINCE: Final = 9
_UUID_BYTES: Final = 16
_REASON_CHARS_MAX: Final = 255  # where Kafka's client cuts it

_EMPTY = ClassicGroupState.EMPTY
_PREPARING = ClassicGroupState.PREPARING_REBALANCE
_COMPLETING = ClassicGroupState.COMPLETING_REBALANCE
_STABLE = ClassicGroupState.STABLE


class _Join:
    """One JoinGroup request, unpacked."""

    def __init__(self, request: JoinGroupRequest, caller: Caller, waiting: Waiting) -> None:
        self.request: Final = request
        self.caller: Final = caller
        self.waiting: Final = waiting
        self.protocols: Final = distinct(
            GroupProtocol(p.name, bytes(p.metadata)) for p in request.protocols
        )
        # Version 0 has no rebalance timeout and other versions may say -1.
        timeout_ms = request.rebalance_timeout_ms
        self.rebalance_timeout_ms: Final = (
            request.session_timeout_ms if timeout_ms < 0 else timeout_ms
        )

    @property
    def reason(self) -> str:
        return (self.request.reason or "a member joins")[:_REASON_CHARS_MAX]


def join_group(
    state: ShardState,
    request: JoinGroupRequest,
    *,
    caller: Caller,
    waiting: Waiting,
    turn: Turn,
) -> None:
    """Answer now, or park the request until everybody has joined."""
    join = _Join(request, caller, waiting)
    try:
        _check_request(state, join)
        if request.member_id:
            _join_known(state, join, turn)
        else:
            _join_unknown(state, join, turn)
    except ApiError as error:
        _refuse(join, error.code, turn)


def _check_request(state: ShardState, join: _Join) -> None:
    """Raises ApiError when no group could accept the request."""
    request, config = join.request, state.config
    if not request.group_id:
        raise ApiError(ErrorCode.INVALID_GROUP_ID)
    timeout_ms = request.session_timeout_ms
    if not config.session_timeout_ms_min <= timeout_ms <= config.session_timeout_ms_max:
        raise ApiError(ErrorCode.INVALID_SESSION_TIMEOUT)
    if request.group_id in state.foreign_group_ids:
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if (
        sum(len(p.name) + len(p.metadata) for p in join.protocols)
        > config.member_metadata_bytes_max
    ):
        raise ApiError(ErrorCode.INVALID_REQUEST)


# Members without an id


def _join_unknown(state: ShardState, join: _Join, turn: Turn) -> None:
    group = state.groups.get(join.request.group_id)
    if group is None:
        group = _create(state, join, turn)
    elif not _has_room(state, group, ""):
        raise ApiError(ErrorCode.GROUP_MAX_SIZE_REACHED)
    elif not group.supports(join.request.protocol_type, join.protocols):
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)

    instance_id = join.request.group_instance_id
    member_id = _new_member_id(state, join.caller, instance_id)
    if instance_id is None:
        _join_dynamic(state, group, join, member_id, turn)
    elif instance_id in group.static_members:
        _replace_static(state, group, join, member_id, turn)
    else:
        _add_member(state, group, join, member_id, turn)


def _create(state: ShardState, join: _Join, turn: Turn) -> ClassicGroup:
    """A new group, kept in the log from its first moment. Raises ApiError when it has no use."""
    if not (join.request.protocol_type and join.protocols):
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    group = state.create_group(join.request.group_id, now_ms=turn.now_ms)
    turn.append(*group_record(group))
    return group


def _join_dynamic(
    state: ShardState, group: ClassicGroup, join: _Join, member_id: str, turn: Turn
) -> None:
    if join.waiting.version < _MEMBER_ID_REQUIRED_SINCE:
        _add_member(state, group, join, member_id, turn)
        return
    # The client joins again with this id. Were it simply added, a client that loses the response
    # and tries again would leave one dead member behind for each try.
    if len(group.pending_joins) >= state.config.pending_members_max:
        raise ApiError(ErrorCode.GROUP_MAX_SIZE_REACHED)
    group.pending_joins[member_id] = None
    state.expect_within(group, member_id, join.request.session_timeout_ms, turn)
    _refuse(join, ErrorCode.MEMBER_ID_REQUIRED, turn, member_id=member_id)


def _new_member_id(state: ShardState, caller: Caller, instance_id: str | None) -> str:
    """An id that shows whose it is; nobody can guess it."""
    unique = uuid.UUID(bytes=state.rng.randbytes(_UUID_BYTES), version=4)
    return f"{caller.client_id if instance_id is None else instance_id}-{unique}"


# Members with an id


def _join_known(state: ShardState, join: _Join, turn: Turn) -> None:
    group = state.groups.get(join.request.group_id)
    if group is None:
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
    member_id = join.request.member_id
    if not _has_room(state, group, member_id):
        # One that is still a member and comes too late is turned out.
        remove_member(state, group, member_id, turn)
        complete_join_if_all_joined(state, group, turn)
        raise ApiError(ErrorCode.GROUP_MAX_SIZE_REACHED)
    if not group.supports(join.request.protocol_type, join.protocols):
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if member_id in group.pending_joins:
        if join.request.group_instance_id is not None:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)  # the id was given to a dynamic member
        _add_member(state, group, join, member_id, turn)
        return
    group.validate_member(member_id, join.request.group_instance_id)
    _rejoin(state, group, join, group.members[member_id], turn)


def _rejoin(
    state: ShardState, group: ClassicGroup, join: _Join, member: ClassicMember, turn: Turn
) -> None:
    """A member joins again: park it, rebalance for it, or tell it what it may have missed."""
    unchanged = member.protocols == join.protocols
    # The leader joins when it sees that the topics have changed: that calls for new assignments
    # although nothing that members say has changed.
    leader_asks = group.state is _STABLE and group.is_leader(member.member_id)
    if group.state in (_COMPLETING, _STABLE) and unchanged and not leader_asks:
        response = join_response(group, member.member_id)
        turn.reply(join.waiting.reply_to, response)
        return
    _update(group, join, member)
    _park_and_rebalance(state, group, join, member, turn)


# Static members


def _replace_static(
    state: ShardState, group: ClassicGroup, join: _Join, member_id: str, turn: Turn
) -> None:
    """The instance came back under a new id: it gets what it had, and the old id is fenced.

    A stable group does not rebalance for it, if its protocol stays the same.
    """
    assert join.request.group_instance_id is not None
    old_leader_id = group.leader_id
    old_member_id = group.static_members[join.request.group_instance_id]
    state.expect_no_more(group, old_member_id)
    fenced = ErrorCode.FENCED_INSTANCE_ID
    refuse_join(group, old_member_id, fenced, turn, told_member_id=old_member_id)
    refuse_sync(group, old_member_id, fenced, turn)
    member = group.replace_static(old_member_id, member_id)
    state.expect(group, member, turn)
    _update(group, join, member)

    if group.state is _STABLE and group.select_protocol() == group.protocol_name:
        record = group_record(group)
        if state.fits_batch([record]):
            group.learn_subscribed_topics()  # as a replay of the record would
            turn.append(*record)
            _answer_static(group, join, member_id, old_leader_id, turn)
            return
    _park_and_rebalance(state, group, join, member, turn)


def _answer_static(
    group: ClassicGroup, join: _Join, member_id: str, old_leader_id: str | None, turn: Turn
) -> None:
    """This generation for a static member that came back, once its new id is committed.

    Before version 9 a leader that came back is told that its old id leads: it would compute an
    assignment otherwise, and nobody has asked for one.
    """
    version = join.waiting.version
    if version >= _SKIP_ASSIGNMENT_SINCE:
        leads = group.is_leader(member_id)
        response = join_response(group, member_id, skip_assignment=leads)
    else:
        response = join_response(group, member_id, leader_id=old_leader_id)
    request = join.request
    turn.reply_after_commit(
        join.waiting.reply_to,
        response,
        lambda code: after_failed_append(request, version=version, code=code),
    )


# What all joins share


def _add_member(
    state: ShardState, group: ClassicGroup, join: _Join, member_id: str, turn: Turn
) -> None:
    member = ClassicMember(
        member_id=member_id,
        group_instance_id=join.request.group_instance_id,
        client_id=join.caller.client_id,
        client_host=join.caller.client_host,
        rebalance_timeout_ms=join.rebalance_timeout_ms,
        session_timeout_ms=join.request.session_timeout_ms,
        protocol_type=join.request.protocol_type,
        protocols=join.protocols,
        is_new=True,
    )
    if group.state is _PREPARING and group.previous_state is _EMPTY:
        group.new_member_added = True
    group.add(member)
    state.expect_within(group, member_id, state.config.new_member_join_timeout_ms, turn)
    _park_and_rebalance(state, group, join, member, turn)


def _update(group: ClassicGroup, join: _Join, member: ClassicMember) -> None:
    group.update(
        member,
        join.protocols,
        rebalance_timeout_ms=join.rebalance_timeout_ms,
        session_timeout_ms=join.request.session_timeout_ms,
    )


def _park_and_rebalance(
    state: ShardState, group: ClassicGroup, join: _Join, member: ClassicMember, turn: Turn
) -> None:
    park_join(group, member.member_id, join.waiting, turn)
    rebalance_or_complete(state, group, turn, join.reason)


def _has_room(state: ShardState, group: ClassicGroup, member_id: str) -> bool:
    """Whether the group may take the member in, or keep it.

    During a rebalance those who have joined count: a group that is too large, since the bound was
    lowered, loses those who join last.
    """
    if group.state is _EMPTY:
        return True
    if group.state is _PREPARING:
        size, inside = len(group.awaiting_join), member_id in group.awaiting_join
    else:
        size, inside = len(group.members), member_id in group.members
    return inside or size < state.config.group_size_max


def _refuse(join: _Join, code: ErrorCode, turn: Turn, *, member_id: str | None = None) -> None:
    told = join.request.member_id if member_id is None else member_id
    if code is ErrorCode.GROUP_MAX_SIZE_REACHED:
        told = ""
    version = join.waiting.version
    turn.reply(join.waiting.reply_to, join_refusal(version=version, code=code, member_id=told))
