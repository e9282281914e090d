"""OffsetCommit, versions 2-10: a group writes down where it stands.

A commit comes from a member of the generation at hand, or from nobody in particular (generation
-1, no member) while the group has no members: then the group is a store of offsets for consumers
that choose their partitions themselves.

Version 10 names topics by id. Unknown topics and partitions are refused one by one and the others
are committed. Deviation from Kafka: offsets that do not fit into one batch are refused with
INVALID_COMMIT_OFFSET_SIZE, which says what is wrong, and not with UNKNOWN_SERVER_ERROR.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ..kernel.effects import Record, Turn
from ..kernel.errors import ApiError, ErrorCode
from ..protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ..protocol.schema import NO_ID
from .classic import ClassicGroup, ClassicGroupState
from .member import Waiting
from .offsets import CommittedOffset
from .records import offset_record
from .refusals import append_code
from .state import ShardState

_TOPIC_IDS_SINCE: Final = 10
_GROUP_NOT_FOUND_SINCE: Final = 9
_UNKNOWN: Final = (ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Commit:
    """One partition of the request: what to store, or why not."""

    partition: int
    code: ErrorCode
    committed: CommittedOffset | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _TopicCommits:
    """One topic of the request under its name; the name is empty when the topic is unknown."""

    topic: OffsetCommitRequestTopic
    name: str
    partitions: list[_Commit]


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
        if any(_is_known(commit) for topic in commits for commit in topic.partitions):
            _check_sender(state, request, waiting.version, turn)
        records = _records(state, request.group_id, commits)
    except ApiError as error:
        turn.reply(waiting.reply_to, _response(commits, error.code))
        return
    if not records:
        turn.reply(waiting.reply_to, _response(commits))
        return
    _ensure_group(state, request.group_id, turn)
    for name, partition, committed in _stored(commits):
        state.offsets.put(request.group_id, name, partition, committed)
    for record in records:
        turn.append(*record)
    turn.reply_after_commit(
        waiting.reply_to,
        _response(commits),
        lambda code: _response(commits, append_code(code)),
    )


def _check_topic(
    state: ShardState,
    request: OffsetCommitRequest,
    topic: OffsetCommitRequestTopic,
    version: int,
    turn: Turn,
) -> _TopicCommits:
    if version >= _TOPIC_IDS_SINCE:
        name, topic_id = state.topics.name_of(topic.topic_id), topic.topic_id
        unknown = ErrorCode.UNKNOWN_TOPIC_ID
    else:
        topic_id = state.topics.id_of(topic.name) or NO_ID
        name = topic.name if topic_id != NO_ID else None
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if name is None:
        refused = [_Commit(partition=p.partition_index, code=unknown) for p in topic.partitions]
        return _TopicCommits(topic=topic, name="", partitions=refused)
    expiry_ms = None
    if request.retention_time_ms != -1:
        expiry_ms = turn.now_ms + request.retention_time_ms
    checked = [
        _check_partition(state, name, topic_id, partition, expiry_ms=expiry_ms, turn=turn)
        for partition in topic.partitions
    ]
    return _TopicCommits(topic=topic, name=name, partitions=checked)


def _check_partition(
    state: ShardState,
    name: str,
    topic_id: bytes,
    partition: OffsetCommitRequestPartition,
    *,
    expiry_ms: int | None,
    turn: Turn,
) -> _Commit:
    index, metadata = partition.partition_index, partition.committed_metadata or ""
    if not state.topics.exists(name, index):
        return _Commit(partition=index, code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if len(metadata) > state.config.offset_metadata_chars_max:
        return _Commit(partition=index, code=ErrorCode.OFFSET_METADATA_TOO_LARGE)
    committed = CommittedOffset(
        offset=partition.committed_offset,
        leader_epoch=partition.committed_leader_epoch,
        metadata=metadata,
        commit_timestamp_ms=turn.now_ms,
        expire_timestamp_ms=expiry_ms,
        topic_id=bytes(topic_id),
    )
    return _Commit(partition=index, code=ErrorCode.NONE, committed=committed)


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


def _ensure_group(state: ShardState, group_id: str, turn: Turn) -> None:
    if group_id not in state.groups and group_id not in state.foreign_group_ids:
        state.create_group(group_id, now_ms=turn.now_ms)


def _records(state: ShardState, group_id: str, commits: list[_TopicCommits]) -> list[Record]:
    """The records of the commit. Raises ApiError when they do not fit into one batch."""
    records = [
        offset_record(group_id, name, partition, committed)
        for name, partition, committed in _stored(commits)
    ]
    if not state.fits_batch(records):
        raise ApiError(ErrorCode.INVALID_COMMIT_OFFSET_SIZE)
    return records


def _stored(commits: list[_TopicCommits]) -> Iterator[tuple[str, int, CommittedOffset]]:
    for topic in commits:
        for commit in topic.partitions:
            if commit.committed is not None:
                yield topic.name, commit.partition, commit.committed


def _is_known(commit: _Commit) -> bool:
    return commit.code not in _UNKNOWN


def _response(
    commits: list[_TopicCommits], code: ErrorCode = ErrorCode.NONE
) -> OffsetCommitResponse:
    """Each partition's own code; when the commit failed as a whole, *code* for all but those of
    which nobody knows anything.
    """
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=topic.topic.name,
                topic_id=topic.topic.topic_id,
                partitions=[
                    OffsetCommitResponsePartition(
                        partition_index=commit.partition,
                        error_code=code if code and _is_known(commit) else commit.code,
                    )
                    for commit in topic.partitions
                ],
            )
            for topic in commits
        ]
    )
