"""Compacts logs: chooses the dirtiest, has it cleaned elsewhere, puts the result in its place.

One pass at a time, in steps that each leave the loop free: the cleaner works in a process of its
own; a checkpoint makes the recovery point durable and the disk threads decide the swap; segments
change names a few per turn. A pass that anything comes between is given up and begun anew later;
the log is the same then as before.

After Kafka's ``LogCleaner``; what differs: a damaged log is left alone with its reason, as there,
but a cleaner that dies takes no log with it, unless it dies of the same one again and again.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias, final

from ..kernel.errors import ApiError
from ..kernel.ports import Clock, FileSystem
from ..storage.cleanable import Dirtiness, dirtiest
from ..storage.compaction.job import CleanJob, CleanResult, CleanStats
from ..storage.errors import DiskFull, LogDirectoryFailed
from ..storage.log import PartitionLog
from ..storage.notes import Note
from ..storage.swap import SwapJob, complete, discard
from .compaction_config import CompactionConfig
from .housekeeping import Background, Checkpointed, Housekeeping
from .partitions import Hosted, Partitions
from .timers import Timers

SWITCHED_PER_TURN: Final = 16
"""Segments that change names in one turn of the loop: eight renames each, some 10 µs a rename."""

FAILURES_MAX: Final = 3
"""Passes over one log in a row that the cleaner may not survive; then it is left alone."""

PAUSE_MS_MAX: Final = 300_000
"""The longest wait after failures; it doubles from ``log.cleaner.backoff.ms`` on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanerFailed:
    """The cleaner could not do a job, though nothing is known to be wrong with the log."""

    reason: str


Outcome: TypeAlias = CleanResult | CleanerFailed


class Cleaner(Protocol):
    """Does clean jobs away from the loop, one at a time."""

    def run(
        self, job: CleanJob, *, bytes_per_second_max: float | None, done: Callable[[Outcome], None]
    ) -> None:
        """Begin *job*; *done* is called on the loop, once."""
        ...


@final
class CompactionStats:
    """What compaction did since the start, and in its last pass."""

    __slots__ = ("bytes_in", "bytes_out", "last", "passes")

    def __init__(self) -> None:
        self.passes = 0
        self.bytes_in = 0
        self.bytes_out = 0
        self.last = CleanStats()

    @property
    def last_seconds(self) -> float:
        """How long the last pass took, filling the map and rewriting."""
        return self.last.map_seconds + self.last.clean_seconds

    def passed(self, stats: CleanStats) -> None:
        """A pass has ended well."""
        self.passes += 1
        self.bytes_in += stats.bytes_in
        self.bytes_out += stats.bytes_out
        self.last = stats


