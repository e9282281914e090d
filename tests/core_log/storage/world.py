"""A small world for storage tests: a disk in memory, a clock by hand, a directory, one log."""

import random
from typing import final

from headwater.core_log.kernel.ports import FileSystem
from headwater.core_log.records.batch import Batch, read_batch, scan
from headwater.core_log.records.record import NewRecord, build_batch
from headwater.core_log.storage.config import LogConfig
from headwater.core_log.storage.directory import LogDirectory
from headwater.core_log.storage.errors import LogDirectoryFailed
from headwater.core_log.storage.log import Appended, PartitionLog
from headwater.core_log.storage.notes import Note
from headwater.core_log.storage.volume import Volume
from headwater.core_log.testing.clock import ManualClock
from headwater.core_log.testing.memory_fs import MemoryFileSystem

PATH = "data"
LOG = "data/t-0"
TOPIC_ID = bytes(range(16))
FOREVER = LogConfig(retention_ms=None)


def batch_of(
    count: int = 1,
    *,
    timestamp_ms: int = 1_000,
    value: bytes = b"v",
    producer_id: int = -1,
    epoch: int = 0,
    sequence: int = 0,
    is_transactional: bool = False,
    base_offset: int = 0,
    leader_epoch: int = -1,
) -> Batch:
    """A batch as a client sends it: *count* records, a millisecond apart."""
    has_producer = producer_id >= 0
    return read_batch(
        build_batch(
            [NewRecord(timestamp_ms=timestamp_ms + i, value=value) for i in range(count)],
            producer_id=producer_id,
            producer_epoch=epoch if has_producer else -1,
            base_sequence=sequence if has_producer else -1,
            is_transactional=is_transactional,
            base_offset=base_offset,
            leader_epoch=leader_epoch,
        )
    )


def volume_on(fs: FileSystem, clock: ManualClock | None = None) -> Volume:
    return Volume(fs, PATH, clock=clock or ManualClock(), rng=random.Random(0))


@final
class World:
    """One data directory with one log ``t-0``, restarted and crashed at will."""

    def __init__(self, config: LogConfig = FOREVER, *, seed: int = 0) -> None:
        self.fs = MemoryFileSystem(seed=seed)
        self.clock = ManualClock()
        self.config = config
        self.notes: list[Note] = []
        self.failures: list[LogDirectoryFailed] = []
        self.directory = self.open()
        self.log = self.directory.create("t", 0, TOPIC_ID, config)

    def open(self, *, node_id: int = 1, cluster_id: str | None = None) -> LogDirectory:
        return LogDirectory.open(
            self.fs,
            PATH,
            node_id=node_id,
            cluster_id=cluster_id,
            clock=self.clock,
            rng=random.Random(1),
            on_failure=self.failures.append,
        )

    def start(self) -> PartitionLog:
        """Open the directory and load the log; it must be there."""
        self.directory = self.open()
        logs, self.notes = self.directory.load(lambda *_: self.config)
        (self.log,) = logs
        self.log.check()
        return self.log

    def restart(self, *, clean: bool = True) -> PartitionLog:
        """Close and open again; without *clean* as after kill -9: what was written is there."""
        self.directory.close(clean=clean)
        return self.start()

    def crash(self) -> PartitionLog:
        """Lose power: what was not flushed is lost, or not."""
        self.fs.crash()
        return self.start()

    def append(self, count: int = 1, *, leader_epoch: int = 0, **fields: int) -> Appended:
        """Append a batch at the clock's time; *fields* are those of batch_of."""
        batch = batch_of(count, timestamp_ms=self.clock.now_ms(), **fields)  # type: ignore[arg-type]  # all are ints but what no test passes here
        return self.log.append_as_leader(
            batch, leader_epoch=leader_epoch, now_ms=self.clock.now_ms()
        )

    @property
    def events(self) -> list[str]:
        return [note.event for note in self.notes]


def batches_in(log: PartitionLog, *, bytes_max: int = 1 << 20) -> list[Batch]:
    """Every batch a consumer gets from the log's start to its written end, checksums verified."""
    offset = log.log_start_offset
    found: list[Batch] = []
    while offset < log.written_offset:
        piece = log.read(offset, bytes_max=bytes_max, end_offset=log.written_offset)
        batches = list(scan(piece.read(), verify_crc=True))
        assert batches, f"nothing can be read at {offset}, below the end of {log}"
        found += batches
        offset = batches[-1].next_offset
    return found


def offsets_in(log: PartitionLog) -> list[int]:
    """Every offset a consumer gets, from the log start on."""
    return [
        offset
        for batch in batches_in(log)
        for offset in range(batch.base_offset, batch.next_offset)
        if offset >= log.log_start_offset
    ]
