"""One committed offset, and the place it is kept for."""

from dataclasses import dataclass
from typing import NamedTuple

from ..protocol.schema import NO_ID


class Place(NamedTuple):
    """What an offset is kept for."""

    group_id: str
    topic: str
    partition: int


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