@final
class Compaction:
    """Owned by the loop. State: one pass is under way (``_busy_with``), or a timer is set."""

    def __init__(  # noqa: PLR0913 - composed in one place
        self,
        *,
        partitions: Partitions,
        housekeeping: Housekeeping,
        cleaner: Cleaner,
        fs: FileSystem,
        clock: Clock,
        timers: Timers,
        background: Background,
        config: Callable[[], CompactionConfig],
        note: Callable[[Note], None],
        failed: Callable[[LogDirectoryFailed], None],
    ) -> None:
        """*config* gives the settings in force; it is asked before every look."""
        self.stats: Final = CompactionStats()
        self.uncleanable: Final[dict[Hosted, str]] = {}
        """Logs that are left alone until the next start, with the reason."""
        self.dirty_ratio_max = 0.0
        """The largest cleanable share of a log at the last look."""
        self._partitions = partitions
        self._housekeeping = housekeeping
        self._cleaner = cleaner
        self._fs = fs
        self._clock = clock
        self._timers = timers
        self._background = background
        self._config = config
        self._note = note
        self._failed = failed
        self._busy_with: Hosted | None = None
        self._failures: dict[Hosted, int] = {}
        self._failures_in_a_row = 0

    @property
    def is_busy(self) -> bool:
        """A pass is under way."""
        return self._busy_with is not None

    def start(self) -> None:
        """Begin to look, if compaction is enabled at all."""
        if self._config().is_enabled:
            self._look_in(self._config().backoff_ms)

    # Choosing

    def _look_in(self, wait_ms: int) -> None:
        self._timers.at(self._clock.monotonic_ms() + wait_ms, self._look)

    def _look(self) -> None:
        for gone in [hosted for hosted in self.uncleanable if not self._is_here(hosted)]:
            del self.uncleanable[gone]
        candidates = list(self._candidates(self._clock.now_ms()))
        self.dirty_ratio_max = max((found.ratio for _, found in candidates), default=0.0)
        chosen = dirtiest(
            ((hosted, found), found, hosted.log.config.cleaning) for hosted, found in candidates
        )
        if chosen is None or not self._begin(*chosen):
            self._look_in(self._config().backoff_ms)

    def _candidates(self, now_ms: int) -> Iterator[tuple[Hosted, Dirtiness]]:
        for hosted in list(self._partitions):
            log = hosted.log
            is_ours = log.config.cleanup_compact and hosted not in self.uncleanable
            if not is_ours or hosted.offline_reason is not None:
                continue
            if log.recovery_point < log.active_base_offset:
                self._partitions.flush(hosted)  # lazily flushed, or rolled by the clock
            try:
                found = log.dirtiness(high_watermark=hosted.high_watermark, now_ms=now_ms)
            except LogDirectoryFailed as failure:
                self._failed(failure)
            except ApiError as error:
                self._leave_alone(hosted, str(error))
            else:
                if found is not None:
                    yield hosted, found

    # One pass

    def _begin(self, hosted: Hosted, found: Dirtiness) -> bool:
        config = self._config()
        log = hosted.log
        try:
            job = log.begin_clean(found, config.limits, now_ms=self._clock.now_ms())
        except LogDirectoryFailed as failure:
            self._failed(failure)
            return False
        except DiskFull as full:
            self._postponed(log, str(full))
            return False
        except ApiError as error:
            self._leave_alone(hosted, str(error))
            return False
        if job is None:
            return False
        self._busy_with = hosted
        self._cleaner.run(
            job,
            bytes_per_second_max=config.bytes_per_second_max,
            done=lambda outcome: self._worked(hosted, job, outcome),
        )
        return True

    def _worked(self, hosted: Hosted, job: CleanJob, outcome: Outcome) -> None:
        fault = isinstance(outcome, CleanerFailed) or outcome.fault is not None
        if fault and not hosted.log.fits(job):
            self._give_up(hosted, job)  # files that are cut or removed meanwhile look damaged
        elif isinstance(outcome, CleanerFailed):
            self._not_survived(hosted, job, outcome.reason)
        elif outcome.fault is not None:
            self._leave_alone(hosted, str(outcome.fault))
            self._give_up(hosted, job)
        elif outcome.clean_until_offset <= job.first_dirty_offset:
            # It would be tried again at once, and for ever.
            self._leave_alone(hosted, "log.cleaner.dedupe.buffer.size is too small for one batch")
            self._give_up(hosted, job)
        elif not self._is_here(hosted):
            self._ended(hosted, job, None)
        else:
            self._failures.pop(hosted, None)
            self._housekeeping.checkpoint().then(
                lambda ended: self._checkpointed(hosted, job, outcome, ended)
            )

    def _checkpointed(
        self, hosted: Hosted, job: CleanJob, result: CleanResult, ended: Checkpointed
    ) -> None:
        error = next((error for error in ended if error is not None), None)
        if error is not None:
            self._postponed(hosted.log, str(error))
            self._give_up(hosted, job)
            return
        try:
            swap = hosted.log.begin_swap(job, result)
        except LogDirectoryFailed:
            swap = None
        if swap is None:
            self._give_up(hosted, job)
            return

        def decided(outcome: OSError | None) -> None:
            if outcome is not None:
                self._disk_failed(hosted, job, outcome)
            elif swap.settle():
                self._switch(hosted, job, swap, result)
            else:
                self._give_up(hosted, job)

        self._background.run(swap.run, decided)

    def _switch(self, hosted: Hosted, job: CleanJob, swap: SwapJob, result: CleanResult) -> None:
        try:
            is_done = hosted.log.switch(swap, count_max=SWITCHED_PER_TURN)
        except LogDirectoryFailed as failure:
            self._failed(failure)
            self._ended(hosted, job, None)
            return
        if is_done:
            self._background.run(
                lambda: self._unless_deleted(job, complete),
                lambda error: self._switched(hosted, job, result, error),
            )
        else:
            self._timers.at(
                self._clock.monotonic_ms(), lambda: self._switch(hosted, job, swap, result)
            )

    def _switched(
        self, hosted: Hosted, job: CleanJob, result: CleanResult, error: OSError | None
    ) -> None:
        if error is not None:
            self._disk_failed(hosted, job, error)
            return
        stats = result.stats
        self.stats.passed(stats)
        self._note(
            Note(
                event="log_compacted",
                path=job.directory,
                facts={
                    "clean_until_offset": result.clean_until_offset,
                    "bytes_before": stats.bytes_in,
                    "bytes_after": stats.bytes_out,
                    "records_before": stats.records_in,
                    "records_after": stats.records_out,
                    "milliseconds": round(self.stats.last_seconds * 1000),
                },
            )
        )
        self._ended(hosted, job, result.clean_until_offset)

    # How passes end

    def _ended(self, hosted: Hosted, job: CleanJob, clean_until_offset: int | None) -> None:
        """Look again: at once after a pass that got on, else after a while."""
        hosted.log.end_clean(job, clean_until_offset)
        self._busy_with = None
        if clean_until_offset is not None:
            self._failures_in_a_row = 0
            self._look_in(0)
            return
        self._failures_in_a_row += 1
        backoff_ms = self._config().backoff_ms
        pause_ms = min(backoff_ms << min(self._failures_in_a_row, 16), PAUSE_MS_MAX)
        self._look_in(max(pause_ms, backoff_ms))

    def _give_up(self, hosted: Hosted, job: CleanJob) -> None:
        """Remove what the cleaner wrote, if anything; the log stays as it was."""
        if hosted.offline_reason is not None:
            self._ended(hosted, job, None)
            return

        def discarded(error: OSError | None) -> None:
            if error is not None:
                self._disk_failed(hosted, job, error)
            else:
                self._ended(hosted, job, None)

        self._background.run(lambda: self._unless_deleted(job, discard), discarded)

    def _not_survived(self, hosted: Hosted, job: CleanJob, reason: str) -> None:
        count = self._failures.pop(hosted, 0) + 1
        if count < FAILURES_MAX:
            self._failures[hosted] = count
            self._postponed(hosted.log, reason)
        else:
            self._leave_alone(hosted, f"the cleaner failed {count} times in a row: {reason}")
        self._give_up(hosted, job)

    def _disk_failed(self, hosted: Hosted, job: CleanJob, error: OSError) -> None:
        if self._is_here(hosted):
            self._failed(hosted.log.flush_failed(error))
        self._ended(hosted, job, None)

    def _leave_alone(self, hosted: Hosted, reason: str) -> None:
        self.uncleanable[hosted] = reason
        self._note(
            Note(
                event="log_uncleanable",
                path=hosted.log.path,
                facts={"reason": reason},
                severe=True,
            )
        )

    def _postponed(self, log: PartitionLog, reason: str) -> None:
        self._note(
            Note(event="compaction_postponed", path=log.path, facts={"reason": reason}, severe=True)
        )

    def _is_here(self, hosted: Hosted) -> bool:
        return self._partitions.by_name(hosted.topic, hosted.index) is hosted

    def _unless_deleted(self, job: CleanJob, work: Callable[[FileSystem, str], None]) -> None:
        try:
            work(self._fs, job.directory)
        except (FileNotFoundError, NotADirectoryError):
            if self._fs.is_directory(job.directory):
                raise
