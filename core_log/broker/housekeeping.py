"""What a broker does by the clock: retention, checkpoints, removal of deleted files.

Decided on the loop in slices, so that ten thousand partitions do not stall requests; the slow parts
(checkpoint files, removals) run on the disk threads.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias, TypeVar, final

from ..kernel.errors import ApiError, ErrorCode
from ..kernel.ports import Clock
from ..storage.directory import LogDirectory
from ..storage.errors import DiskFull, LogDirectoryFailed
from ..storage.notes import Note
from .deferred import Deferred, gather
from .partitions import Hosted, Partitions
from .timers import Timers

T = TypeVar("T")

Checkpointed: TypeAlias = list[ApiError | None]
"""How a checkpoint ended, for each directory that is online."""

SLICE_COUNT: Final = 200
"""Partitions looked after in one turn of the loop."""


class Background(Protocol):
    """Runs work away from the loop and reports back on it."""

    def run(self, work: Callable[[], T], done: Callable[[T | OSError], None]) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """How often, in milliseconds; named after Kafka's settings."""

    retention_check_ms: int = 300_000
    """log.retention.check.interval.ms"""
    checkpoint_ms: int = 60_000
    """log.flush.offset.checkpoint.interval.ms"""
    removal_ms: int = 10_000


@final
class Housekeeping:
    """Owns the periodic work of one broker."""

    def __init__(
        self,
        *,
        partitions: Partitions,
        directories: Sequence[LogDirectory],
        clock: Clock,
        timers: Timers,
        background: Background,
        intervals: Intervals,
        note: Callable[[Note], None],
        failed: Callable[[LogDirectoryFailed], None],
    ) -> None:
        self._partitions = partitions
        self._directories = directories
        self._clock = clock
        self._timers = timers
        self._background = background
        self._intervals = intervals
        self._note = note
        self._failed = failed
        self._checkpoint_running = False
        self._checkpoint_wanted_by: list[Deferred[Checkpointed]] = []
        self._removing: set[str] = set()

    def start(self) -> None:
        """Begin the periodic work."""
        self._every(self._intervals.retention_check_ms, self._begin_retention)
        self._every(self._intervals.checkpoint_ms, lambda: self.checkpoint().then(lambda _: None))
        self._every(self._intervals.removal_ms, self._remove_deleted)

    def checkpoint(self) -> Deferred[Checkpointed]:
        """Make log starts, recovery points and high watermarks durable; one result a directory.

        One runs at a time: two would write the same files from two threads. Who asks meanwhile gets
        the result of the next one, which holds what is known when it begins.
        """
        result: Deferred[Checkpointed] = Deferred()
        self._checkpoint_wanted_by.append(result)
        if not self._checkpoint_running:
            self._begin_checkpoint()
        return result

    def high_watermarks(self) -> dict[tuple[str, int], int]:
        """Of every hosted partition, for the checkpoint file."""
        return {(hosted.topic, hosted.index): hosted.high_watermark for hosted in self._partitions}

    def _every(self, interval_ms: int, action: Callable[[], None]) -> None:
        def again() -> None:
            action()
            self._every(interval_ms, action)

        self._timers.at(self._clock.monotonic_ms() + interval_ms, again)

    def _begin_checkpoint(self) -> None:
        self._checkpoint_running = True
        wanted_by, self._checkpoint_wanted_by = self._checkpoint_wanted_by, []

        def ended(outcome: Checkpointed) -> None:
            self._checkpoint_running = False
            for result in wanted_by:
                result.resolve(outcome)
            if self._checkpoint_wanted_by and not self._checkpoint_running:
                self._begin_checkpoint()

        gather(
            [
                self._checkpoint(directory)
                for directory in self._directories
                if directory.offline_reason is None
            ]
        ).then(ended)

    def _checkpoint(self, directory: LogDirectory) -> Deferred[ApiError | None]:
        result: Deferred[ApiError | None] = Deferred()
        job = directory.begin_checkpoint(self.high_watermarks())

        def done(outcome: OSError | None) -> None:
            directory.end_checkpoint(job, outcome)
            if outcome is None:
                # A full disk raises nothing: the next checkpoint may find space.
                result.resolve(None if job.is_done else DiskFull(directory.path))
                return
            failure = LogDirectoryFailed(directory.path, str(outcome))
            self._failed(failure)
            result.resolve(ApiError(ErrorCode.KAFKA_STORAGE_ERROR, str(failure)))

        self._background.run(job.run, done)
        return result

    def _begin_retention(self) -> None:
        self._retain(iter(list(self._partitions)))

    def _retain(self, rest: Iterator[Hosted]) -> None:
        now_ms = self._clock.now_ms()
        for _ in range(SLICE_COUNT):
            hosted = next(rest, None)
            if hosted is None:
                return
            if hosted.offline_reason is None:
                self._look_after(hosted, now_ms)
        self._timers.at(self._clock.monotonic_ms(), lambda: self._retain(rest))

    def _look_after(self, hosted: Hosted, now_ms: int) -> None:
        try:
            hosted.log.roll_if_old(now_ms)
            for note in hosted.log.delete_expired(
                now_ms=now_ms, high_watermark=hosted.high_watermark
            ):
                self._note(note)
            hosted.log.expire_producers(now_ms)
        except DiskFull as full:
            self._note(Note(event="retention_postponed", path=full.path, severe=True))
        except LogDirectoryFailed as failure:
            self._failed(failure)

    def _remove_deleted(self) -> None:
        now_ms = self._clock.now_ms()
        for directory in self._directories:
            if directory.offline_reason is None and directory.path not in self._removing:
                self._removing.add(directory.path)
                self._background.run(
                    lambda directory=directory: directory.remove_deleted(now_ms),  # type: ignore[misc]  # binds the loop variable
                    lambda outcome, directory=directory: self._removed(directory, outcome),  # type: ignore[misc]  # binds the loop variable
                )

    def _removed(self, directory: LogDirectory, outcome: int | OSError) -> None:
        self._removing.discard(directory.path)
        if isinstance(outcome, OSError):
            self._failed(LogDirectoryFailed(directory.path, str(outcome)))
