"""Threads for what would stall the event loop: flushes and reads of cold pages.

Flushes of one group commit are spread over a few threads, because concurrent fdatasync calls on a
journalling file system share commits; a single file is flushed by a single call. Results return
to the loop in one call per batch.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar, final

from ..storage.log import FlushJob, LogSlice

T = TypeVar("T")

FLUSH_THREAD_COUNT: Final = 4
READ_THREAD_COUNT: Final = 2
JOBS_PER_THREAD_MIN: Final = 4
"""Below this many files a further thread costs more than it saves."""


@final
class DiskThreads:
    """The disk port of the broker over two small thread pools."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._flushers = ThreadPoolExecutor(FLUSH_THREAD_COUNT, thread_name_prefix="flush")
        self._readers = ThreadPoolExecutor(READ_THREAD_COUNT, thread_name_prefix="read")

    def flush(self, jobs: list[FlushJob], done: Callable[[list[OSError | None]], None]) -> None:
        """Run all jobs; *done* gets their errors in order, on the loop."""
        share = max(JOBS_PER_THREAD_MIN, -(-len(jobs) // FLUSH_THREAD_COUNT))
        chunks = [jobs[start : start + share] for start in range(0, len(jobs), share)]
        results: dict[int, list[OSError | None]] = {}

        def arrived(index: int, errors: list[OSError | None]) -> None:
            results[index] = errors
            if len(results) == len(chunks):
                done([error for place in range(len(chunks)) for error in results[place]])

        def work(index: int) -> None:
            errors = [_attempt(job.run) for job in chunks[index]]
            self._loop.call_soon_threadsafe(arrived, index, errors)

        for index in range(len(chunks)):
            self._flushers.submit(work, index)

    def read(self, pieces: list[LogSlice], done: Callable[[list[bytes | OSError]], None]) -> None:
        """Read all slices; *done* gets bytes or errors in order, on the loop."""

        def work() -> None:
            results = [_attempt(piece.read) for piece in pieces]
            self._loop.call_soon_threadsafe(done, results)

        self._readers.submit(work)

    def run(self, work: Callable[[], T], done: Callable[[T | OSError], None]) -> None:
        """Run *work* away from the loop, such as a checkpoint; *done* gets its result or error."""

        def attempt() -> None:
            result = _attempt(work)
            self._loop.call_soon_threadsafe(done, result)

        self._flushers.submit(attempt)

    def close(self) -> None:
        """Wait for what runs and end the threads."""
        self._flushers.shutdown()
        self._readers.shutdown()


def _attempt(work: Callable[[], T]) -> T | OSError:
    try:
        return work()
    except OSError as error:
        return error
