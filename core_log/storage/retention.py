"""Which segments a partition log may delete now.

Pure: the caller brings the facts and a clock reading, raises the log start offset durably and
only then deletes the files, oldest first.

The rules are those of Kafka's ``UnifiedLog.deleteOldSegments``: the oldest segment goes first,
nothing past the high watermark goes, a segment is as old as its *newest* record, and the log is
too big while it would keep its bound without the segment; a segment that lies below the log start
offset whole (DeleteRecords moved it) is nobody's any more, and goes under any policy. Where a topic
is only compacted the policy has no bounds. We deviate in three ways:

- The active segment stays; a caller that wants it gone rolls the log first.
- Segments without timestamps do not age. Kafka takes the file's modification time, which a
  restore or a new replica resets.
- A segment that compaction has emptied has no age and frees no byte. It goes with the next one that
  does: alone it would move the log start past consumers that stand in the gap, for nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentFacts:
    """What retention needs to know of one segment."""

    end_offset: int  # exclusive: the base offset of the next segment
    size_bytes: int
    timestamp_ms_max: int  # -1 when no record carries a timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPolicy:
    """``retention.ms`` and ``retention.bytes``. Raises ValueError for a negative bound."""

    age_ms_max: int | None  # None keeps records of any age
    log_bytes_max: int | None  # None lets the log grow

    def __post_init__(self) -> None:
        for bound in (self.age_ms_max, self.log_bytes_max):
            if bound is not None and bound < 0:
                raise ValueError(f"retention bounds are >= 0 or None, got {bound}")


def expired_count(
    segments: Sequence[SegmentFacts],
    policy: RetentionPolicy,
    *,
    now_ms: int,
    high_watermark: int,
    log_start_offset: int = 0,
) -> int:
    """How many of the oldest *segments* may be deleted.

    *segments* is the whole log, oldest first; the last one is active.
    """
    bytes_left = sum(segment.size_bytes for segment in segments)
    count = 0
    for index, segment in enumerate(segments[:-1]):
        if segment.end_offset > high_watermark:
            break  # consumers have not been able to read it yet
        bytes_left -= segment.size_bytes
        is_below_start = segment.end_offset <= log_start_offset
        if not segment.size_bytes and not is_below_start:
            continue  # it neither goes alone nor keeps what follows
        if not (
            is_below_start or _too_old(segment, policy, now_ms) or _too_big(bytes_left, policy)
        ):
            break
        count = index + 1
    return count


def _too_old(segment: SegmentFacts, policy: RetentionPolicy, now_ms: int) -> bool:
    if policy.age_ms_max is None or segment.timestamp_ms_max < 0:
        return False
    return now_ms - segment.timestamp_ms_max > policy.age_ms_max


def _too_big(bytes_left: int, policy: RetentionPolicy) -> bool:
    # Without the segment the log still holds the bound: so the segment is surplus.
    return policy.log_bytes_max is not None and bytes_left >= policy.log_bytes_max
