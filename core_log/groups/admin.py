"""DescribeGroups 0-6, ListGroups 0-5, DeleteGroups 0-2 and OffsetDelete 0.

Describing and listing answer from memory, which runs ahead of the log by what is being appended;
deleting answers when the tombstones are committed. Authorized operations are the handler's.

Offsets that open transactions have sent are deleted with the others: the tombstone is younger, so
a commit does not bring them back.
"""

from typing import Final

from ..kernel.effects import Turn
from ..kernel.errors import ApiError, ErrorCode
from ..protocol.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from ..protocol.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from ..protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from ..protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from .classic import ClassicGroup, ClassicGroupState
from .committed import Place
from .expiry import forget_offset
from .member import Waiting
from .refusals import after_failed_append
from .state import ShardState

GROUP_TYPE: Final = "classic"
_NOT_FOUND_SINCE: Final = 6


# Describe


def describe_groups(
    state: ShardState, request: DescribeGroupsRequest, *, waiting: Waiting, turn: Turn
) -> None:
    """Answer with each group; one that does not exist is Dead."""
    described = [
        _describe(state.groups[group_id])
        if group_id in state.groups
        else _describe_unknown(group_id, waiting.version)
        for group_id in request.groups
    ]
    turn.reply(waiting.reply_to, DescribeGroupsResponse(groups=described))


def _describe(group: ClassicGroup) -> DescribedGroup:
    """What members said and got shows while it is in force, in a stable group."""
    protocol = group.protocol_name if group.state is ClassicGroupState.STABLE else None
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=protocol or "",
        members=[
            DescribedGroupMember(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_metadata=b"" if protocol is None else member.metadata(protocol),
                member_assignment=b"" if protocol is None else member.assignment,
            )
            for member in group.members.values()
        ],
    )


def _describe_unknown(group_id: str, version: int) -> DescribedGroup:
    dead = ClassicGroupState.DEAD.value
    if version < _NOT_FOUND_SINCE:
        return DescribedGroup(group_id=group_id, group_state=dead)
    return DescribedGroup(
        group_id=group_id,
        group_state=dead,
        error_code=ErrorCode.GROUP_ID_NOT_FOUND,
        error_message=f"Group {group_id} not found.",
    )


# List


def list_groups(
    state: ShardState, request: ListGroupsRequest, *, waiting: Waiting, turn: Turn
) -> None:
    """Answer with the groups in the states and of the types asked for; none named means all."""
    types = {name.lower() for name in request.types_filter}
    states = {name.strip().lower() for name in request.states_filter}
    groups = [
        ListedGroup(
            group_id=group.group_id,
            protocol_type=group.protocol_type or "",
            group_state=group.state.value,
            group_type=GROUP_TYPE,
        )
        for group in state.groups.values()
        if not types or GROUP_TYPE in types
        if not states or group.state.value.lower() in states
    ]
    turn.reply(waiting.reply_to, ListGroupsResponse(groups=groups))


# Delete


def delete_groups(
    state: ShardState, request: DeleteGroupsRequest, *, waiting: Waiting, turn: Turn
) -> None:
    """Delete each group that has no members, with its offsets."""
    results = [
        DeletableGroupResult(group_id=group_id, error_code=_delete(state, group_id, turn))
        for group_id in request.groups_names
    ]
    turn.atomic = False
    turn.reply_after_commit(
        waiting.reply_to,
        DeleteGroupsResponse(results=results),
        lambda code: after_failed_append(request, version=waiting.version, code=code),
    )


def _delete(state: ShardState, group_id: str, turn: Turn) -> ErrorCode:
    group = state.groups.get(group_id)
    if group is None:
        return ErrorCode.GROUP_ID_NOT_FOUND
    if group.state is not ClassicGroupState.EMPTY:
        return ErrorCode.NON_EMPTY_GROUP
    # Offsets first: a crash in between must not leave them without their group.
    for place in state.offsets.places(group_id):
        forget_offset(state, place, turn)
    state.drop_group(group, turn)
    return ErrorCode.NONE


# Delete offsets


def delete_offsets(
    state: ShardState, request: OffsetDeleteRequest, *, waiting: Waiting, turn: Turn
) -> None:
    """Delete the offsets of topics that the group does not consume."""
    try:
        topics = _delete_offsets(state, request, turn)
    except ApiError as error:
        turn.reply(waiting.reply_to, OffsetDeleteResponse(error_code=error.code))
        return
    turn.atomic = False
    turn.reply_after_commit(
        waiting.reply_to,
        OffsetDeleteResponse(topics=topics),
        lambda code: after_failed_append(request, version=waiting.version, code=code),
    )


def _delete_offsets(
    state: ShardState, request: OffsetDeleteRequest, turn: Turn
) -> list[OffsetDeleteResponseTopic]:
    """The response's topics. Raises ApiError when the group allows no deletion at all."""
    if not request.group_id:
        raise ApiError(ErrorCode.INVALID_GROUP_ID)
    group = state.groups.get(request.group_id)
    if group is None:
        raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND)
    if group.state is not ClassicGroupState.EMPTY and not group.uses_consumer_protocol():
        raise ApiError(ErrorCode.NON_EMPTY_GROUP)  # nobody knows what its members consume
    return [_delete_topic_offsets(state, group, topic, turn) for topic in request.topics]


def _delete_topic_offsets(
    state: ShardState, group: ClassicGroup, topic: OffsetDeleteRequestTopic, turn: Turn
) -> OffsetDeleteResponseTopic:
    partitions = []
    for partition in topic.partitions:
        index = partition.partition_index
        code = ErrorCode.NONE
        if not state.topics.exists(topic.name, index):
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        elif group.is_subscribed_to(topic.name):
            code = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
        elif state.offsets.has(place := Place(group.group_id, topic.name, index)):
            forget_offset(state, place, turn)
        partitions.append(OffsetDeleteResponsePartition(partition_index=index, error_code=code))
    return OffsetDeleteResponseTopic(name=topic.name, partitions=partitions)
