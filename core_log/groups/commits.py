"""OffsetCommit, versions 2-10: a group writes down where it stands.

A commit comes from a member of the generation at hand, or from nobody in particular (generation
-1, no member) while the group has no members: then the group is a store of offsets for consumers
that choose their partitions themselves. Version 10 names topics by id.
"""

from typing import Final

from ..kernel.effects import Turn
from ..kernel.errors import ApiError, ErrorCode
from ..protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ..protocol.schema import NO_ID
from .classic import ClassicGroup, ClassicGroupState
from .commit_checks import (
    TopicCommit,
    check_topic,
    is_anything_known,
    records_of,
    stored,
    unknown_topic,
)
from .member import Waiting
from .refusals import append_code
from .state import ShardState

_TOPIC_IDS_SINCE: Final = 10
_GROUP_NOT_FOUND_SINCE: Final = 9


def commit_offsets(
    state: ShardState, request: OffsetCommitRequest, *, waiting: Waiting, turn: Turn
) -> None:
    """Store the offsets, and answer when they are committed.

    As in Kafka, nobody asks the group when no topic of the request is known: such a commit is no
    sign of life. An empty group id is one like any other here, for old consumers without a group.
    """
    commits = [
        _check_topic(state, request, topic, waiting.version, turn) for topic in request.topics
    ]
    try:
        if is_anything_known(commits):
            _check_sender(state, request, waiting.version, turn)
        records = records_of(state, request.group_id, commits)
    except ApiError as error:
        turn.reply(waiting.reply_to, _response(request, commits, error.code))
        return
    if not records:
        turn.reply(waiting.reply_to, _response(request, commits))
        return
    state.ensure_group(request.group_id, turn)
    for place, committed in stored(request.group_id, commits):
        state.offsets.put(*place, committed)
    for record in records:
        turn.append(*record)
    turn.reply_after_commit(
        waiting.reply_to,
        _response(request, commits),
        lambda code: _response(request, commits, append_code(code)),
    )


def _check_topic(
    state: ShardState,
    request: OffsetCommitRequest,
    topic: OffsetCommitRequestTopic,
    version: int,
    turn: Turn,
) -> TopicCommit:
    if version >= _TOPIC_IDS_SINCE:
        name, topic_id = state.topics.name_of(topic.topic_id), topic.topic_id
        unknown = ErrorCode.UNKNOWN_TOPIC_ID
    else:
        topic_id = state.topics.id_of(topic.name) or NO_ID
        name = topic.name if topic_id != NO_ID else None
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if name is None:
        return unknown_topic(topic.partitions, unknown)
    expiry_ms = None
    if request.retention_time_ms != -1:
        expiry_ms = turn.now_ms + request.retention_time_ms
    return check_topic(
        state, name, topic_id, topic.partitions, now_ms=turn.now_ms, expiry_ms=expiry_ms
    )


def _check_sender(
    state: ShardState, request: OffsetCommitRequest, version: int, turn: Turn
) -> None:
    """Raises ApiError unless the group takes a commit from whoever sent the request.

    A commit is a sign of life of its member.
    """
    group = state.groups.get(request.group_id)
    if group is None:
        _check_without_group(request, version)
        return
    _check_member(group, request)
    member = group.members.get(request.member_id)
    if member is not None:
        state.expect(group, member, turn)


def _check_without_group(request: OffsetCommitRequest, version: int) -> None:
    """A group without members and without a past is made by its first commit."""
    if request.generation_id_or_member_epoch < 0:
        return
    if version >= _GROUP_NOT_FOUND_SINCE:
        raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND)
    raise ApiError(ErrorCode.ILLEGAL_GENERATION)


def _check_member(group: ClassicGroup, request: OffsetCommitRequest) -> None:
    generation_id, instance_id = request.generation_id_or_member_epoch, request.group_instance_id
    if generation_id < 0 and group.state is ClassicGroupState.EMPTY:
        return
    if generation_id < 0 and not request.member_id and instance_id is None:
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
    group.validate_member(request.member_id, instance_id)
    if generation_id != group.generation_id:
        raise ApiError(ErrorCode.ILLEGAL_GENERATION)
    if group.state is ClassicGroupState.COMPLETING_REBALANCE:
        # The member has joined the generation and not learned what it owns in it.
        raise ApiError(ErrorCode.REBALANCE_IN_PROGRESS)


def _response(
    request: OffsetCommitRequest, commits: list[TopicCommit], code: ErrorCode = ErrorCode.NONE
) -> OffsetCommitResponse:
    """Each partition's own code; when the commit failed as a whole, *code* for all but those of
    which nobody knows anything.
    """
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    OffsetCommitResponsePartition(
                        partition_index=partition.partition, error_code=partition.answer(code)
                    )
                    for partition in commit.partitions
                ],
            )
            for topic, commit in zip(request.topics, commits, strict=True)
        ]
    )
