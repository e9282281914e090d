"""OffsetFetch, versions 1-10: a group reads where it stands; several groups since version 8.

The answer waits for every append before it: nobody is told an offset that could still be lost
with the log's tail. Kafka does so when ``require_stable`` is set, as its own clients do, and else
answers with the last offset that is committed; ours is never older.

Version 10 names topics by id, and does not find offsets of a topic that was deleted and made anew.

Since version 7 ``require_stable`` asks for offsets that no open transaction can change any more:
where one can the answer is UNSTABLE_OFFSET_COMMIT, and the client comes back (KIP-447). When no
topics are named Kafka leaves out partitions that only a transaction has sent something for, as if
they had nothing to wait for; we name them with that error.
"""

from dataclasses import dataclass
from typing import Final

from ..kernel.effects import Turn
from ..kernel.errors import ErrorCode
from ..protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from ..protocol.schema import NO_ID
from .committed import Place
from .member import Waiting
from .refusals import after_failed_append
from .state import ShardState

_GROUPS_SINCE: Final = 8
_TOPIC_IDS_SINCE: Final = 10
_NO_OFFSET: Final = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fetch:
    """What holds for all partitions of a request."""

    version: int
    require_stable: bool


def fetch_offsets(
    state: ShardState, request: OffsetFetchRequest, *, waiting: Waiting, turn: Turn
) -> None:
    """Answer with the offsets asked for, or with all of the group's when none are named."""
    version = waiting.version
    fetch = _Fetch(version=version, require_stable=request.require_stable)
    if version >= _GROUPS_SINCE:
        response = OffsetFetchResponse(
            groups=[_fetch_group(state, group, fetch) for group in request.groups]
        )
    else:
        response = _as_single(_fetch_group(state, _as_group(request), fetch))
    turn.reply_after_commit(
        waiting.reply_to,
        response,
        lambda code: after_failed_append(request, version=version, code=code),
    )


def _fetch_group(
    state: ShardState, group: OffsetFetchRequestGroup, fetch: _Fetch
) -> OffsetFetchResponseGroup:
    if group.topics is None:
        topics = _all_topics(state, group.group_id, fetch)
    else:
        topics = [_fetch_topic(state, group.group_id, topic, fetch) for topic in group.topics]
    return OffsetFetchResponseGroup(group_id=group.group_id, topics=topics)


def _all_topics(state: ShardState, group_id: str, fetch: _Fetch) -> list[OffsetFetchResponseTopics]:
    """Every offset of the group; where topics go by id, without those that are gone by now."""
    indexes: dict[str, list[int]] = {}
    for _, name, index in state.offsets.places(group_id):
        if fetch.require_stable or state.offsets.get(group_id, name, index) is not None:
            indexes.setdefault(name, []).append(index)
    topics = []
    for name, partitions in indexes.items():
        topic_id = state.topics.id_of(name) or NO_ID
        if fetch.version >= _TOPIC_IDS_SINCE and topic_id == NO_ID:
            continue
        fetched = OffsetFetchResponseTopics(name=name, topic_id=topic_id)
        fetched.partitions = [
            _fetch_partition(state, Place(group_id, name, index), topic_id, fetch)
            for index in partitions
        ]
        topics.append(fetched)
    return topics


def _fetch_topic(
    state: ShardState, group_id: str, topic: OffsetFetchRequestTopics, fetch: _Fetch
) -> OffsetFetchResponseTopics:
    name: str | None = topic.name
    if fetch.version >= _TOPIC_IDS_SINCE:
        name = state.topics.name_of(topic.topic_id)
    partitions = [
        _partition(index, code=ErrorCode.UNKNOWN_TOPIC_ID)
        if name is None
        else _fetch_partition(state, Place(group_id, name, index), topic.topic_id, fetch)
        for index in topic.partition_indexes
    ]
    return OffsetFetchResponseTopics(
        name=topic.name, topic_id=topic.topic_id, partitions=partitions
    )


def _fetch_partition(
    state: ShardState, place: Place, topic_id: bytes, fetch: _Fetch
) -> OffsetFetchResponsePartitions:
    if fetch.require_stable and state.offsets.is_pending(place):
        return _partition(place.partition, code=ErrorCode.UNSTABLE_OFFSET_COMMIT)
    committed = state.offsets.get(*place)
    if committed is None or _differ(topic_id, committed.topic_id):
        return _partition(place.partition)
    return OffsetFetchResponsePartitions(
        partition_index=place.partition,
        committed_offset=committed.offset,
        committed_leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
    )


def _differ(topic_id: bytes, other: bytes) -> bool:
    """Whether two topics are not the same; where an id is not known, nobody can tell."""
    return NO_ID not in (topic_id, other) and topic_id != other


def _partition(index: int, *, code: ErrorCode = ErrorCode.NONE) -> OffsetFetchResponsePartitions:
    """A partition without an offset."""
    return OffsetFetchResponsePartitions(
        partition_index=index, committed_offset=_NO_OFFSET, metadata="", error_code=code
    )


def _as_group(request: OffsetFetchRequest) -> OffsetFetchRequestGroup:
    """The one group of a request before version 8."""
    topics = None
    if request.topics is not None:
        topics = [
            OffsetFetchRequestTopics(name=t.name, partition_indexes=t.partition_indexes)
            for t in request.topics
        ]
    return OffsetFetchRequestGroup(group_id=request.group_id, topics=topics)


def _as_single(group: OffsetFetchResponseGroup) -> OffsetFetchResponse:
    """The response before version 8."""
    return OffsetFetchResponse(
        topics=[
            OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetFetchResponsePartition(
                        partition_index=partition.partition_index,
                        committed_offset=partition.committed_offset,
                        committed_leader_epoch=partition.committed_leader_epoch,
                        metadata=partition.metadata,
                        error_code=partition.error_code,
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in group.topics
        ],
        error_code=group.error_code,
    )
