"""Writing the checkpoints of a data directory, and removing the files that they leave behind."""

from collections.abc import Mapping
from contextlib import suppress
from typing import final

from ..kernel.ports import FileSystem
from . import names
from .checkpoints import (
    CLEANED,
    HIGH_WATERMARKS,
    LOG_STARTS,
    RECOVERY_POINTS,
    Offsets,
    encode_offsets,
)
from .claim import RESERVE
from .log import PartitionLog
from .segment import Segment
from .volume import NO_SPACE, write_durably


@final
class CheckpointJob:
    """Values of one moment that run() makes durable, then removes files no longer needed."""

    def __init__(
        self,
        fs: FileSystem,
        path: str,
        *,
        offsets: Mapping[str, Offsets],
        epochs: Mapping[PartitionLog, bytes],
        doomed: Mapping[PartitionLog, list[Segment]],
    ) -> None:
        self.epochs = epochs
        self.doomed = doomed
        self.is_done = False
        """It ran to its end; otherwise the disk was full and the next checkpoint tries again."""
        self._fs = fs
        self._path = path
        self._offsets = offsets

    def run(self) -> None:
        """Any thread; blocks. Raises OSError, but for a full disk: see ``is_done``."""
        try:
            self._run()
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise
            self._fs.remove(f"{self._path}/{RESERVE}")
            try:
                self._run()
            except OSError as again:
                if again.errno not in NO_SPACE:
                    raise

    def _run(self) -> None:
        # The order matters. Log starts first: epochs and files below them go next. Recovery points
        # after the epochs: no scan will find again what they pass.
        self._write(LOG_STARTS)
        for log, content in self.epochs.items():
            if self._fs.is_directory(log.path):  # else it was deleted meanwhile
                write_durably(self._fs, f"{log.path}/{names.EPOCHS}", content)
                self._fs.sync_directory(log.path)
        # Compacted offsets last: segments with gaps between them lie below the recovery point.
        self._write(RECOVERY_POINTS, HIGH_WATERMARKS, CLEANED)
        for log, segments in self.doomed.items():
            if self._fs.is_directory(log.path):
                # The segment that stays may be new; without its name the log's end would be lost.
                self._fs.sync_directory(log.path)
                _set_aside(self._fs, segments)
        self.is_done = True

    def _write(self, *file_names: str) -> None:
        for name in file_names:
            write_durably(self._fs, f"{self._path}/{name}", encode_offsets(self._offsets[name]))
        self._fs.sync_directory(self._path)


def _set_aside(fs: FileSystem, segments: list[Segment]) -> None:
    """Rename the segments' files, oldest first, so that what is left is always one run."""
    for segment in segments:
        for path in segment.paths:
            with suppress(FileNotFoundError):
                fs.rename(path, path + names.DELETED)
