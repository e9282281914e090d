"""The metadata quorum of one: who leads, in which epoch, and what is committed.

Pure: ``propose``, ``flushed`` and ``truncated`` come in, effects go out by ``ready``; the host
performs them in order. The shape is that of a Raft core with many voters (KIP-595), which will take
this one's place; the rules that already hold are Raft's:

- a vote and the epoch it is for are durable before anything is written in that epoch;
- an epoch begins with a LeaderChange record, and nothing is committed before that one is, so that
  records of earlier epochs are never committed by counting alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, final

from ..kernel.ids import NO_TOPIC_ID
from ..protocol.codec import encode
from ..protocol.coordinator import leader_change_message
from ..protocol.coordinator.leader_change_message import LeaderChangeMessage
from ..records.control import ControlType, build_control_batch
from ..records.record import NewRecord, build_batch
from .quorum_state import QuorumState

BATCH_BYTES_MAX: Final = 8 * 1024 * 1024
"""The largest batch Kafka reads from a metadata log; a proposal is one batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Where proposed records stand; committed once ``last_offset < committed_offset``."""

    base_offset: int
    last_offset: int
    leader_epoch: int


@dataclass(frozen=True, slots=True)
class SaveState:
    """Make the state durable before the effects behind this one."""

    state: QuorumState


@dataclass(frozen=True, slots=True)
class Append:
    """Append a batch; it carries its offsets and epoch. Report by ``flushed``."""

    batch: bytearray


Effect: TypeAlias = SaveState | Append


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaFacts:
    """How far one replica of the metadata log is, for DescribeQuorum."""

    replica_id: int
    directory_id: bytes
    log_end_offset: int
    last_fetch_ms: int
    last_caught_up_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumFacts:
    """The quorum as its leader sees it."""

    leader_id: int
    leader_epoch: int
    high_watermark: int
    voters: tuple[ReplicaFacts, ...]
    observers: tuple[ReplicaFacts, ...] = ()


@final
class Quorum:
    """One voter that is the whole quorum, and therefore leads.

    Invariants: ``committed_offset <= log_end_offset``; the epoch is higher than any in the log
    when the node starts; the committed offset never falls.
    """

    def __init__(
        self,
        *,
        node_id: int,
        directory_id: bytes,
        state: QuorumState | None,
        kraft_version: int,
        log_end_offset: int,
        last_epoch: int,
    ) -> None:
        self.node_id = node_id
        self.kraft_version = kraft_version
        self.leader_epoch = max(last_epoch, state.leader_epoch if state else 0) + 1
        self.log_end_offset = log_end_offset
        self.committed_offset = 0
        self._directory_id = directory_id if kraft_version else NO_TOPIC_ID
        self._epoch_start_offset = log_end_offset
        self._effects: list[Effect] = []

    def start(self, *, now_ms: int) -> None:
        """Vote for the only candidate, take the lead and open the epoch in the log."""
        self._effects.append(
            SaveState(
                QuorumState(
                    leader_epoch=self.leader_epoch,
                    leader_id=self.node_id,
                    # Version 0 does not carry a vote beside a leader.
                    voted_id=self.node_id if self.kraft_version else -1,
                    voted_directory_id=self._directory_id,
                    voters=() if self.kraft_version else (self.node_id,),
                    data_version=min(self.kraft_version, 1),
                )
            )
        )
        batch = build_control_batch(
            [(ControlType.LEADER_CHANGE, self._leader_change())],
            timestamp_ms=now_ms,
            base_offset=self.log_end_offset,
            leader_epoch=self.leader_epoch,
        )
        self._append(batch, count=1)

    def propose(self, records: Sequence[bytes], *, now_ms: int) -> Proposal:
        """Append records as one batch: all of them will be committed, or none.

        Raises ValueError when there are none, or more than a batch of BATCH_BYTES_MAX holds.
        """
        base_offset = self.log_end_offset
        batch = build_batch(
            [NewRecord(timestamp_ms=now_ms, value=record) for record in records],
            base_offset=base_offset,
            leader_epoch=self.leader_epoch,
        )
        if len(batch) > BATCH_BYTES_MAX:
            raise ValueError(f"a proposal of {len(batch)} bytes is over {BATCH_BYTES_MAX}")
        self._append(batch, count=len(records))
        return Proposal(
            base_offset=base_offset,
            last_offset=self.log_end_offset - 1,
            leader_epoch=self.leader_epoch,
        )

    def flushed(self, flushed_offset: int) -> int:
        """Everything below *flushed_offset* is on this node's disk; the new committed offset."""
        if flushed_offset > self._epoch_start_offset:
            self.committed_offset = max(self.committed_offset, flushed_offset)
        return self.committed_offset

    def truncated(self, end_offset: int) -> None:
        """What was appended at and above *end_offset* did not get into the log."""
        assert end_offset >= self.committed_offset, "committed records are never lost"
        self.log_end_offset = min(self.log_end_offset, end_offset)

    def ready(self) -> list[Effect]:
        """What the host must do now, in this order."""
        effects, self._effects = self._effects, []
        return effects

    def describe(self, *, now_ms: int) -> QuorumFacts:
        """The state of the quorum, for DescribeQuorum."""
        voter = ReplicaFacts(
            replica_id=self.node_id,
            directory_id=self._directory_id,
            log_end_offset=self.log_end_offset,
            last_fetch_ms=now_ms,
            last_caught_up_ms=now_ms,
        )
        return QuorumFacts(
            leader_id=self.node_id,
            leader_epoch=self.leader_epoch,
            high_watermark=self.committed_offset,
            voters=(voter,),
        )

    def check(self) -> None:
        """Assert the invariants."""
        assert 0 <= self.committed_offset <= self.log_end_offset

    def _append(self, batch: bytearray, *, count: int) -> None:
        self._effects.append(Append(batch))
        self.log_end_offset += count

    def _leader_change(self) -> bytes:
        version = min(self.kraft_version, 1)
        voters = [
            leader_change_message.Voter(
                voter_id=self.node_id, voter_directory_id=self._directory_id
            )
        ]
        return encode(
            LeaderChangeMessage(
                version=version, leader_id=self.node_id, voters=voters, granting_voters=voters
            ),
            version,
        )
