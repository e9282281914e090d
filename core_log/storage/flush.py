"""What a log has written and not flushed, and the jobs that put it on disk.

A job is made on the loop and run on any thread. It holds its files open, so nothing that the log
does meanwhile can take them away, and includes what a job still running has to do, so that the
order in which jobs end is no matter.
"""

from collections.abc import Iterable, Sequence
from typing import final

from ..kernel.ports import File, FileSystem
from . import names
from .segment import Segment
from .volume import Volume


@final
class FlushJob:
    """Files to sync, then directories whose names changed."""

    __slots__ = ("directories", "end_offset", "files", "fs", "generation", "index_count")

    def __init__(
        self,
        fs: FileSystem,
        *,
        files: Sequence[File],
        directories: Sequence[str],
        end_offset: int,
        generation: int,
        index_count: int,
    ) -> None:
        self.fs = fs
        self.files = files
        self.directories = directories
        self.end_offset = end_offset
        """Everything below it is on disk when run() has returned."""
        self.generation = generation
        """How often the log had been truncated: after another time the job proves nothing."""
        self.index_count = index_count
        """How many of the index files that waited are among the files."""

    def __repr__(self) -> str:
        return f"<FlushJob up to {self.end_offset}: {len(self.files)} files {self.directories}>"

    def run(self) -> None:
        """Make it durable. Any thread; blocks. Raises OSError; it is not to be run again then."""
        for file in self.files:
            file.sync()
        for directory in self.directories:
            try:
                self.fs.sync_directory(directory)
            except FileNotFoundError:
                if self.fs.is_directory(directory):
                    raise
                # The log was deleted meanwhile: nobody waits for its names.


@final
class Unflushed:
    """Keeps account of one log's writes since the last flush. Owned by the loop.

    Invariant: what no job has been made for is in ``_segments``, ``_names_changed``, ``_is_new``;
    what a job may still be busy with is in ``_in_flight``.
    """

    __slots__ = (
        "_in_flight",
        "_indexes",
        "_is_new",
        "_names_changed",
        "_path",
        "_segments",
        "_truncation_count",
        "_volume",
    )

    def __init__(self, volume: Volume, path: str, *, is_new: bool) -> None:
        """*is_new*: not even the name of the log's directory is durable."""
        self._volume = volume
        self._path = path
        self._is_new = is_new
        self._names_changed = is_new
        self._segments: list[Segment] = []
        self._indexes: list[tuple[int, File]] = []  # base offset, file; oldest first
        self._in_flight: FlushJob | None = None
        self._truncation_count = 0

    @property
    def index_floor(self) -> int | None:
        """Where the oldest segment begins whose index files may still be torn by a crash."""
        return self._indexes[0][0] if self._indexes else None

    def written(self, segment: Segment) -> None:
        """Batches were written to the segment."""
        if not self._segments or self._segments[-1] is not segment:
            self._segments.append(segment)

    def indexed(self, segment: Segment, files: Iterable[File]) -> None:
        """Index files of a sealed segment were written."""
        self._indexes += ((segment.base_offset, file) for file in files)

    def named(self) -> None:
        """Files were created or removed."""
        self._names_changed = True

    def begin(self, written_offset: int) -> FlushJob | None:
        """The work that makes everything written durable; None when it is. Raises OSError."""
        is_idle = self._in_flight is None and not self._indexes
        if is_idle and not self._segments and not self._names_changed:
            return None
        files = self._files()
        directories = [self._path] if self._names_changed else []
        if self._is_new:
            files.append(self._volume.file(f"{self._path}/{names.PARTITION_METADATA}"))
            directories.append(self._volume.path)
        earlier_count = 0
        if self._in_flight is not None:
            files = [*self._in_flight.files, *files]
            directories = [*self._in_flight.directories, *directories]
            earlier_count = self._in_flight.index_count
        files += (file for _, file in self._indexes[earlier_count:])
        self._segments, self._names_changed, self._is_new = [], False, False
        self._in_flight = FlushJob(
            self._volume.fs,
            files=files,
            directories=directories,
            end_offset=written_offset,
            generation=self._truncation_count,
            index_count=len(self._indexes),
        )
        return self._in_flight

    def end(self, job: FlushJob) -> int:
        """A job has run: below the result everything is on disk; 0 when it proves nothing."""
        if job is self._in_flight:
            self._in_flight = None
            del self._indexes[: job.index_count]
        return job.end_offset if job.generation == self._truncation_count else 0

    def forget(self, segments: Sequence[Segment]) -> None:
        """Nobody needs these segments on disk any more."""
        self._segments = [segment for segment in self._segments if segment not in segments]

    def truncated(self, *left: Segment) -> None:
        """The log was cut: jobs made before prove nothing; *left* have to be flushed."""
        self._truncation_count += 1
        self._in_flight = None
        self._indexes = []
        self._segments = list(left)
        self._names_changed = True

    def _files(self) -> list[File]:
        files: list[File] = []
        for segment in self._segments:
            files.append(segment.file())
            transactions = segment.transactions.file()
            if transactions is not None:
                files.append(transactions)
        return files
