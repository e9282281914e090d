"""One data directory: who it belongs to, the logs in it, and the checkpoints beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..kernel.ports import Clock, FileSystem, Random
    from .config import LogConfig
    from .errors import LogDirectoryFailed
    from .log import PartitionLog
    from .notes import Note


class ConfigFor(Protocol):
    """The configuration of a partition found on disk."""

    def __call__(self, topic: str, partition: int, /) -> LogConfig: ...


@final
class CheckpointJob:
    """Values of one moment that run() makes durable, then removes files no longer needed."""

    def run(self) -> None:
        """Any thread; blocks. Raises OSError."""


@final
class LogDirectory:
    """Holds the directory's lock until close()."""

    path: str
    cluster_id: str
    directory_id: bytes
    node_id: int
    offline_reason: str | None
    """Why nothing of this directory is served any more; None while all is well."""
    was_clean: bool
    """The last owner stopped cleanly, so nothing has to be recovered."""
    high_watermarks: Mapping[tuple[str, int], int]
    """As of the last checkpoint before load()."""

    @classmethod
    def open(
        cls,
        fs: FileSystem,
        path: str,
        *,
        node_id: int,
        cluster_id: str | None,
        clock: Clock,
        rng: Random,
        open_files_max: int = 512,
        on_failure: Callable[[LogDirectoryFailed], None] | None = None,
    ) -> LogDirectory:
        """Take the directory over, creating what is missing.

        Without *cluster_id* the directory's own is taken, or a new one made up. Raises
        LogDirectoryRefused when another process holds it, when it belongs to another node or
        cluster, or when a newer version wrote it; LogDirectoryFailed when a file cannot be used.
        """
        raise NotImplementedError

    def load(self, config_for: ConfigFor) -> tuple[list[PartitionLog], list[Note]]:
        """Every partition log in the directory but ``__cluster_metadata``, recovered if need be."""
        raise NotImplementedError

    def open_log(
        self, topic: str, partition: int, topic_id: bytes, config: LogConfig
    ) -> tuple[PartitionLog, list[Note]]:
        """One log by name, recovered if need be, created if missing: the metadata log."""
        raise NotImplementedError

    def create(
        self, topic: str, partition: int, topic_id: bytes, config: LogConfig
    ) -> PartitionLog:
        """An empty log. Not durable before sync_created() or its first flush."""
        raise NotImplementedError

    def sync_created(self) -> None:
        """The directories made by create() survive a power loss from now on. Blocks."""

    def delete(self, log: PartitionLog) -> None:
        """Take the log out of service; its files go after ``file.delete.delay.ms``."""

    def remove_deleted(self, now_ms: int) -> int:
        """Remove files whose delay is over, and say how many; blocks."""
        raise NotImplementedError

    def begin_checkpoint(self, high_watermarks: Mapping[tuple[str, int], int]) -> CheckpointJob:
        """Recovery points, log starts and the given high watermarks as of now."""
        raise NotImplementedError

    def checkpoint(self, high_watermarks: Mapping[tuple[str, int], int]) -> None:
        """begin_checkpoint() and its run(), here and now; blocks."""

    def end_checkpoint(self, job: CheckpointJob, error: OSError | None = None) -> None:
        """A job that ran elsewhere has ended; an error takes the directory offline."""

    def close(
        self, high_watermarks: Mapping[tuple[str, int], int] | None = None, *, clean: bool = True
    ) -> None:
        """Close every log, checkpoint, leave the clean-shutdown marker, give the lock up."""

    def free_bytes(self) -> int:
        """Space left on the disk."""
        raise NotImplementedError
