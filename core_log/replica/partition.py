"""One partition's replication state on one node: role, epochs, ISR, high watermark.

Pure: the caller brings log positions and acts on the answers. A cluster of one is an ISR of one
and goes through the same code as many. Sources: KIP-101 and KIP-279 (truncation by epoch), KIP-320
(epoch checks for clients), KIP-497 (partition epochs), KIP-966 (the high watermark waits for
``min.insync.replicas``).

We deviate from Kafka in one way: a replica counts toward the high watermark with its *durable* log
end, not its written one. For a topic with ``flush.messages=1`` that is what has reached the disk;
for a lazily flushed topic it is what has been written, which is Kafka's rule.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, final

from ..kernel.errors import ApiError, ErrorCode
from ..kernel.ids import NO_LEADER_EPOCH

ACKS_ALL: Final = -1
NO_LEADER: Final = -1


class Role(StrEnum):
    """What this node is to the partition."""

    LEADER = "leader"
    """Action: appends for producers, serves fetches, advances the high watermark.
    Transition: to FOLLOWER or OFFLINE by an assignment with a higher leader epoch."""
    FOLLOWER = "follower"
    """Action: copies the leader's log, truncates where epochs diverge.
    Transition: to LEADER or OFFLINE by an assignment with a higher leader epoch."""
    OFFLINE = "offline"
    """Action: none, nobody leads the partition or this node holds no replica of it.
    Transition: to LEADER or FOLLOWER by an assignment with a higher leader epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What the controller decided about the partition."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int


@dataclass(slots=True, kw_only=True)
class Follower:
    """What a leader knows about one other replica."""

    durable_offset: int = -1
    caught_up_ms: int = -1
    """When the follower last held all that the leader had; -1 when it never did."""


