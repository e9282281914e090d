"""The metadata log ``__cluster_metadata-0``: propose records, learn what is committed.

Works over ports: a PartitionLog for the segments, a FileSystem for snapshots and ``quorum-state``.
The interface is the one a raft core of many voters fills as well.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..kernel.ports import FileSystem
from ..storage.log import FlushJob, PartitionLog


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Where proposed records will stand; committed once ``last_offset < committed_offset``."""

    base_offset: int
    last_offset: int
    leader_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedBatch:
    """Records as they were proposed together, in order."""

    base_offset: int
    last_offset: int
    leader_epoch: int
    timestamp_ms: int
    records: Sequence[bytes]


class MetadataLog:
    """One node's metadata log."""

    @classmethod
    def open(
        cls, fs: FileSystem, log: PartitionLog, *, node_id: int, now_ms: int
    ) -> "MetadataLog":
        """Take over an opened log: read ``quorum-state``, raise the epoch, queue LeaderChange."""
        raise NotImplementedError

    @property
    def leader_epoch(self) -> int: ...
    @property
    def committed_offset(self) -> int:
        """Everything below it is on disk and can be applied."""

    def replay(self) -> Iterator[CommittedBatch]:
        """The latest snapshot, then the log behind it, as found at ``open``."""
        raise NotImplementedError

    def propose(self, records: Sequence[bytes], *, now_ms: int) -> Proposal:
        """Queue records as one atomic batch; ``write`` and a flush commit them."""
        raise NotImplementedError

    def write(self) -> None:
        """Put what is queued into the file. Raises DiskFull, LogDirectoryFailed."""

    def begin_flush(self) -> FlushJob | None: ...
    def end_flush(self, job: FlushJob) -> int:
        """The new ``committed_offset``."""
        raise NotImplementedError

    @property
    def wants_snapshot(self) -> bool:
        """The log behind the last snapshot has grown beyond its bound."""
        raise NotImplementedError

    def begin_snapshot(
        self, records: Iterable[bytes], *, last_offset: int, leader_epoch: int, timestamp_ms: int
    ) -> "SnapshotJob":
        """Prepare a snapshot of everything up to *last_offset*."""
        raise NotImplementedError

    def end_snapshot(self, job: "SnapshotJob") -> None:
        """The snapshot is durable: drop the log and the snapshots before it."""


class SnapshotJob(Protocol):
    def run(self) -> None:
        """Write the file; any thread."""
