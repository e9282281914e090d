"""The state machine of one classic group: who is in it, at which generation, in which state.

Members announce the protocols they support, the group picks one and a leader, the leader hands
out partitions. The group never looks into what members tell each other, with one exception: the
topics in a consumer's subscription keep offsets from expiring and from being deleted.

Sources: KIP-62 (rebalance timeout), KIP-345 (static members), KIP-394 (pending members). One
deviation: DEAD is the state of a group that has left the shard, and no request ever meets it.

This module holds facts and guards them. What follows from a request or from the time is decided
in ``rebalance`` and in the module of the request.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

from ..kernel.errors import ApiError, ErrorCode
from .member import ClassicMember, GroupProtocol, Waiting
from .subscriptions import subscribed_topics

CONSUMER: Final = "consumer"
"""The protocol type of groups whose metadata are consumers' subscriptions."""


class ClassicGroupState(StrEnum):
    """Where a group stands; the values are what descriptions and lists show."""

    EMPTY = "Empty"
    """No members; offsets may remain.

    Action: a join is accepted; anything that names a member is refused with UNKNOWN_MEMBER_ID;
    offsets may be fetched, and committed without a member.
    Transition: a member joins → PREPARING_REBALANCE; deleted or expired → DEAD.
    """

    PREPARING_REBALANCE = "PreparingRebalance"
    """Waiting for every member to join.

    Action: joins are parked; heartbeats and syncs get REBALANCE_IN_PROGRESS; offsets of the
    generation that ends may be committed.
    Transition: all known members have joined, or the rebalance timeout has passed →
    COMPLETING_REBALANCE; every member has left → EMPTY.
    """

    COMPLETING_REBALANCE = "CompletingRebalance"
    """Waiting for the leader's assignment.

    Action: syncs of followers are parked; heartbeats count; commits get REBALANCE_IN_PROGRESS.
    Transition: the leader syncs → STABLE; a member joins with other metadata, a new one joins, one
    leaves, fails or does not sync in time → PREPARING_REBALANCE.
    """

    STABLE = "Stable"
    """Every member may have its assignment.

    Action: syncs return the assignment at once; heartbeats and commits are accepted; a follower
    that joins with what it said before gets the generation at hand.
    Transition: the leader joins, a follower joins with other metadata, a new member joins, one
    leaves or fails → PREPARING_REBALANCE.
    """

    DEAD = "Dead"
    """The group is gone; descriptions of unknown groups show it.

    Action: none. Transition: none.
    """


_S = ClassicGroupState
TRANSITIONS: Final[dict[ClassicGroupState, frozenset[ClassicGroupState]]] = {
    _S.EMPTY: frozenset({_S.PREPARING_REBALANCE, _S.DEAD}),
    _S.PREPARING_REBALANCE: frozenset({_S.COMPLETING_REBALANCE, _S.EMPTY, _S.DEAD}),
    _S.COMPLETING_REBALANCE: frozenset({_S.STABLE, _S.PREPARING_REBALANCE, _S.DEAD}),
    _S.STABLE: frozenset({_S.PREPARING_REBALANCE, _S.DEAD}),
    _S.DEAD: frozenset(),
}
"""For each state, the states that may follow it."""


