"""A metadata log on a file system in memory, opened the way a node does."""

import random
from dataclasses import dataclass

from headwater.core_log.controller.log_config import METADATA_LOG_CONFIG
from headwater.core_log.raft.metadata_log import (
    METADATA_TOPIC,
    METADATA_TOPIC_ID,
    CommittedBatch,
    MetadataLog,
)
from headwater.core_log.storage.directory import LogDirectory
from headwater.core_log.storage.log import PartitionLog
from headwater.core_log.testing.clock import ManualClock
from headwater.core_log.testing.memory_fs import MemoryFileSystem

PATH = "/data"
FOLDER = f"{PATH}/{METADATA_TOPIC}-0"
CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw"
NOW_MS = 1_700_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What ``opened`` found."""

    fs: MemoryFileSystem
    directory: LogDirectory
    partition_log: PartitionLog
    log: MetadataLog

    def close(self) -> None:
        self.log.flush()
        self.directory.close()

    def committed(self) -> list[CommittedBatch]:
        """Everything behind the snapshot that has records."""
        return [batch for batch in self.log.replay() if batch.records]


def opened(
    fs: MemoryFileSystem, *, node_id: int = 1, snapshot_bytes: int = 10**6, now_ms: int = NOW_MS
) -> Node:
    directory = LogDirectory.open(
        fs, PATH, node_id=node_id, cluster_id=None, clock=ManualClock(), rng=random.Random(1)
    )
    partition_log, _ = directory.open_log(METADATA_TOPIC, 0, METADATA_TOPIC_ID, METADATA_LOG_CONFIG)
    log = MetadataLog.open(
        fs,
        partition_log,
        node_id=node_id,
        directory_id=directory.directory_id,
        now_ms=now_ms,
        snapshot_bytes=snapshot_bytes,
    )
    return Node(fs=fs, directory=directory, partition_log=partition_log, log=log)


def commit(log: MetadataLog) -> int:
    """Write and flush what is proposed."""
    log.write()
    job = log.begin_flush()
    if job is None:
        return log.committed_offset
    job.run()
    return log.end_flush(job)
