"""What all requests of a shard share: its groups, offsets and deadlines."""

from typing import Final

from ..kernel.effects import Record, Turn
from ..kernel.ports import Random
from ..protocol.coordinator.frames import batch_bytes
from .classic import ClassicGroup, ClassicGroupState
from .config import GroupConfig
from .deadlines import Deadline, DeadlineKind, Deadlines
from .member import ClassicMember
from .offsets import Offsets
from .records import group_tombstone
from .topics import TopicNames


class ShardState:
    """The memory of one shard. It belongs to ``GroupShard``; request modules act on it.

    Invariants: no group id is both ours and foreign; a member's session has a deadline unless a
    request of the member is parked.
    """

    def __init__(self, config: GroupConfig, rng: Random, topics: TopicNames) -> None:
        self.config: Final = config
        self.rng: Final = rng
        self.topics: Final = topics
        self.groups: Final[dict[str, ClassicGroup]] = {}
        self.foreign_group_ids: Final[set[str]] = set()
        self.offsets: Final = Offsets()
        self.deadlines: Final = Deadlines()

    def create_group(self, group_id: str, *, now_ms: int) -> ClassicGroup:
        """An empty group under an id that must be free."""
        assert group_id not in self.groups
        assert group_id not in self.foreign_group_ids
        group = self.groups[group_id] = ClassicGroup(group_id, now_ms=now_ms)
        return group

    def ensure_group(self, group_id: str, turn: Turn) -> None:
        """Make the group that an offset is kept for, unless there is one of some protocol."""
        if group_id not in self.groups and group_id not in self.foreign_group_ids:
            self.create_group(group_id, now_ms=turn.now_ms)

    def drop_group(self, group: ClassicGroup, turn: Turn) -> None:
        """Delete a group without members, and make it so in the log."""
        assert not group.members
        for member_id in group.pending_joins:
            self.deadlines.cancel(Deadline(DeadlineKind.SESSION, group.group_id, member_id))
        for kind in (DeadlineKind.INITIAL_JOIN, DeadlineKind.JOIN, DeadlineKind.SYNC):
            self.deadlines.cancel(Deadline(kind, group.group_id))
        group.transition_to(ClassicGroupState.DEAD, now_ms=turn.now_ms)
        del self.groups[group.group_id]
        turn.append(*group_tombstone(group.group_id))
        turn.note("group_deleted", group=group.group_id, generation_id=group.generation_id)

    def expect(self, group: ClassicGroup, member: ClassicMember, turn: Turn) -> None:
        """Start the member's session clock anew."""
        self.expect_within(group, member.member_id, member.session_timeout_ms, turn)

    def expect_within(
        self, group: ClassicGroup, member_id: str, timeout_ms: int, turn: Turn
    ) -> None:
        """Give the member *timeout_ms* until it must have been heard of."""
        deadline = Deadline(DeadlineKind.SESSION, group.group_id, member_id)
        self.deadlines.set(deadline, turn.now_ms + timeout_ms)

    def expect_no_more(self, group: ClassicGroup, member_id: str) -> None:
        """Stop the session clock of a member that goes."""
        self.deadlines.cancel(Deadline(DeadlineKind.SESSION, group.group_id, member_id))

    def fits_batch(self, records: list[Record]) -> bool:
        """Whether the log takes these records as one batch."""
        return batch_bytes(records) <= self.config.batch_bytes_max
