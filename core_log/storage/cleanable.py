"""Which log to compact next, and how far. Pure: facts and a clock reading in, a choice out.

After Kafka's ``LogCleanerManager``: a log is *clean* up to its first dirty offset, that is, as far
as the last compaction went, and *cleanable* from there up to the first offset that must stay as it
is: the active segment, an undecided transaction, a record younger than ``min.compaction.lag.ms``.
It is worth a pass when more than ``min.cleanable.dirty.ratio`` of its bytes are cleanable, or when
its oldest dirty record has waited for ``max.compaction.lag.ms``. The dirtiest goes first.

One deviation: a segment must also be on disk for sure, by the recovery point. Recovery takes a gap
between two segments beyond it for a torn tail.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

Name = TypeVar("Name")


@dataclass(frozen=True, slots=True, kw_only=True)
class CleaningPolicy:
    """A topic's configurations for compaction. ``lag_ms_max`` None lets records wait for ever."""

    dirty_ratio_min: float = 0.5
    lag_ms_min: int = 0
    lag_ms_max: int | None = None


KAFKA_POLICY: Final = CleaningPolicy()
"""Kafka's defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DirtySegment:
    """What the choice needs to know of one segment that is not active."""

    base_offset: int
    end_offset: int  # exclusive: the base offset of the next segment
    size_bytes: int
    first_timestamp_ms: int = -1  # of its first batch; -1 when not asked for, or when it has none
    newest_timestamp_ms: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Dirtiness:
    """How much of a log is clean and how much could be cleaned now."""

    first_dirty_offset: int
    end_offset: int
    """Where the first segment begins that must stay as it is."""
    clean_bytes: int
    cleanable_bytes: int
    is_overdue: bool
    """A dirty record has waited for ``max.compaction.lag.ms``."""

    @property
    def ratio(self) -> float:
        """The share of the bytes that is cleanable; 0.0 of a log without any."""
        total_bytes = self.clean_bytes + self.cleanable_bytes
        return self.cleanable_bytes / total_bytes if total_bytes else 0.0

    def is_worth_it(self, policy: CleaningPolicy) -> bool:
        """Whether the policy wants a pass now."""
        if not self.cleanable_bytes:
            return False
        return self.is_overdue or self.ratio > policy.dirty_ratio_min


def valid_first_dirty_offset(
    checkpointed: int | None, *, log_start_offset: int, log_end_offset: int
) -> int:
    """The first dirty offset that a checkpoint may be believed for.

    Retention and DeleteRecords move a log's start past it; a log shorter than that was truncated or
    lost records, and what has grown since is dirty: then all of it is.
    """
    if checkpointed is None or not log_start_offset <= checkpointed <= log_end_offset:
        return log_start_offset
    return checkpointed


def dirtiness(
    segments: Sequence[DirtySegment],
    policy: CleaningPolicy,
    *,
    first_dirty_offset: int,
    stable_offset: int,
    now_ms: int,
) -> Dirtiness:
    """What of *segments*, all but the active one, oldest first, is clean and what is cleanable.

    Below *stable_offset* everything is on disk, committed, and decided.
    """
    end_offset = segments[0].base_offset if segments else first_dirty_offset
    clean_bytes = cleanable_bytes = 0
    is_overdue = False
    for segment in segments:
        is_dirty = segment.end_offset > first_dirty_offset
        is_young = (
            is_dirty
            and policy.lag_ms_min > 0
            and segment.newest_timestamp_ms > now_ms - policy.lag_ms_min
        )
        if segment.end_offset > stable_offset or is_young:
            break
        end_offset = segment.end_offset
        if not is_dirty:
            clean_bytes += segment.size_bytes
            continue
        cleanable_bytes += segment.size_bytes
        if policy.lag_ms_max is not None and segment.first_timestamp_ms >= 0:
            is_overdue |= now_ms - segment.first_timestamp_ms > policy.lag_ms_max
    return Dirtiness(
        first_dirty_offset=first_dirty_offset,
        end_offset=end_offset,
        clean_bytes=clean_bytes,
        cleanable_bytes=cleanable_bytes,
        is_overdue=is_overdue,
    )


def dirtiest(candidates: Iterable[tuple[Name, Dirtiness, CleaningPolicy]]) -> Name | None:
    """The log with the largest cleanable share among those worth a pass; None without any."""
    worth = [(facts.ratio, name) for name, facts, policy in candidates if facts.is_worth_it(policy)]
    return max(worth, key=lambda entry: entry[0])[1] if worth else None