@final
class Partition:
    """Replication state of one partition.

    Invariants: the high watermark never falls while this node leads in one epoch; it is at most
    the durable log end; the leader is in the ISR; the ISR is part of the replicas; epochs never
    fall.
    """

    __slots__ = (
        "_durable_offset",
        "_followers",
        "_log_end_offset",
        "assignment",
        "high_watermark",
        "min_insync_replicas",
        "node_id",
        "role",
    )

    def __init__(
        self,
        assignment: Assignment,
        *,
        node_id: int,
        min_insync_replicas: int = 1,
        high_watermark: int = 0,
    ) -> None:
        self.node_id = node_id
        self.min_insync_replicas = min_insync_replicas
        self.high_watermark = high_watermark
        self._log_end_offset = high_watermark
        self._durable_offset = high_watermark
        self._followers: dict[int, Follower] = {}
        self._take(assignment)

    def __repr__(self) -> str:
        return (
            f"<Partition {self.role} epoch {self.leader_epoch}, "
            f"isr {list(self.assignment.isr)}, high watermark {self.high_watermark}>"
        )

    @property
    def leader_epoch(self) -> int:
        return self.assignment.leader_epoch

    @property
    def is_leader(self) -> bool:
        return self.role is Role.LEADER

    def assign(self, assignment: Assignment) -> bool:
        """Follow the controller's decision; False when it is older than what is known.

        The caller tells the log of a raised leader epoch, and stops or starts fetching when
        ``role`` changed.
        """
        known = self.assignment
        if assignment.leader_epoch < known.leader_epoch:
            return False
        if assignment.partition_epoch <= known.partition_epoch:
            return False
        self._take(assignment)
        return True

    def check_leader(self) -> None:
        """Raises NOT_LEADER_OR_FOLLOWER unless this node leads the partition."""
        if self.role is not Role.LEADER:
            raise ApiError(
                ErrorCode.NOT_LEADER_OR_FOLLOWER,
                f"node {self.node_id} is not the leader; that is {self._leader_text()}",
            )

    def check_leader_epoch(self, requested_epoch: int) -> None:
        """Pass when this node leads and the client's epoch is current or absent (-1).

        Raises NOT_LEADER_OR_FOLLOWER, FENCED_LEADER_EPOCH when the client is behind,
        UNKNOWN_LEADER_EPOCH when it is ahead of this node.
        """
        known = self.assignment.leader_epoch
        if requested_epoch not in (NO_LEADER_EPOCH, known):
            ahead = requested_epoch > known
            code = ErrorCode.UNKNOWN_LEADER_EPOCH if ahead else ErrorCode.FENCED_LEADER_EPOCH
            raise ApiError(code, f"leader epoch {requested_epoch} requested, {known} is current")
        self.check_leader()

    def check_may_append(self, acks: int) -> None:
        """Pass when a producer may append with these *acks*.

        Raises NOT_LEADER_OR_FOLLOWER, and for acks=all NOT_ENOUGH_REPLICAS when the ISR is
        smaller than ``min.insync.replicas``.
        """
        self.check_leader()
        if acks == ACKS_ALL and not self._isr_suffices():
            raise ApiError(ErrorCode.NOT_ENOUGH_REPLICAS, self._isr_text())

    def check_committed(self) -> None:
        """Raises NOT_ENOUGH_REPLICAS_AFTER_APPEND when the ISR shrank below its minimum
        between an append with acks=all and its acknowledgement.
        """
        if not self._isr_suffices():
            raise ApiError(ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, self._isr_text())

    def advance_local(self, *, log_end_offset: int, durable_offset: int) -> bool:
        """Take over this node's own log positions; True when the high watermark rose."""
        assert durable_offset <= log_end_offset, "what is durable is in the log"
        self._log_end_offset = log_end_offset
        self._durable_offset = durable_offset
        return self._advance()

    def advance_follower(self, node_id: int, *, durable_offset: int, now_ms: int) -> bool:
        """Take over how far a follower is, as its fetch said; True when the high watermark rose.

        Raises NOT_LEADER_OR_FOLLOWER, and UNKNOWN_LEADER_EPOCH never: epochs are checked first.
        """
        self.check_leader()
        follower = self._followers.get(node_id)
        if follower is None:
            raise ApiError(
                ErrorCode.REPLICA_NOT_AVAILABLE,
                f"node {node_id} is no replica: those are {list(self.assignment.replicas)}",
            )
        follower.durable_offset = durable_offset
        if durable_offset >= self._log_end_offset:
            follower.caught_up_ms = now_ms
        return self._advance()

    def isr_lagging(self, *, now_ms: int, lag_ms_max: int) -> tuple[int, ...]:
        """Members of the ISR that have not caught up for longer than *lag_ms_max*.

        The leader asks the controller to take them out; until it agrees they still count.
        """
        return tuple(
            node
            for node, follower in sorted(self._followers.items())
            if node in self.assignment.isr
            and follower.durable_offset < self._log_end_offset
            and now_ms - follower.caught_up_ms > lag_ms_max
        )

    def isr_caught_up(self) -> tuple[int, ...]:
        """Replicas outside the ISR that hold everything below the high watermark."""
        return tuple(
            node
            for node, follower in sorted(self._followers.items())
            if node not in self.assignment.isr and follower.durable_offset >= self.high_watermark
        )

    def follower_high_watermark(self, leader_high_watermark: int) -> bool:
        """As follower: take over the leader's high watermark; True when it rose."""
        bounded = min(leader_high_watermark, self._log_end_offset)
        rose = bounded > self.high_watermark
        if rose:
            self.high_watermark = bounded
        return rose

    def last_stable_offset(self, first_unstable_offset: int | None) -> int:
        """Where ``read_committed`` ends: the first open transaction or the high watermark."""
        if first_unstable_offset is None:
            return self.high_watermark
        return min(first_unstable_offset, self.high_watermark)

    def readable_end_offset(
        self, *, committed_only: bool, first_unstable_offset: int | None = None
    ) -> int:
        """Where a consumer's reading ends."""
        if committed_only:
            return self.last_stable_offset(first_unstable_offset)
        return self.high_watermark

    def truncated(self, end_offset: int) -> None:
        """The log was cut at *end_offset*: as follower after divergence, or after a failed write.

        What the leader has committed is never cut.
        """
        assert self.role is not Role.LEADER or end_offset >= self.high_watermark
        self._log_end_offset = min(self._log_end_offset, end_offset)
        self._durable_offset = min(self._durable_offset, end_offset)
        self.high_watermark = min(self.high_watermark, end_offset)

    def log_start_raised(self, log_start_offset: int) -> None:
        """The log begins at *log_start_offset* now; everything below it counts as committed."""
        if log_start_offset > self.high_watermark:
            self.high_watermark = log_start_offset
            self._log_end_offset = max(self._log_end_offset, log_start_offset)
            self._durable_offset = max(self._durable_offset, log_start_offset)

    def check(self) -> None:
        """Assert the invariants; simulation calls it after every event."""
        assigned = self.assignment
        assert set(assigned.isr) <= set(assigned.replicas)
        assert assigned.leader == NO_LEADER or assigned.leader in assigned.isr
        assert 0 <= self.high_watermark <= self._durable_offset <= self._log_end_offset

    def _take(self, assignment: Assignment) -> None:
        self.assignment = assignment
        if assignment.leader == self.node_id:
            self.role = Role.LEADER
        elif assignment.leader != NO_LEADER and self.node_id in assignment.replicas:
            self.role = Role.FOLLOWER
        else:
            self.role = Role.OFFLINE
        others = (node for node in assignment.replicas if node != self.node_id)
        known = self._followers if self.role is Role.LEADER else {}
        self._followers = {node: known.get(node) or Follower() for node in others}
        if self.role is Role.LEADER:
            self._advance()

    def _advance(self) -> bool:
        if self.role is not Role.LEADER or not self._isr_suffices():
            return False
        committed = self._durable_offset
        for node in self.assignment.isr:
            if node != self.node_id:
                committed = min(committed, self._followers[node].durable_offset)
        if committed <= self.high_watermark:
            return False
        self.high_watermark = committed
        return True

    def _isr_suffices(self) -> bool:
        # Kafka takes the smaller of the setting and the number of replicas: a topic with one
        # replica and min.insync.replicas=2 stays writable.
        wanted = min(self.min_insync_replicas, len(self.assignment.replicas))
        return len(self.assignment.isr) >= wanted

    def _isr_text(self) -> str:
        return (
            f"the in-sync replicas {list(self.assignment.isr)} are fewer than "
            f"min.insync.replicas={self.min_insync_replicas}"
        )

    def _leader_text(self) -> str:
        leader = self.assignment.leader
        return "nobody" if leader == NO_LEADER else f"node {leader}"
