"""The metadata log ``__cluster_metadata-0``: propose records, learn what is committed, snapshot.

Synchronous over ports: a SegmentLog for the segments, a FileSystem for snapshots and
``quorum-state``. It performs what the quorum core decides, and is the interface that a core of many
voters fills as well. The files are Kafka's: a directory written by Apache Kafka as a combined node
opens, and Kafka opens ours (with ``controller.quorum.voters`` naming the one node).

The newest two snapshots are kept, and the log from the older one on: if the newer one turns out
damaged, the older one and the log behind it still give the whole state.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, final

from ..kernel.ids import TopicId
from ..kernel.ports import Buffer, FileSystem, OpenMode
from ..protocol.errors import DecodeError
from ..records.batch import Batch, CorruptBatch, scan
from ..records.control import read_control
from .errors import MetadataLogDamaged, MetadataLogRefused
from .ports import FlushJob, SegmentLog
from .quorum import Append, Proposal, Quorum, QuorumFacts, SaveState
from .quorum_state import FILE_NAME, QuorumState, decode_quorum_state, encode_quorum_state
from .snapshots import (
    PART_SUFFIX,
    SUFFIX,
    QuorumRecords,
    Snapshot,
    SnapshotId,
    batch_values,
    read_snapshot,
    snapshot_batches,
)

METADATA_TOPIC: Final = "__cluster_metadata"
METADATA_TOPIC_ID: Final = TopicId(bytes(15) + b"\x01")
"""Kafka's fixed id of the metadata topic."""
BOOTSTRAP_FILE: Final = "bootstrap.checkpoint"
DAMAGED_SUFFIX: Final = ".damaged"
SNAPSHOT_BYTES: Final = 20 * 1024 * 1024
"""Log bytes since the last snapshot that call for another; Kafka's default."""
SNAPSHOTS_KEPT: Final = 2
READ_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedBatch:
    """Records that were proposed together, in order."""

    base_offset: int
    last_offset: int
    leader_epoch: int
    timestamp_ms: int
    records: Sequence[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedSnapshot:
    """A snapshot that could not be read, and where it is kept."""

    path: str
    reason: str


@final
class SnapshotJob:
    """A snapshot being written; the state it holds does not change any more."""

    def __init__(
        self, fs: FileSystem, path: str, snapshot_id: SnapshotId, batches: Iterable[bytearray]
    ) -> None:
        self.snapshot_id: Final = snapshot_id
        self._fs = fs
        self._path = path
        self._target = f"{path}/{snapshot_id.file_name}"
        self._part = self._target.removesuffix(SUFFIX) + PART_SUFFIX
        self._batches = batches

    def run(self) -> None:
        """Write the file and make it durable. Any thread; blocks. Raises OSError."""
        _write_durably(
            self._fs,
            directory=self._path,
            part=self._part,
            target=self._target,
            buffers=self._batches,
        )

    def abandon(self) -> None:
        """Remove what a failed ``run`` left, where that can be done."""
        with suppress(OSError):
            self._fs.remove(self._part)


@final
class MetadataLog:
    """One node's metadata log; one owner, not thread safe but for the jobs it hands out."""

    def __init__(
        self,
        fs: FileSystem,
        log: SegmentLog,
        *,
        quorum: Quorum,
        quorum_records: QuorumRecords,
        snapshot_id: SnapshotId | None,
        snapshot: Snapshot | None,
        snapshot_bytes: int = SNAPSHOT_BYTES,
    ) -> None:
        self.snapshot: Snapshot | None = snapshot
        """The snapshot found at ``open``; ``replayed`` drops it."""
        self.snapshot_id = snapshot_id
        self.damaged: tuple[DamagedSnapshot, ...] = ()
        """Snapshots that ``open`` had to put aside; a person should know."""
        self._fs = fs
        self._log = log
        self._quorum = quorum
        self._quorum_records = quorum_records
        self._snapshot_bytes = snapshot_bytes
        self._bytes_since_snapshot = 0
        self._snapshot_running = False

    @classmethod
    def open(
        cls,
        fs: FileSystem,
        log: SegmentLog,
        *,
        node_id: int,
        directory_id: bytes,
        now_ms: int,
        snapshot_bytes: int = SNAPSHOT_BYTES,
    ) -> "MetadataLog":
        """Take over an opened log and begin an epoch in it; blocks until that is on disk.

        Raises MetadataLogRefused when other nodes vote on the log, MetadataLogDamaged when neither
        snapshots nor segments give the whole state, LogDirectoryFailed when a file cannot be used.
        """
        try:
            return cls._open(fs, log, node_id, directory_id, now_ms, snapshot_bytes)
        except OSError as error:
            raise log.flush_failed(error) from error

    @classmethod
    def _open(
        cls,
        fs: FileSystem,
        log: SegmentLog,
        node_id: int,
        directory_id: bytes,
        now_ms: int,
        snapshot_bytes: int,
    ) -> "MetadataLog":
        _remove_parts(fs, log.path)
        snapshot_id, snapshot, damaged = _latest_snapshot(fs, log)
        state = _read_quorum_state(fs, log.path)
        start_offset = 0 if snapshot_id is None else snapshot_id.end_offset
        records = QuorumRecords() if snapshot is None else snapshot.quorum
        for batch in _batches(log, start_offset):
            if batch.is_control:
                records = _after(log, records, batch)
        _check_voters(log.path, node_id, state, records)
        quorum = Quorum(
            node_id=node_id,
            directory_id=directory_id,
            state=state,
            kraft_version=records.kraft_version,
            log_end_offset=log.log_end_offset,
            last_epoch=max(log.latest_epoch, -1 if snapshot_id is None else snapshot_id.epoch),
        )
        opened = cls(
            fs,
            log,
            quorum=quorum,
            quorum_records=records,
            snapshot_id=snapshot_id,
            snapshot=snapshot,
            snapshot_bytes=snapshot_bytes,
        )
        opened.damaged = damaged
        quorum.start(now_ms=now_ms)
        opened._perform(now_ms=now_ms)
        opened.flush()
        return opened

    @property
    def leader_epoch(self) -> int:
        return self._quorum.leader_epoch

    @property
    def end_offset(self) -> int:
        """Where the next proposal will stand."""
        return self._quorum.log_end_offset

    @property
    def committed_offset(self) -> int:
        """Everything below it is on disk and counts."""
        return self._quorum.committed_offset

    def describe(self, *, now_ms: int) -> QuorumFacts:
        """The state of the quorum, for DescribeQuorum."""
        return self._quorum.describe(now_ms=now_ms)

    def bootstrap_records(self) -> tuple[bytes, ...]:
        """Records with which Kafka's formatter wants an empty log to begin; often none."""
        path = f"{_parent(self._log.path)}/{BOOTSTRAP_FILE}"
        data = _read_file(self._fs, path)
        if data is None:
            return ()
        try:
            return read_snapshot(data).records
        except ValueError as error:
            raise MetadataLogDamaged(path, str(error)) from error

    def replay(self) -> Iterator[CommittedBatch]:
        """The batches behind ``snapshot``, oldest first; read once, right after ``open``."""
        start_offset = 0 if self.snapshot_id is None else self.snapshot_id.end_offset
        for batch in _batches(self._log, start_offset):
            self._bytes_since_snapshot += batch.size_bytes
            yield CommittedBatch(
                base_offset=batch.base_offset,
                last_offset=batch.last_offset,
                leader_epoch=batch.partition_leader_epoch,
                timestamp_ms=batch.max_timestamp,
                records=() if batch.is_control else _values(self._log, batch),
            )

    def replayed(self) -> None:
        """The state has been rebuilt; what was only kept for that is dropped."""
        self.snapshot = None

    def propose(self, records: Sequence[bytes], *, now_ms: int) -> Proposal:
        """Queue records as one batch; ``write`` and a flush commit them, all or none.

        Raises ValueError when a batch cannot hold them, ApiError while the log takes no appends.
        """
        proposal = self._quorum.propose(records, now_ms=now_ms)
        try:
            self._perform(now_ms=now_ms)
        except Exception:
            self._quorum.truncated(self._log.log_end_offset)
            raise
        return proposal

    def write(self) -> None:
        """Put what is queued into the file. Raises LogDirectoryFailed, and DiskFull when what was
        queued is gone: proposals at and above ``end_offset`` will not be committed.
        """
        try:
            self._log.write()
        finally:
            self._quorum.truncated(self._log.log_end_offset)

    def begin_flush(self) -> FlushJob | None:
        """The work that commits what is written; None when there is nothing."""
        return self._log.begin_flush()

    def end_flush(self, job: FlushJob) -> int:
        """The job has run; the new committed offset."""
        self._log.end_flush(job)
        return self._quorum.flushed(self._log.flushed_offset)

    def flush_failed(self, error: OSError) -> Exception:
        """The job has raised: nothing is committed any more; the condition to act on."""
        return self._log.flush_failed(error)

    @property
    def wants_snapshot(self) -> bool:
        """The log behind the last snapshot has grown beyond its bound, and none is being made."""
        return not self._snapshot_running and self._bytes_since_snapshot > self._snapshot_bytes

    def begin_snapshot(
        self, records: Iterable[bytes], *, last_offset: int, epoch: int, timestamp_ms: int
    ) -> SnapshotJob:
        """Prepare a snapshot of the state after *last_offset*, which must be committed.

        *records* is taken when the job runs, on its thread.
        """
        assert last_offset < self.committed_offset, "only what is committed goes into a snapshot"
        assert not self._snapshot_running
        self._snapshot_running = True
        self._bytes_since_snapshot = 0
        batches = snapshot_batches(
            records, epoch=epoch, timestamp_ms=timestamp_ms, quorum=self._quorum_records
        )
        return SnapshotJob(self._fs, self._log.path, SnapshotId(last_offset + 1, epoch), batches)

    def end_snapshot(self, job: SnapshotJob, error: OSError | None = None) -> None:
        """The job has run. Drops snapshots but the newest two, and the log before those; with an
        *error* nothing is dropped and the log grows on until the next attempt.

        Removes files; blocks shortly. Raises LogDirectoryFailed when that fails.
        """
        self._snapshot_running = False
        if error is not None:
            job.abandon()
            return
        self.snapshot_id = job.snapshot_id
        try:
            self._drop_old()
        except OSError as failure:
            raise self._log.flush_failed(failure) from failure

    def _drop_old(self) -> None:
        known = _snapshot_ids(self._fs, self._log.path)
        for old in known[:-SNAPSHOTS_KEPT]:
            self._fs.remove(f"{self._log.path}/{old.file_name}")
        kept = known[-SNAPSHOTS_KEPT:]
        if len(kept) == SNAPSHOTS_KEPT and kept[0].end_offset > self._log.log_start_offset:
            self._log.raise_log_start(kept[0].end_offset)
        self._log.roll()

    def flush(self) -> None:
        """Commit everything proposed, here and now; blocks. For start and stop."""
        self._log.flush()
        self._quorum.flushed(self._log.flushed_offset)

    def _perform(self, *, now_ms: int) -> None:
        for effect in self._quorum.ready():
            match effect:
                case SaveState(state):
                    _save_quorum_state(self._fs, self._log.path, state)
                case Append(batch):
                    self._log.append_as_follower(batch, now_ms=now_ms)
                    self._bytes_since_snapshot += len(batch)


def _check_voters(
    path: str, node_id: int, state: QuorumState | None, records: QuorumRecords
) -> None:
    voters = (
        tuple(voter.voter_id for voter in records.voters.voters)
        if records.kraft_version and records.voters is not None
        else (() if state is None else state.voters)
    )
    if voters and set(voters) != {node_id}:
        raise MetadataLogRefused(
            path,
            f"its voters are the nodes {sorted(voters)}, and this is node {node_id} alone; "
            "start it with the node id of the directory's only voter",
        )


def _latest_snapshot(
    fs: FileSystem, log: SegmentLog
) -> tuple[SnapshotId | None, Snapshot | None, tuple[DamagedSnapshot, ...]]:
    """The newest whole snapshot that the log continues. Adapts a log that ends before it.

    A damaged snapshot is put aside under another name once the state is found without it.
    """
    damaged: list[tuple[SnapshotId, str]] = []
    for snapshot_id in reversed(_snapshot_ids(fs, log.path)):
        if snapshot_id.end_offset < log.log_start_offset:
            break
        data = _read_file(fs, f"{log.path}/{snapshot_id.file_name}")
        try:
            snapshot = read_snapshot(data or b"")
        except ValueError as error:
            damaged.append((snapshot_id, str(error)))
            continue
        _check_covered(log, damaged)
        if snapshot_id.end_offset > log.log_end_offset:
            log.truncate_fully_and_start_at(snapshot_id.end_offset)
        return snapshot_id, snapshot, _put_aside(fs, log.path, damaged)
    if log.log_start_offset > 0:
        reason = f"{damaged[0][0].file_name}: {damaged[0][1]}" if damaged else "no snapshot is left"
        raise MetadataLogDamaged(log.path, f"the log starts at {log.log_start_offset}, {reason}")
    _check_covered(log, damaged)
    return None, None, _put_aside(fs, log.path, damaged)


def _check_covered(log: SegmentLog, damaged: list[tuple[SnapshotId, str]]) -> None:
    """Raise MetadataLogDamaged when the log lacks what a damaged snapshot held.

    The snapshot at offset 0 that Kafka formats a directory with holds the voters, no log does.
    """
    for snapshot_id, reason in damaged:
        if snapshot_id.end_offset == 0 or snapshot_id.end_offset > log.log_end_offset:
            raise MetadataLogDamaged(log.path, f"{snapshot_id.file_name}: {reason}")


def _put_aside(
    fs: FileSystem, path: str, damaged: list[tuple[SnapshotId, str]]
) -> tuple[DamagedSnapshot, ...]:
    for snapshot_id, _ in damaged:
        source = f"{path}/{snapshot_id.file_name}"
        fs.rename(source, source + DAMAGED_SUFFIX)
    return tuple(
        DamagedSnapshot(path=f"{path}/{snapshot_id.file_name}{DAMAGED_SUFFIX}", reason=reason)
        for snapshot_id, reason in damaged
    )


def _batches(log: SegmentLog, start_offset: int) -> Iterator[Batch]:
    """Batches from *start_offset* to the end. Raises MetadataLogDamaged."""
    offset = max(start_offset, log.log_start_offset)
    end_offset = log.log_end_offset
    while offset < end_offset:
        data = log.read(offset, bytes_max=READ_BYTES, end_offset=end_offset).read()
        found_from = offset
        try:
            for batch in scan(data, verify_crc=True):
                if batch.base_offset != offset:
                    reason = f"a batch of offset {batch.base_offset} stands at offset {offset}"
                    raise MetadataLogDamaged(log.path, reason)
                yield batch
                offset = batch.next_offset
        except CorruptBatch as error:
            raise MetadataLogDamaged(log.path, f"at offset {offset}: {error}") from error
        if offset == found_from:
            raise MetadataLogDamaged(log.path, f"nothing can be read at offset {offset}")


def _values(log: SegmentLog, batch: Batch) -> list[bytes]:
    try:
        return batch_values(batch)
    except CorruptBatch as error:
        raise MetadataLogDamaged(log.path, f"at offset {batch.base_offset}: {error}") from error


def _after(log: SegmentLog, records: QuorumRecords, batch: Batch) -> QuorumRecords:
    try:
        return records.after(read_control(batch))
    except (CorruptBatch, DecodeError) as error:
        raise MetadataLogDamaged(log.path, f"at offset {batch.base_offset}: {error}") from error


def _snapshot_ids(fs: FileSystem, path: str) -> list[SnapshotId]:
    """Ids of the snapshot files in the folder, oldest first."""
    found = (SnapshotId.parse(name) for name in fs.list(path))
    return sorted(snapshot_id for snapshot_id in found if snapshot_id is not None)


def _remove_parts(fs: FileSystem, path: str) -> None:
    for name in fs.list(path):
        if name.endswith(PART_SUFFIX):
            fs.remove(f"{path}/{name}")


def _read_quorum_state(fs: FileSystem, path: str) -> QuorumState | None:
    data = _read_file(fs, f"{path}/{FILE_NAME}")
    try:
        return None if data is None else decode_quorum_state(data)
    except ValueError as error:
        raise MetadataLogDamaged(path, f"{FILE_NAME}: {error}") from error


def _save_quorum_state(fs: FileSystem, path: str, state: QuorumState) -> None:
    target = f"{path}/{FILE_NAME}"
    _write_durably(
        fs,
        directory=path,
        part=f"{target}.tmp",
        target=target,
        buffers=[encode_quorum_state(state)],
    )


def _read_file(fs: FileSystem, path: str) -> bytes | None:
    if fs.size(path) is None:
        return None
    file = fs.open(path, OpenMode.READ)
    try:
        return file.read_at(file.size(), 0)
    finally:
        file.close()


def _write_durably(
    fs: FileSystem, *, directory: str, part: str, target: str, buffers: Iterable[Buffer]
) -> None:
    file = fs.open(part, OpenMode.REPLACE)
    try:
        position = 0
        for buffer in buffers:
            position += file.write_at([buffer], position)
        file.sync()
    finally:
        file.close()
    fs.rename(part, target)
    fs.sync_directory(directory)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
