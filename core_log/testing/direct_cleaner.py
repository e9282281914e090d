"""The cleaner port without a process: a job is a piece of disk work, done when its turn comes."""

from collections.abc import Callable
from typing import final

from ..broker.compaction import CleanerFailed, Outcome
from ..broker.housekeeping import Background
from ..kernel.ports import Clock, FileSystem
from ..storage.compaction.job import CleanJob, CleanResult


@final
class DirectCleaner:
    """Runs jobs in the background it is given; in a simulation that is the manual disk."""

    def __init__(self, fs: FileSystem, clock: Clock, background: Background) -> None:
        self._fs = fs
        self._clock = clock
        self._background = background

    def run(
        self, job: CleanJob, *, bytes_per_second_max: float | None, done: Callable[[Outcome], None]
    ) -> None:
        """See ``broker.compaction.Cleaner``; the bound is of no use where time stands still."""
        del bytes_per_second_max

        def work() -> CleanResult:
            # numpy is for those who compact.
            from ..storage.compaction.cleaner import clean  # noqa: PLC0415 - only a job needs numpy

            return clean(job, self._fs, clock=self._clock, pace=_at_once)

        def ended(outcome: CleanResult | OSError) -> None:
            done(CleanerFailed(reason=str(outcome)) if isinstance(outcome, OSError) else outcome)

        self._background.run(work, ended)


def _at_once(size_bytes: int) -> None:
    del size_bytes
