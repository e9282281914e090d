"""Committed offsets of the groups of one shard, and when they expire (KIP-211).

Offsets that a transaction has sent but not decided yet belong here too: a second map from producer
id to group, topic and partition, that ``remove`` clears, that keeps its partitions from expiring
(``expired``) and that a fetch with ``require_stable`` asks. Transactions bring it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ..protocol.schema import NO_ID
from .classic import ClassicGroup, ClassicGroupState


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedOffset:
    """Where a group stands in a partition: *offset* is the next record it will read."""

    offset: int
    leader_epoch: int = -1
    metadata: str = ""
    commit_timestamp_ms: int
    expire_timestamp_ms: int | None = None
    """Set by clients that still choose the retention of each commit (OffsetCommit 2-4)."""
    topic_id: bytes = NO_ID


Partitions = dict[int, CommittedOffset]


class Offsets:
    """A map (group, topic, partition) → committed offset. Invariant: no level of it is empty."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[str, Partitions]] = {}

    def group_ids(self) -> Iterator[str]:
        """Every group that has an offset."""
        return iter(self._groups)

    def topics(self, group_id: str) -> dict[str, Partitions]:
        """The group's offsets by topic and partition; read only."""
        return self._groups.get(group_id, {})

    def get(self, group_id: str, topic: str, partition: int) -> CommittedOffset | None:
        return self.topics(group_id).get(topic, {}).get(partition)

    def put(self, group_id: str, topic: str, partition: int, committed: CommittedOffset) -> None:
        topics = self._groups.setdefault(group_id, {})
        topics.setdefault(topic, {})[partition] = committed

    def remove(self, group_id: str, topic: str, partition: int) -> None:
        """Forget one offset; fine when there is none."""
        topics = self._groups.get(group_id, {})
        partitions = topics.get(topic, {})
        partitions.pop(partition, None)
        if not partitions:
            topics.pop(topic, None)
        if not topics:
            self._groups.pop(group_id, None)


def expired(
    group: ClassicGroup, topics: dict[str, Partitions], *, now_ms: int, retention_ms: int
) -> list[tuple[str, int]]:
    """Topic and partition of each offset of *group* that may go now.

    An offset ages from its commit, in an empty group from the moment it became empty. Topics that
    the group consumes do not age, and nothing does while consumers may consume anything: during a
    rebalance, or in a group of which only its clients know what it consumes.
    """
    if not _ages(group):
        return []
    return [
        (topic, partition)
        for topic, partitions in topics.items()
        if not group.is_subscribed_to(topic)
        for partition, committed in partitions.items()
        if _is_expired(group, committed, now_ms=now_ms, retention_ms=retention_ms)
    ]


def _ages(group: ClassicGroup) -> bool:
    if group.protocol_type is None or group.state is ClassicGroupState.EMPTY:
        return True
    return group.state is ClassicGroupState.STABLE and group.subscribed_topics is not None


def _is_expired(
    group: ClassicGroup, committed: CommittedOffset, *, now_ms: int, retention_ms: int
) -> bool:
    if committed.expire_timestamp_ms is not None:
        return now_ms >= committed.expire_timestamp_ms
    since_ms = committed.commit_timestamp_ms
    if group.protocol_type is not None and group.state is ClassicGroupState.EMPTY:
        # Old brokers did not write down when a group became empty; then the commit counts.
        since_ms = since_ms if group.state_timestamp_ms is None else group.state_timestamp_ms
    return now_ms - since_ms >= retention_ms