class ClassicGroup:
    """One group.

    Invariants, see ``check``: the leader is a member; pending joins are no members, pending syncs
    and parked requests are of members; only PREPARING_REBALANCE parks joins, only
    COMPLETING_REBALANCE parks syncs; EMPTY has no members and no protocol.
    """

    def __init__(self, group_id: str, *, now_ms: int | None) -> None:
        self.group_id: Final = group_id
        self.state = ClassicGroupState.EMPTY
        self.previous_state = ClassicGroupState.EMPTY
        self.state_timestamp_ms = now_ms  # None in records of old brokers
        self.generation_id = 0
        self.protocol_type: str | None = None
        self.protocol_name: str | None = None
        self.leader_id: str | None = None
        self.members: dict[str, ClassicMember] = {}
        self.static_members: dict[str, str] = {}  # group instance id → member id
        self.pending_joins: dict[str, None] = {}  # ids handed out, in order; a set with an order
        self.pending_syncs: dict[str, None] = {}
        self.awaiting_join: dict[str, Waiting] = {}
        self.awaiting_sync: dict[str, Waiting] = {}
        self.new_member_added = False  # since the initial wait was last extended
        self.initial_wait_ms_left = 0
        self.subscribed_topics: frozenset[str] | None = None  # None: unknown
        self._support: dict[str, int] = {}  # protocol name → members that support it

    def __repr__(self) -> str:
        return (
            f"<ClassicGroup {self.group_id!r} {self.state.value} generation {self.generation_id}, "
            f"{len(self.members)} members, {len(self.awaiting_join)} joining>"
        )

    # State

    def transition_to(self, state: ClassicGroupState, *, now_ms: int) -> None:
        """Enter *state*, which must be one that may follow."""
        assert state in TRANSITIONS[self.state], f"{self!r} cannot become {state.value}"
        self.previous_state, self.state = self.state, state
        self.state_timestamp_ms = now_ms

    def can_rebalance(self) -> bool:
        return ClassicGroupState.PREPARING_REBALANCE in TRANSITIONS[self.state]

    def all_members_joined(self) -> bool:
        return len(self.members) == len(self.awaiting_join) and not self.pending_joins

    def start_next_generation(self, *, now_ms: int) -> None:
        """Count the generation up and become COMPLETING_REBALANCE, or EMPTY without members."""
        self.generation_id += 1
        self.protocol_name = self.select_protocol() if self.members else None
        self.learn_subscribed_topics()
        self.pending_syncs.clear()
        state = _S.COMPLETING_REBALANCE if self.members else _S.EMPTY
        self.transition_to(state, now_ms=now_ms)

    # Members

    def add(self, member: ClassicMember) -> None:
        """Take *member* in; its protocols must be supported. The first one becomes the leader."""
        if not self.members:
            self.protocol_type = member.protocol_type
        assert member.protocol_type == self.protocol_type
        if member.group_instance_id is not None:
            assert member.group_instance_id not in self.static_members
            self.static_members[member.group_instance_id] = member.member_id
        if self.leader_id is None:
            self.leader_id = member.member_id
        self.members[member.member_id] = member
        self.pending_joins.pop(member.member_id, None)
        self._count_support(member, 1)

    def remove(self, member_id: str) -> None:
        """Forget the member or pending member; the oldest one left leads if it was the leader.

        A parked request of the member must have been answered before.
        """
        assert member_id not in self.awaiting_join
        assert member_id not in self.awaiting_sync
        member = self.members.pop(member_id, None)
        if member is not None:
            self._count_support(member, -1)
            if member.group_instance_id is not None:
                del self.static_members[member.group_instance_id]
        if member_id == self.leader_id:
            self.leader_id = next(iter(self.members), None)
        self.pending_joins.pop(member_id, None)
        self.pending_syncs.pop(member_id, None)

    def update(
        self,
        member: ClassicMember,
        protocols: tuple[GroupProtocol, ...],
        *,
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
    ) -> None:
        """Replace what *member* said when it joined last."""
        self._count_support(member, -1)
        member.protocols = protocols
        member.rebalance_timeout_ms = rebalance_timeout_ms
        member.session_timeout_ms = session_timeout_ms
        self._count_support(member, 1)

    def replace_static(self, old_member_id: str, new_member_id: str) -> ClassicMember:
        """Give the static member a new id; all else, its assignment and its lead too, stays.

        It becomes the youngest member. Parked requests of the old id must have been answered.
        """
        assert old_member_id not in self.awaiting_join
        assert old_member_id not in self.awaiting_sync
        member = self.members.pop(old_member_id)
        assert member.group_instance_id is not None
        member.member_id = new_member_id
        self.members[new_member_id] = member
        self.static_members[member.group_instance_id] = new_member_id
        if self.leader_id == old_member_id:
            self.leader_id = new_member_id
        if old_member_id in self.pending_syncs:
            del self.pending_syncs[old_member_id]
            self.pending_syncs[new_member_id] = None
        return member

    def is_leader(self, member_id: str) -> bool:
        return self.leader_id == member_id

    def elect_joined_leader(self) -> bool:
        """Whether a member that has joined leads, after the lead went to one if need be."""
        if self.leader_id not in self.awaiting_join:
            joined = next((m for m in self.members if m in self.awaiting_join), None)
            if joined is None:
                return False
            self.leader_id = joined
        return True

    def rebalance_timeout_ms(self) -> int:
        """The longest time any member asks for."""
        return max((m.rebalance_timeout_ms for m in self.members.values()), default=0)

    def validate_member(self, member_id: str, group_instance_id: str | None) -> None:
        """Accept a request that names this member.

        Raises ApiError: UNKNOWN_MEMBER_ID when there is no such member or instance,
        FENCED_INSTANCE_ID when the instance belongs to another member id by now.
        """
        if group_instance_id is not None:
            current = self.static_members.get(group_instance_id)
            if current is None:
                raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
            if current != member_id:
                raise ApiError(ErrorCode.FENCED_INSTANCE_ID)
        if member_id not in self.members:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)

    # Protocols

    def supports(self, protocol_type: str, protocols: Sequence[GroupProtocol]) -> bool:
        """Whether a member with these protocols shares one with all the others."""
        if self.state is _S.EMPTY:
            return bool(protocol_type and protocols)
        return protocol_type == self.protocol_type and any(
            self._support.get(protocol.name, 0) == len(self.members) for protocol in protocols
        )

    def select_protocol(self) -> str:
        """The protocol that all support and most prefer; the oldest members break a tie."""
        everybody = len(self.members)
        candidates = {name for name, count in self._support.items() if count == everybody}
        votes: dict[str, int] = {}
        for member in self.members.values():
            vote = member.vote(candidates)
            votes[vote] = votes.get(vote, 0) + 1
        return max(votes, key=votes.__getitem__)

    # Topics

    def uses_consumer_protocol(self) -> bool:
        return self.protocol_type == CONSUMER

    def learn_subscribed_topics(self) -> None:
        """Read the topics of this generation out of the members' subscriptions."""
        self.subscribed_topics = self._read_subscriptions()

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether a member consumes *topic*; consumers that nobody can read may consume all."""
        if self.subscribed_topics is None:
            return self.uses_consumer_protocol()
        return topic in self.subscribed_topics

    def _read_subscriptions(self) -> frozenset[str] | None:
        if not self.uses_consumer_protocol():
            return None
        if not self.members:
            return frozenset()
        assert self.protocol_name is not None, "members have a protocol once topics are read"
        return subscribed_topics(m.metadata(self.protocol_name) for m in self.members.values())

    def _count_support(self, member: ClassicMember, change: int) -> None:
        for protocol in member.protocols:
            count = self._support.get(protocol.name, 0) + change
            if count:
                self._support[protocol.name] = count
            else:
                del self._support[protocol.name]

    # Invariants

    def check(self) -> None:
        """Assert the invariants; simulation calls this after every event."""
        members = self.members.keys()
        assert (self.leader_id in members) if members else self.leader_id is None
        assert not members & self.pending_joins.keys()
        assert self.pending_syncs.keys() <= members
        assert self.awaiting_join.keys() <= members
        assert self.awaiting_sync.keys() <= members
        assert not self.awaiting_join or self.state is _S.PREPARING_REBALANCE
        assert not self.awaiting_sync or self.state is _S.COMPLETING_REBALANCE
        if self.state is _S.EMPTY:
            assert not members
            assert self.protocol_name is None
        _check_static(self.static_members, self.members.values())


def _check_static(static_members: dict[str, str], members: Iterable[ClassicMember]) -> None:
    assert static_members == {
        m.group_instance_id: m.member_id for m in members if m.group_instance_id is not None
    }
