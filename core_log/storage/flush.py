"""What one flush of one log has to put on disk; made on the loop, run on any thread."""

from collections.abc import Sequence
from typing import final

from ..kernel.ports import File, FileSystem


@final
class FlushJob:
    """Files to sync, then directories whose names changed.

    It holds its files open, so nothing the log does meanwhile can take them away.
    """

    __slots__ = ("directories", "end_offset", "files", "fs", "generation")

    def __init__(
        self,
        fs: FileSystem,
        *,
        files: Sequence[File],
        directories: Sequence[str],
        end_offset: int,
        generation: int,
    ) -> None:
        self.fs = fs
        self.files = files
        self.directories = directories
        self.end_offset = end_offset
        """Everything below it is on disk when run() has returned."""
        self.generation = generation
        """How often the log had been truncated: after another time the job proves nothing."""

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
