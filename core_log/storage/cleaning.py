"""One compaction of one log, from the facts for a job to the last switched segment.

The log's own part: what the job is told, whether its result still fits the log, and which segment
stands for which. The work itself is ``compaction.cleaner``'s, in any process; the names of the
files are ``swap``'s.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

from ..kernel.ports import FileSystem
from . import names
from .aborted import AbortedTransaction
from .cleanable import Dirtiness
from .compaction.job import (
    AbortedTransactionFact,
    ActiveProducer,
    CleanedSegment,
    CleanJob,
    CleanResult,
    SourceSegment,
)
from .config import LogConfig
from .producers import LastBatch
from .segment import Segment
from .swap import Replacement, SwapJob

UNPACKED_BYTES_MAX: Final = 1024 * 1024 * 1024
"""What one compressed batch may unpack to; one that claims more makes its log uncleanable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanLimits:
    """What a compaction may use, by the broker's configurations ``log.cleaner.…``."""

    map_bytes_max: int = 128 * 1024 * 1024
    """log.cleaner.dedupe.buffer.size"""
    io_buffer_bytes: int = 512 * 1024
    """log.cleaner.io.buffer.size"""


@final
class Cleaning:
    """A job that is under way, and the segments of the log that it is about."""

    __slots__ = ("job", "pending", "swap")

    def __init__(self, job: CleanJob) -> None:
        self.job: Final = job
        self.swap: SwapJob | None = None
        """There once the cleaned segments are to take their place."""
        self.pending: list[tuple[Replacement, CleanedSegment]] = []
        """Cleaned segments that are not in their place yet, oldest first."""

    @property
    def end_offset(self) -> int:
        """Where the last segment of the job ends."""
        return self.job.segments[-1].end_offset

    def begin_swap(
        self, fs: FileSystem, result: CleanResult, *, first_base_offset: int
    ) -> SwapJob | None:
        """The job that decides the swap; None when the result does not fit the log any more.

        Segments may have gone from its start meanwhile, *first_base_offset* is the log's first:
        cleaned segments that stand for none but those are dropped. One that stands for others too
        could bring records back whose abort marker another has dropped, so nothing is taken then.
        """
        ends = {segment.base_offset: segment.end_offset for segment in self.job.segments}
        replaced = [base for cleaned in result.segments for base in cleaned.replaces]
        if replaced != list(ends)[: len(replaced)]:
            return None
        wanted = []
        for cleaned in result.segments:
            place = Replacement(cleaned.base_offset, ends[cleaned.replaces[-1]])
            if cleaned.base_offset >= first_base_offset:
                wanted.append((place, cleaned))
            elif place.end_offset > first_base_offset:
                return None
        if not wanted:
            return None
        self.pending = wanted
        self.swap = SwapJob(
            fs,
            self.job.directory,
            [place for place, _ in wanted],
            file_names=frozenset(name for _, cleaned in wanted for name in _file_names(cleaned)),
        )
        return self.swap


def clean_job(  # noqa: PLR0913 - a job is made in one place, of everything it needs
    path: str,
    *,
    topic: str,
    partition: int,
    segments: Sequence[Segment],
    found: Dirtiness,
    config: LogConfig,
    limits: CleanLimits,
    producers: Sequence[LastBatch],
    aborted: Sequence[AbortedTransaction],
    secret: bytes,
    now_ms: int,
) -> CleanJob:
    """What a cleaning of *segments*, all below ``found.end_offset``, is told. Raises OSError."""
    ends = [segment.base_offset for segment in segments[1:]] + [found.end_offset]
    return CleanJob(
        directory=path,
        topic=topic,
        partition=partition,
        segments=tuple(
            SourceSegment(
                base_offset=segment.base_offset,
                end_offset=end_offset,
                size_bytes=segment.size_bytes,
            )
            for segment, end_offset in zip(segments, ends, strict=True)
        ),
        first_dirty_offset=found.first_dirty_offset,
        end_offset=found.end_offset,
        now_ms=now_ms,
        delete_retention_ms=config.delete_retention_ms,
        producers=tuple(
            ActiveProducer(
                producer_id=last.producer_id,
                producer_epoch=last.producer_epoch,
                last_data_offset=last.last_offset,
            )
            for last in producers
        ),
        aborted=tuple(
            AbortedTransactionFact(
                producer_id=entry.producer_id,
                first_offset=entry.first_offset,
                last_offset=entry.last_offset,
                last_stable_offset=entry.last_stable_offset,
            )
            for entry in aborted
        ),
        secret=secret,
        segment_bytes=config.segment_bytes,
        segment_index_bytes=config.segment_index_bytes,
        index_interval_bytes=config.index_interval_bytes,
        batch_bytes_max=config.segment_bytes,
        unpacked_bytes_max=UNPACKED_BYTES_MAX,
        map_bytes_max=limits.map_bytes_max,
        io_buffer_bytes=limits.io_buffer_bytes,
    )


def _file_names(cleaned: CleanedSegment) -> list[str]:
    suffixes = [names.LOG, names.OFFSET_INDEX, names.TIME_INDEX]
    if cleaned.has_transaction_index:
        suffixes.append(names.TRANSACTION_INDEX)
    return [names.offset_name(cleaned.base_offset, suffix) for suffix in suffixes]
