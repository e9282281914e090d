"""Offsets and groups that go because of the time, or because their topic went.

The shard looks through its groups every ``offsets_retention_check_ms`` and takes a few at a time:
a partition with a hundred thousand groups must not hold up the heartbeats of the others.
"""

from collections import deque
from typing import Final

from ..kernel.effects import Turn
from .classic import ClassicGroup, ClassicGroupState
from .committed import Place
from .deadlines import Deadline, DeadlineKind
from .offsets import expired
from .records import offset_record
from .state import ShardState

_GROUPS_PER_STEP: Final = 500
_OFFSETS_PER_STEP: Final = 5_000
"""At some 60 bytes for each tombstone a step asks for a third of a megabyte at most, give or take
one group."""
_RETENTION: Final = Deadline(DeadlineKind.RETENTION)


class Sweep:
    """The walk through all groups that deletes what has expired."""

    def __init__(self) -> None:
        self._group_ids_left: deque[str] = deque()

    def schedule(self, state: ShardState, *, now_ms: int) -> None:
        """Begin the next walk after one check interval."""
        state.deadlines.set(_RETENTION, now_ms + state.config.offsets_retention_check_ms)

    def step(self, state: ShardState, turn: Turn) -> None:
        """Look at the next few groups; come back at once while some are left."""
        if not self._group_ids_left:
            self._group_ids_left.extend(state.groups)
        for _ in range(_GROUPS_PER_STEP):
            if not self._group_ids_left or len(turn.records) >= _OFFSETS_PER_STEP:
                break
            group = state.groups.get(self._group_ids_left.popleft())
            if group is not None:
                _expire(state, group, turn)
        turn.atomic = False
        if self._group_ids_left:
            state.deadlines.set(_RETENTION, turn.now_ms)
        else:
            self.schedule(state, now_ms=turn.now_ms)


def forget_offset(state: ShardState, place: Place, turn: Turn) -> None:
    """Delete one offset and what transactions have pending for it, in memory and in the log."""
    state.offsets.remove(*place)
    turn.append(*offset_record(*place, None))


def forget_topics(state: ShardState, names: frozenset[str], turn: Turn) -> None:
    """Delete every offset in these topics, foreign groups' too: the topics are gone."""
    turn.atomic = False
    for group_id in list(state.offsets.group_ids()):
        for place in state.offsets.places(group_id, names):
            forget_offset(state, place, turn)


def _expire(state: ShardState, group: ClassicGroup, turn: Turn) -> None:
    """Delete the group's expired offsets, and the group itself when nothing of it is left.

    A group without members and offsets has no use, however young; one in which a member is about
    to join, or for which a transaction is open, has.
    """
    gone = expired(
        group,
        state.offsets,
        now_ms=turn.now_ms,
        retention_ms=state.config.offsets_retention_ms,
    )
    for place in gone:
        forget_offset(state, place, turn)
    if gone:
        turn.note("offsets_expired", group=group.group_id, count=len(gone))
    empty = group.state is ClassicGroupState.EMPTY and not group.pending_joins
    if empty and not state.offsets.places(group.group_id):
        state.drop_group(group, turn)
