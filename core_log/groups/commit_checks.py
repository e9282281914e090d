"""What OffsetCommit and TxnOffsetCommit have in common: which partitions they may store.

Unknown topics and partitions are refused one by one and the others are committed. Deviation from
Kafka: offsets that do not fit into one batch are refused with INVALID_COMMIT_OFFSET_SIZE, which
says what is wrong, and not with UNKNOWN_SERVER_ERROR.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from ..kernel.effects import Record
from ..kernel.errors import ApiError, ErrorCode
from ..protocol.messages.offset_commit import OffsetCommitRequestPartition
from ..protocol.messages.txn_offset_commit import TxnOffsetCommitRequestPartition
from .committed import CommittedOffset, Place
from .records import offset_record
from .state import ShardState

_UNKNOWN: Final = (ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

RequestPartition: TypeAlias = OffsetCommitRequestPartition | TxnOffsetCommitRequestPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionCommit:
    """One partition of a request: what to store, or why not."""

    partition: int
    code: ErrorCode
    committed: CommittedOffset | None = None

    def answer(self, code: ErrorCode) -> ErrorCode:
        """The partition's own code, or *code* of the whole request where something is known."""
        return code if code and self.code not in _UNKNOWN else self.code


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicCommit:
    """One topic of a request under its name; the name is empty when the topic is unknown."""

    name: str
    partitions: list[PartitionCommit]


def unknown_topic(partitions: Iterable[RequestPartition], code: ErrorCode) -> TopicCommit:
    """Every partition is refused with *code*."""
    refused = [PartitionCommit(partition=p.partition_index, code=code) for p in partitions]
    return TopicCommit(name="", partitions=refused)


def check_topic(
    state: ShardState,
    name: str,
    topic_id: bytes,
    partitions: Iterable[RequestPartition],
    *,
    now_ms: int,
    expiry_ms: int | None = None,
) -> TopicCommit:
    """What of *partitions* may be stored, as an offset of this moment."""
    checked = [
        _check_partition(state, name, topic_id, partition, now_ms=now_ms, expiry_ms=expiry_ms)
        for partition in partitions
    ]
    return TopicCommit(name=name, partitions=checked)


def is_anything_known(commits: Iterable[TopicCommit]) -> bool:
    """Whether the request is worth asking the group."""
    return any(p.code not in _UNKNOWN for topic in commits for p in topic.partitions)


def stored(
    group_id: str, commits: Iterable[TopicCommit]
) -> Iterator[tuple[Place, CommittedOffset]]:
    """The offsets that passed, and where they belong."""
    for topic in commits:
        for commit in topic.partitions:
            if commit.committed is not None:
                yield Place(group_id, topic.name, commit.partition), commit.committed


def records_of(state: ShardState, group_id: str, commits: Iterable[TopicCommit]) -> list[Record]:
    """The records of the commit.

    Raises ApiError with INVALID_COMMIT_OFFSET_SIZE when they do not fit into one batch.
    """
    records = [offset_record(*place, committed) for place, committed in stored(group_id, commits)]
    if not state.fits_batch(records):
        raise ApiError(ErrorCode.INVALID_COMMIT_OFFSET_SIZE)
    return records


def _check_partition(
    state: ShardState,
    name: str,
    topic_id: bytes,
    partition: RequestPartition,
    *,
    now_ms: int,
    expiry_ms: int | None,
) -> PartitionCommit:
    index, metadata = partition.partition_index, partition.committed_metadata or ""
    if not state.topics.exists(name, index):
        return PartitionCommit(partition=index, code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if len(metadata) > state.config.offset_metadata_chars_max:
        return PartitionCommit(partition=index, code=ErrorCode.OFFSET_METADATA_TOO_LARGE)
    committed = CommittedOffset(
        offset=partition.committed_offset,
        leader_epoch=partition.committed_leader_epoch,
        metadata=metadata,
        commit_timestamp_ms=now_ms,
        expire_timestamp_ms=expiry_ms,
        topic_id=bytes(topic_id),
    )
    return PartitionCommit(partition=index, code=ErrorCode.NONE, committed=committed)
