"""One data directory: whose it is, the logs in it, and the checkpoints beside them.

What is durable when: a log's batches with their flush; recovery points, log starts, high
watermarks and leader epochs with a checkpoint, which only then removes the files that the log
starts leave behind; a created log with its first flush or ``sync_created``. The clean-shutdown
marker is removed before anything else is written.
"""

import json
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, Protocol, final

from ..kernel.ids import ID_BYTES, NO_TOPIC_ID
from ..kernel.ports import Clock, FileSystem, OpenMode, Random
from . import names
from .checkpointing import CheckpointJob
from .checkpoints import CLEANED, HIGH_WATERMARKS, LOG_STARTS, RECOVERY_POINTS, Offsets
from .claim import Claim, claim
from .config import LogConfig
from .errors import DiskFull, LogDirectoryFailed
from .identity import CLEAN_SHUTDOWN, IdentityUnreadable, decode_topic_id, encode_topic_id
from .log import PartitionLog
from .notes import Note
from .recovery import Known, load_log
from .segment import Segment
from .volume import NO_SPACE, Volume, write_durably

FILES_MAX: Final = 512


class ConfigFor(Protocol):
    """The configuration of a partition found on disk."""

    def __call__(self, topic: str, partition: int, /) -> LogConfig: ...


@final
class LogDirectory:
    """Holds the directory's lock until close(). One owner, the event loop."""

    def __init__(self, volume: Volume, claimed: Claim) -> None:
        """See open()."""
        assert claimed.identity.directory_id is not None
        self.path: Final = volume.path
        self.cluster_id: Final = claimed.identity.cluster_id
        self.node_id: Final = claimed.identity.node_id
        self.directory_id: Final = claimed.identity.directory_id
        self.was_clean: Final = claimed.was_clean
        """The last owner stopped cleanly, so nothing has to be recovered."""
        self.high_watermarks: Final = claimed.checkpoints[HIGH_WATERMARKS]
        """As of the last checkpoint before open()."""
        self._volume = volume
        self._lock = claimed.lock
        self._claimed = claimed
        self._notes = claimed.notes
        self._logs: dict[tuple[str, int], PartitionLog] = {}
        self._removals: deque[tuple[int, str]] = deque()  # due time by the wall clock, path
        self._created = False
        self._last_high_watermarks: Offsets = self.high_watermarks

    def __repr__(self) -> str:
        return f"<LogDirectory {self.path}: {len(self._logs)} logs {self.offline_reason or ''}>"

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
        open_files_max: int = FILES_MAX,
        on_failure: Callable[[LogDirectoryFailed], None] | None = None,
    ) -> "LogDirectory":
        """Take the directory over, creating what is missing.

        Without *cluster_id* the directory's own is taken, or a new one made up. Raises
        LogDirectoryRefused when another process holds it, when it belongs to another node or
        cluster, or when a newer version wrote it; LogDirectoryFailed when a file cannot be used.
        """
        volume = Volume(
            fs, path, clock=clock, rng=rng, open_files_max=open_files_max, on_failure=on_failure
        )
        with _failing(volume):
            claimed = claim(fs, path, node_id=node_id, cluster_id=cluster_id, rng=rng)
        return cls(volume, claimed)

    @property
    def offline_reason(self) -> str | None:
        """Why nothing of this directory is served any more; None while all is well."""
        failure = self._volume.failure
        return None if failure is None else failure.reason

    @property
    def log_count(self) -> int:
        return len(self._logs)

    def load(self, config_for: ConfigFor) -> tuple[list[PartitionLog], list[Note]]:
        """Every partition log in the directory but ``__cluster_metadata``, recovered if need be.

        Raises LogDirectoryRefused, LogDirectoryFailed.
        """
        notes, self._notes = self._notes, []
        found: list[PartitionLog] = []
        with _failing(self._volume):
            for name in self._volume.fs.list(self.path):
                partition = names.parse_partition_directory(name)
                is_ours = partition is not None and partition.topic != names.CLUSTER_METADATA_TOPIC
                if not is_ours and not names.is_deleted_directory(name):
                    continue
                path = f"{self.path}/{name}"
                if not self._volume.fs.is_directory(path):
                    continue
                if names.is_deleted_directory(name):
                    self._removals.append((0, path))
                elif partition is not None:
                    log = self._load(partition, config_for(*partition), notes)
                    if log is not None:
                        found.append(log)
        return found, notes

    def open_log(
        self, topic: str, partition: int, topic_id: bytes, config: LogConfig
    ) -> tuple[PartitionLog, list[Note]]:
        """One log by name, recovered if need be, created if missing: the metadata log."""
        notes: list[Note] = []
        path = f"{self.path}/{names.partition_directory(topic, partition)}"
        with _failing(self._volume):
            if not self._volume.fs.is_directory(path):
                return self.create(topic, partition, topic_id, config), notes
            log = self._open(topic, partition, topic_id, config, notes)
        return log, notes

    def create(
        self, topic: str, partition: int, topic_id: bytes, config: LogConfig
    ) -> PartitionLog:
        """An empty log. Not durable before sync_created() or its first flush.

        Raises DiskFull, LogDirectoryFailed.
        """
        self._check_online()
        path = f"{self.path}/{names.partition_directory(topic, partition)}"
        fs = self._volume.fs
        try:
            fs.make_directory(path)
            file = fs.open(f"{path}/{names.PARTITION_METADATA}", OpenMode.REPLACE)
            try:
                file.write_at([encode_topic_id(topic_id)], 0)
            finally:
                file.close()
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise self._volume.fail(error) from error
            raise DiskFull(path) from error
        self._created = True
        known = Known(recovery_point=0, log_start_offset=0, cleaned_offset=None, is_clean=True)
        with _failing(self._volume):
            loaded = load_log(self._volume, path, config=config, known=known)
        log = PartitionLog(
            self._volume,
            path,
            topic=topic,
            partition=partition,
            topic_id=topic_id,
            config=config,
            loaded=loaded,
            is_new=True,
        )
        self._logs[topic, partition] = log
        return log

    def sync_created(self) -> None:
        """The directories made by create() survive a power loss from now on. Blocks."""
        if self._created:
            self._check_online()
            with _failing(self._volume):
                self._volume.fs.sync_directory(self.path)
            self._created = False

    def delete(self, log: PartitionLog) -> None:
        """Take the log out of service; its files go after ``file.delete.delay.ms``.

        Raises LogDirectoryFailed.
        """
        self._check_online()
        self._logs.pop((log.topic, log.partition), None)
        self._retire(log.topic, log.partition, delay_ms=log.config.file_delete_delay_ms)
        log.retire()

    def adopt(self, log: PartitionLog, topic_id: bytes) -> None:
        """Give a log whose own topic id cannot be read the one that metadata knows; blocks.

        On a full disk it holds until the next start. Raises LogDirectoryFailed.
        """
        self._check_online()
        path = f"{log.path}/{names.PARTITION_METADATA}"
        log.topic_id = topic_id
        self._volume.forget(path)
        try:
            write_durably(self._volume.fs, path, encode_topic_id(topic_id))
            self._volume.fs.sync_directory(log.path)
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise self._volume.fail(error) from error

    def remove_deleted(self, now_ms: int) -> int:
        """Remove files whose delay is over, and say how many; blocks.

        Any thread, but one call at a time. Raises OSError.
        """
        count = 0
        for _ in range(len(self._removals)):
            due_ms, path = self._removals.popleft()
            if due_ms > now_ms:
                self._removals.append((due_ms, path))
                continue
            self._volume.fs.remove(path)
            count += 1
        return count

    def begin_checkpoint(self, high_watermarks: Offsets) -> CheckpointJob:
        """Recovery points, log starts and the given high watermarks as of now.

        Raises LogDirectoryFailed.
        """
        self._check_online()
        self._last_high_watermarks = high_watermarks
        epochs: dict[PartitionLog, bytes] = {}
        doomed: dict[PartitionLog, list[Segment]] = {}
        now_ms = self._volume.clock.now_ms()
        for log in self._logs.values():
            due_ms = now_ms + log.config.file_delete_delay_ms
            self._removals += ((due_ms, path) for path in log.take_replaced())
            if log.doomed:
                doomed[log] = log.take_doomed()
            if (content := log.take_epochs()) is not None:
                epochs[log] = content
        # Kafka leaves out a log start that the first segment's name tells; but a power loss can
        # bring removed files back.
        starts = {
            name: log.log_start_offset
            for name, log in self._logs.items()
            if log.log_start_offset > 0
        }
        offsets: dict[str, Offsets] = {
            LOG_STARTS: starts,
            RECOVERY_POINTS: {name: log.recovery_point for name, log in self._logs.items()},
            HIGH_WATERMARKS: {
                name: offset for name, offset in high_watermarks.items() if name in self._logs
            },
            CLEANED: {
                name: log.cleaned_offset
                for name, log in self._logs.items()
                if log.cleaned_offset is not None
            },
        }
        return CheckpointJob(
            self._volume.fs, self.path, offsets=offsets, epochs=epochs, doomed=doomed
        )

    def end_checkpoint(self, job: CheckpointJob, error: OSError | None = None) -> None:
        """A job that ran elsewhere has ended; an error takes the directory offline."""
        if error is not None:
            self._volume.fail(error)
            return
        now_ms = self._volume.clock.now_ms()
        for log, segments in job.doomed.items():
            if not job.is_done:
                log.doomed[:0] = segments
                continue
            due_ms = now_ms + log.config.file_delete_delay_ms
            for segment in segments:
                self._removals += ((due_ms, path + names.DELETED) for path in segment.paths)
        if not job.is_done:
            for log in job.epochs:
                log.epochs_changed = True

    def checkpoint(self, high_watermarks: Offsets) -> None:
        """begin_checkpoint() and its run(), here and now; blocks. Raises LogDirectoryFailed."""
        job = self.begin_checkpoint(high_watermarks)
        with _failing(self._volume):
            job.run()
        self.end_checkpoint(job)

    def close(
        self,
        high_watermarks: Offsets | None = None,
        *,
        clean: bool = True,
        broker_epoch: int = -1,
    ) -> None:
        """Close every log, checkpoint, leave the clean-shutdown marker, give the lock up.

        Without *high_watermarks* those of the last checkpoint stand. Without *clean* the files are
        let go as they are. Raises LogDirectoryFailed.
        """
        try:
            if clean and self._volume.failure is None:
                self._close_logs(high_watermarks, broker_epoch)
        finally:
            self._volume.close()
            self._lock.close()

    def _close_logs(self, high_watermarks: Offsets | None, broker_epoch: int) -> None:
        for log in self._logs.values():
            with suppress(DiskFull):
                log.write()  # what finds no space now was not acknowledged
            log.close()
        job = self.begin_checkpoint(
            self._last_high_watermarks if high_watermarks is None else high_watermarks
        )
        with _failing(self._volume):
            job.run()
            if job.is_done:
                self._mark_clean(broker_epoch)

    def _mark_clean(self, broker_epoch: int) -> None:
        marker = json.dumps({"version": 0, "brokerEpoch": broker_epoch}).encode()
        try:
            write_durably(self._volume.fs, f"{self.path}/{CLEAN_SHUTDOWN}", marker)
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise
            return  # the next start reads what follows the recovery points, that is nothing
        self._volume.fs.sync_directory(self.path)

    def free_bytes(self) -> int:
        """Space left on the disk. Raises LogDirectoryFailed."""
        with _failing(self._volume):
            return self._volume.fs.free_bytes(self.path)

    def _load(
        self, name: names.PartitionName, config: LogConfig, notes: list[Note]
    ) -> PartitionLog | None:
        path = f"{self.path}/{names.partition_directory(*name)}"
        content = self._volume.read_all(f"{path}/{names.PARTITION_METADATA}")
        topic_id: bytes = NO_TOPIC_ID
        try:
            if content is not None:
                topic_id = decode_topic_id(content)
        except IdentityUnreadable as error:
            notes.append(
                Note(event="topic_id_unreadable", path=path, facts={"reason": error.reason})
            )
        if topic_id == NO_TOPIC_ID and self._is_empty(path):
            # A crash came before the first flush: nothing here was ever acknowledged.
            notes.append(Note(event="unfinished_log_removed", path=path))
            self._retire(*name, delay_ms=0)
            return None
        return self._open(*name, topic_id, config, notes)

    def _open(
        self, topic: str, partition: int, topic_id: bytes, config: LogConfig, notes: list[Note]
    ) -> PartitionLog:
        path = f"{self.path}/{names.partition_directory(topic, partition)}"
        known = Known(
            recovery_point=self._claimed.checkpoints[RECOVERY_POINTS].get((topic, partition)),
            log_start_offset=self._claimed.checkpoints[LOG_STARTS].get((topic, partition), 0),
            cleaned_offset=self._claimed.checkpoints[CLEANED].get((topic, partition)),
            is_cleaned_lost=CLEANED in self._claimed.unreadable,
            is_clean=self.was_clean,
        )
        loaded = load_log(self._volume, path, config=config, known=known)
        if not (self.was_clean or known.recovery_point):
            self._sync_topic_id(path)
        notes += loaded.notes
        log = PartitionLog(
            self._volume,
            path,
            topic=topic,
            partition=partition,
            topic_id=topic_id,
            config=config,
            loaded=loaded,
        )
        self._logs[topic, partition] = log
        return log

    def _sync_topic_id(self, path: str) -> None:
        """Make up for a first flush that the last owner may not have come to.

        Without its topic id a log counts as one of a deleted topic, whatever was appended since.
        """
        if self._volume.fs.size(f"{path}/{names.PARTITION_METADATA}") is not None:
            self._volume.file(f"{path}/{names.PARTITION_METADATA}").sync()
            self._volume.forget(f"{path}/{names.PARTITION_METADATA}")
            self._volume.fs.sync_directory(path)
            self._volume.fs.sync_directory(self.path)

    def _is_empty(self, path: str) -> bool:
        fs = self._volume.fs
        return not any(
            name.endswith(names.LOG) and fs.size(f"{path}/{name}") for name in fs.list(path)
        )

    def _retire(self, topic: str, partition: int, *, delay_ms: int) -> None:
        source = f"{self.path}/{names.partition_directory(topic, partition)}"
        unique = self._volume.rng.randbytes(ID_BYTES).hex()
        target = f"{self.path}/{names.deleted_directory(topic, partition, unique)}"
        with _failing(self._volume):
            self._volume.fs.rename(source, target)
        self._removals.append((self._volume.clock.now_ms() + delay_ms, target))

    def _check_online(self) -> None:
        if self._volume.failure is not None:
            raise self._volume.failure


@contextmanager
def _failing(volume: Volume) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise volume.fail(error) from error
