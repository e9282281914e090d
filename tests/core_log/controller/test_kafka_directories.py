"""Directories that Apache Kafka 4.3 has written open, with everything in them.

The folders beside this file were written by Kafka 4.3.0 as a combined node: ``static`` formatted
for configured voters and with a SCRAM user, ``dynamic`` for voters in the log (KIP-853) and with a
snapshot. In both a topic was created, one deleted, one grown; a config, a quota and an ACL were
set; an idempotent producer sent one record; then Kafka was stopped.
"""

import random
from pathlib import Path

import pytest

from headwater.core_log.controller.controller import Controller
from headwater.core_log.controller.image import ConfigResource, ConfigResourceType
from headwater.core_log.controller.log_config import METADATA_LOG_CONFIG
from headwater.core_log.controller.nodes import own_registration
from headwater.core_log.kernel.ports import OpenMode
from headwater.core_log.raft.metadata_log import (
    METADATA_TOPIC,
    METADATA_TOPIC_ID,
    MetadataLog,
)
from headwater.core_log.storage.directory import LogDirectory
from headwater.core_log.testing.clock import ManualClock
from headwater.core_log.testing.memory_fs import MemoryFileSystem

FOLDERS = Path(__file__).parent / "kafka_directories"
NOW_MS = 1_800_000_000_000


def copied(name: str) -> MemoryFileSystem:
    """The folder, in memory, as /data."""
    fs = MemoryFileSystem()
    source = FOLDERS / name
    for path in sorted(source.rglob("*")):
        target = f"/data/{path.relative_to(source).as_posix()}"
        if path.is_dir():
            fs.make_directory(target)
            continue
        fs.make_directory(target.rpartition("/")[0])
        file = fs.open(target, OpenMode.CREATE)
        file.write_at([path.read_bytes()], 0)
        file.close()
    return fs


def opened(fs: MemoryFileSystem) -> tuple[LogDirectory, MetadataLog, Controller]:
    directory = LogDirectory.open(
        fs, "/data", node_id=1, cluster_id=None, clock=ManualClock(), rng=random.Random(1)
    )
    partition_log, _ = directory.open_log(METADATA_TOPIC, 0, METADATA_TOPIC_ID, METADATA_LOG_CONFIG)
    log = MetadataLog.open(
        fs, partition_log, node_id=1, directory_id=directory.directory_id, now_ms=NOW_MS
    )
    return directory, log, Controller(log, cluster_id=directory.cluster_id)


@pytest.mark.parametrize("name", ["static", "dynamic"])
def test_everything_that_kafka_wrote_is_there(name: str) -> None:
    """Also what this version does not act on."""
    _, _, controller = opened(copied(name))

    image = controller.image
    assert image.cluster_id == "4L6g3nShT-eMCtK--X86sw"
    assert {topic.name: len(topic.partitions) for topic in image.topics.values()} == {
        "alpha": 3,
        "beta.one": 4,
    }
    assert image.topic_overrides("alpha") == {
        "retention.ms": "1000000",
        "cleanup.policy": "compact,delete",
    }
    broker = ConfigResource(ConfigResourceType.BROKER, "1")
    assert image.overrides(broker) == {"log.retention.ms": "5000000"}
    assert image.quotas == {(("client-id", "app"),): {"producer_byte_rate": 1000000.0}}
    (acl,) = image.acls.values()
    assert (acl.resource_name, acl.principal) == ("alpha", "User:alice")
    assert image.next_producer_id == 1000
    assert image.brokers[1].fenced
    assert image.controllers[1].endpoints[0].listener == "CONTROLLER"
    assert image.features.levels["transaction.version"] == 2
    assert image.features.finalized["transaction.version"] == 2
    assert [name for name, _ in image.scram] == (["alice"] if name == "static" else [])


@pytest.mark.parametrize("name", ["static", "dynamic"])
def test_this_node_takes_over_what_kafka_gave_up(name: str) -> None:
    """Kafka's last replica stays eligible without being in sync; it leads again, in a new epoch."""
    fs = copied(name)
    directory, log, controller = opened(fs)
    before = controller.image
    assert all(p.leader == -1 for t in before.topics.values() for p in t.partitions)

    controller.start(
        own_registration(
            broker_id=1,
            cluster_id=before.cluster_id,
            incarnation_id=bytes(15) + b"\x09",
            endpoints=[],
            rack=None,
            log_dirs=[directory.directory_id],
        ),
        was_clean=True,
        now_ms=NOW_MS,
    )

    for topic in controller.image.topics.values():
        for index, partition in enumerate(topic.partitions):
            old = before.topics[topic.name].partitions[index]
            assert (partition.leader, partition.isr) == (1, (1,))
            assert partition.leader_epoch == old.leader_epoch + 1
            assert partition.directories == (directory.directory_id,)
    assert log.leader_epoch == 2
    (voter,) = log.describe(now_ms=0).voters
    assert voter.directory_id == (directory.directory_id if name == "dynamic" else bytes(16))

    job = controller.begin_snapshot()
    job.run()
    controller.end_snapshot(job)
    image = controller.image
    controller.close()
    directory.close()
    _, _, again = opened(fs)
    assert again.image.topics == image.topics
    assert again.image.acls == image.acls
    assert again.image.scram == image.scram


def test_a_directory_that_kafka_only_formatted_begins_with_its_bootstrap_records() -> None:
    """Features and users that the formatter was told of."""
    fs = copied("static")
    fs.remove(f"/data/{METADATA_TOPIC}-0")
    directory, _, controller = opened(fs)

    controller.start(
        own_registration(
            broker_id=1,
            cluster_id=directory.cluster_id,
            incarnation_id=bytes(15) + b"\x09",
            endpoints=[],
            rack=None,
            log_dirs=[directory.directory_id],
        ),
        was_clean=False,
        now_ms=NOW_MS,
    )

    assert controller.image.features.levels["share.version"] == 1
    assert list(controller.image.scram) == [("alice", 1)]
