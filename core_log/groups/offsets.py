"""Offsets of the groups of one shard, and when they expire (KIP-211).

Offsets that a transaction has sent and not decided yet (``pending``) are no offsets of the group:
nobody reads them. They keep the place from expiring, and go with it when it is deleted.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from .classic import ClassicGroup, ClassicGroupState
from .committed import CommittedOffset, Place
from .pending import PendingOffsets

Partitions = dict[int, CommittedOffset]


class Offsets:
    """A map (group, topic, partition) → committed offset, and what transactions have pending.

    Invariant: no level of the map is empty. ``put``, ``put_pending``, ``remove`` and ``end`` are
    called in the order of the records in the log: the youngest offset stands.
    """

    def __init__(self) -> None:
        self._groups: dict[str, dict[str, Partitions]] = {}
        self._pending = PendingOffsets()

    def group_ids(self) -> Iterator[str]:
        """Every group that has an offset, or a transaction that has sent one for it."""
        yield from self._groups
        for group_id in self._pending.group_ids():
            if group_id not in self._groups:
                yield group_id

    def places(self, group_id: str, names: AbstractSet[str] | None = None) -> list[Place]:
        """Where the group has an offset, or an open transaction has sent one.

        Only in the topics *names*, when they are given.
        """
        topics = self.topics(group_id)
        committed = [
            Place(group_id, topic, partition)
            for topic in (topics if names is None else names & topics.keys())
            for partition in topics[topic]
        ]
        pending = [
            place
            for place in self._pending.places(group_id)
            if names is None or place.topic in names
        ]
        return list(dict.fromkeys((*committed, *pending)))

    def topics(self, group_id: str) -> dict[str, Partitions]:
        """The group's committed offsets by topic and partition; read only."""
        return self._groups.get(group_id, {})

    def get(self, group_id: str, topic: str, partition: int) -> CommittedOffset | None:
        return self.topics(group_id).get(topic, {}).get(partition)

    def has(self, place: Place) -> bool:
        """Whether anything is kept for *place*, committed or pending."""
        return self.get(*place) is not None or self.is_pending(place)

    def is_pending(self, place: Place) -> bool:
        """Whether a transaction has sent an offset for *place* and is open."""
        return self._pending.is_pending(place)

    def put(self, group_id: str, topic: str, partition: int, committed: CommittedOffset) -> None:
        self._put(group_id, topic, partition, committed)
        self._pending.overtake(Place(group_id, topic, partition))

    def put_pending(self, producer_id: int, place: Place, offset: CommittedOffset) -> None:
        """Keep what the producer's open transaction has sent, until it ends."""
        self._pending.put(producer_id, place, offset)

    def end(self, producer_id: int, *, is_commit: bool) -> list[Place]:
        """The producer's transaction is over. Returns the places where its offset stands now."""
        stands = self._pending.end(producer_id, is_commit=is_commit)
        for place, offset in stands:
            self._put(*place, offset)
        return [place for place, _ in stands]

    def remove(self, group_id: str, topic: str, partition: int) -> None:
        """Forget one offset, pending ones too; fine when there is none."""
        self._pending.remove(Place(group_id, topic, partition))
        topics = self._groups.get(group_id, {})
        partitions = topics.get(topic, {})
        partitions.pop(partition, None)
        if not partitions:
            topics.pop(topic, None)
        if not topics:
            self._groups.pop(group_id, None)

    def check(self) -> None:
        """Assert the invariants; simulation calls this after every event."""
        assert all(topics and all(topics.values()) for topics in self._groups.values())
        self._pending.check()

    def _put(self, group_id: str, topic: str, partition: int, committed: CommittedOffset) -> None:
        topics = self._groups.setdefault(group_id, {})
        topics.setdefault(topic, {})[partition] = committed


def expired(
    group: ClassicGroup, offsets: Offsets, *, now_ms: int, retention_ms: int
) -> list[Place]:
    """Where *group* has an offset that may go now.

    An offset ages from its commit, in an empty group from the moment it became empty. Topics that
    the group consumes do not age, and nothing does while consumers may consume anything: during a
    rebalance, or in a group of which only its clients know what it consumes. Where a transaction
    is open nothing goes: what it will leave behind is not known.
    """
    if not _ages(group):
        return []
    aged = (
        Place(group.group_id, topic, partition)
        for topic, partitions in offsets.topics(group.group_id).items()
        if not group.is_subscribed_to(topic)
        for partition, committed in partitions.items()
        if _is_expired(group, committed, now_ms=now_ms, retention_ms=retention_ms)
    )
    return [place for place in aged if not offsets.is_pending(place)]


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
