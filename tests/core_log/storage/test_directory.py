"""A data directory: whose it is, what is in it, and what its checkpoints promise."""

import json

import pytest

from headwater.core_log.kernel.ids import NO_TOPIC_ID, parse_id
from headwater.core_log.kernel.ports import OpenMode
from headwater.core_log.storage.checkpoints import decode_offsets
from headwater.core_log.storage.claim import RESERVE, RESERVE_BYTES
from headwater.core_log.storage.errors import DiskFull, LogDirectoryFailed, LogDirectoryRefused

from .world import FOREVER, LOG, PATH, TOPIC_ID, World, offsets_in


def content(world: World, name: str) -> bytes:
    file = world.fs.open(f"{PATH}/{name}", OpenMode.READ)
    return file.read_at(1 << 20, 0)


def put(world: World, name: str, data: bytes) -> None:
    world.fs.open(f"{PATH}/{name}", OpenMode.REPLACE).write_at([data], 0)


# Whose it is


def test_a_new_directory_gets_an_identity_that_stays() -> None:
    world = World()
    first = world.directory
    assert len(parse_id(first.cluster_id)) == len(first.directory_id) == 16
    world.restart()
    assert world.directory.cluster_id == first.cluster_id
    assert world.directory.directory_id == first.directory_id


def test_one_process_at_a_time() -> None:
    world = World()
    with pytest.raises(LogDirectoryRefused, match="another process uses it"):
        world.open()
    world.directory.close()
    world.open()


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("meta.properties", b"version=1\ncluster.id=c\nnode.id=2\n", "belongs to node 2"),
        ("meta.properties", b"version=1\ncluster.id=d\nnode.id=1\n", "belongs to cluster d"),
        ("meta.properties", b"version=0\nbroker.id=1\n", "before KRaft"),
        ("headwater.properties", b"format.version=2\n", "a newer Headwater wrote it"),
        ("headwater.properties", b"", "not a number"),
    ],
)
def test_a_directory_of_somebody_else_is_refused(name: str, data: bytes, reason: str) -> None:
    """With a reason, before anything in it changes, and without keeping the lock."""
    world = World()
    world.directory.close()
    put(world, name, data)
    before = len(world.fs.operations)
    for _ in range(2):
        with pytest.raises(LogDirectoryRefused, match=reason):
            world.open(cluster_id="c" if "node.id" in data.decode() else None)
    assert len(world.fs.operations) == before


def test_the_cluster_id_can_be_given() -> None:
    world = World()
    world.directory.close()
    put(world, "meta.properties", b"version=1\ncluster.id=mine\nnode.id=1\n")
    directory = world.open(cluster_id="mine")
    assert directory.cluster_id == "mine"
    assert b"directory.id=" in content(world, "meta.properties")


# The marker of a clean stop


def test_the_marker_of_a_clean_stop_goes_before_anything_is_written() -> None:
    world = World()
    found = [world.directory.was_clean]
    world.directory.close(broker_epoch=5)
    assert json.loads(content(world, ".kafka_cleanshutdown")) == {"version": 0, "brokerEpoch": 5}
    world.start()
    found.append(world.directory.was_clean)
    world.crash()
    found.append(world.directory.was_clean)
    assert found == [False, True, False]


def test_a_failed_directory_is_not_marked_clean() -> None:
    world = World()
    world.append()
    world.fs.fail_after(0)
    with pytest.raises(LogDirectoryFailed):
        world.log.write()
    world.restart()
    assert not world.directory.was_clean


# What is in it


def test_partitions_come_back_with_their_topic_ids() -> None:
    world = World()
    world.directory.create("other.topic", 3, bytes(range(1, 17)), FOREVER)
    world.directory.sync_created()
    assert world.directory.log_count == 2
    world.directory.close()
    logs, _ = world.open().load(lambda *_: FOREVER)
    assert {(log.topic, log.partition): log.topic_id for log in logs} == {
        ("t", 0): TOPIC_ID,
        ("other.topic", 3): bytes(range(1, 17)),
    }


def test_what_is_no_partition_is_left_alone() -> None:
    world = World()
    world.directory.close()
    for name in ("lost+found", "t-0.abc-future", "__cluster_metadata-0"):
        world.fs.make_directory(f"{PATH}/{name}")
    put(world, "notes-1", b"a file")
    world.start()
    assert world.directory.log_count == 1
    assert world.fs.is_directory(f"{PATH}/lost+found")


def test_the_metadata_log_is_opened_by_name() -> None:
    world = World()
    log, notes = world.directory.open_log("__cluster_metadata", 0, TOPIC_ID, FOREVER)
    assert notes == []
    assert log.log_end_offset == 0
    world.directory.close()
    world.start()
    log, _ = world.directory.open_log("__cluster_metadata", 0, TOPIC_ID, FOREVER)
    assert log.path == f"{PATH}/__cluster_metadata-0"


def test_a_log_that_was_never_flushed_is_no_log() -> None:
    """A crash right after its creation: nothing was acknowledged, so it is made anew."""
    outcomes = set()
    for seed in range(40):
        world = World(seed=seed)
        world.log.flush()
        late = world.directory.create("late", 0, TOPIC_ID, FOREVER)
        world.fs.crash()
        world.directory = world.open()
        logs, notes = world.directory.load(lambda *_: FOREVER)
        found = [log for log in logs if log.topic == "late"]
        outcomes.add((bool(found), *(note.event for note in notes)))
        assert all(log.topic_id == late.topic_id for log in found)
        if not found:
            again = world.directory.create("late", 0, TOPIC_ID, FOREVER)
            again.flush()
            world.directory.close()
            logs, _ = world.open().load(lambda *_: FOREVER)
            assert TOPIC_ID in {log.topic_id for log in logs}
    assert (False,) in outcomes
    assert any("unfinished_log_removed" in outcome for outcome in outcomes)


def test_a_log_without_topic_id_is_kept_when_it_has_records() -> None:
    world = World()
    world.append()
    world.directory.close()
    put(world, "t-0/partition.metadata", b"torn")
    world.start()
    assert world.events == ["topic_id_unreadable"]
    assert world.log.topic_id == NO_TOPIC_ID
    assert offsets_in(world.log) == [0]


def test_names_that_would_leave_the_directory_are_refused() -> None:
    world = World()
    with pytest.raises(ValueError, match="cannot be the name"):
        world.directory.create("../x", 0, TOPIC_ID, FOREVER)


def test_creating_costs_no_sync() -> None:
    world = World()
    before = len(world.fs.operations)
    world.directory.create("other", 0, TOPIC_ID, FOREVER)
    assert not [op for op in world.fs.operations[before:] if op.startswith("sync")]


# Deletion


def test_a_deleted_log_is_gone_at_once_and_its_files_later() -> None:
    world = World()
    world.append()
    world.log.flush()
    piece = world.log.read(0, bytes_max=1000, end_offset=1)
    world.directory.delete(world.log)
    assert world.directory.log_count == 0
    (name,) = [name for name in world.fs.list(PATH) if name.endswith("-delete")]
    assert piece.size_bytes == len(piece.read())
    delay_ms = FOREVER.file_delete_delay_ms
    assert world.directory.remove_deleted(world.clock.now_ms() + delay_ms - 1) == 0
    assert world.directory.remove_deleted(world.clock.now_ms() + delay_ms) == 1
    assert name not in world.fs.list(PATH)
    world.directory.create("t", 0, TOPIC_ID, FOREVER)


def test_a_deletion_goes_on_after_a_restart() -> None:
    world = World()
    world.log.flush()
    world.directory.delete(world.log)
    world.directory.close()
    directory = world.open()
    logs, _ = directory.load(lambda *_: FOREVER)
    assert logs == []
    assert directory.remove_deleted(world.clock.now_ms()) == 1
    assert not [name for name in world.fs.list(PATH) if name.endswith("-delete")]


def test_a_flush_that_runs_during_a_deletion_does_no_harm() -> None:
    world = World()
    world.append()
    world.log.write()
    job = world.log.begin_flush()
    assert job is not None
    world.directory.delete(world.log)
    job.run()
    world.log.end_flush(job)
    assert world.directory.offline_reason is None


def test_a_checkpoint_that_runs_during_a_deletion_does_no_harm() -> None:
    world = World()
    world.append()
    world.log.flush()
    job = world.directory.begin_checkpoint({})
    world.directory.delete(world.log)
    job.run()
    world.directory.end_checkpoint(job)
    assert world.directory.offline_reason is None
    assert not world.fs.is_directory(LOG)


# Checkpoints


def test_checkpoints_say_what_is_durable() -> None:
    world = World()
    for _ in range(4):
        world.append()
    world.log.flush()
    world.append()
    world.log.write()
    world.log.raise_log_start(2)
    world.directory.checkpoint({("t", 0): 3, ("gone", 1): 9})
    files = {
        name: decode_offsets(content(world, f"{name}-offset-checkpoint"))
        for name in ("recovery-point", "log-start", "replication")
    }
    assert files == {
        "recovery-point": {("t", 0): 4},
        "log-start": {("t", 0): 2},
        "replication": {("t", 0): 3},
    }
    assert content(world, "t-0/leader-epoch-checkpoint") == b"0\n1\n0 2\n"
    world.crash()
    assert world.directory.high_watermarks == {("t", 0): 3}


def test_the_last_high_watermarks_stand_when_none_are_given() -> None:
    world = World()
    world.directory.checkpoint({("t", 0): 0})
    world.restart()
    assert world.directory.high_watermarks == {("t", 0): 0}


def test_unreadable_checkpoints_cost_time_and_are_told() -> None:
    world = World()
    for _ in range(3):
        world.append()
    world.directory.close()
    for name in ("recovery-point", "log-start", "replication"):
        put(world, f"{name}-offset-checkpoint", b"0\n9\n")
    world.start()
    assert world.events == ["checkpoint_unreadable"] * 3
    assert offsets_in(world.log) == [0, 1, 2]


def test_a_failed_checkpoint_takes_the_directory_offline() -> None:
    world = World()
    world.append()
    world.log.flush()
    world.fs.fail_after(1)
    with pytest.raises(LogDirectoryFailed):
        world.directory.checkpoint({})
    assert world.directory.offline_reason is not None
    with pytest.raises(LogDirectoryFailed):
        world.directory.begin_checkpoint({})


def test_a_job_that_failed_elsewhere_is_told_at_its_end() -> None:
    world = World()
    job = world.directory.begin_checkpoint({})
    world.directory.end_checkpoint(job, OSError(5, "bad disk"))
    assert world.directory.offline_reason == "bad disk"


# A full disk


def test_the_reserve_lets_a_full_disk_delete() -> None:
    """A checkpoint gives the reserve up, so that the log start can be written and files go."""
    world = World(FOREVER)
    for _ in range(10):
        world.append()
        world.log.roll()
    world.log.flush()
    assert world.fs.size(f"{PATH}/{RESERVE}") == RESERVE_BYTES
    world.fs.capacity_bytes = world.fs.used_bytes
    world.log.raise_log_start(9)
    world.directory.checkpoint({})
    assert world.fs.size(f"{PATH}/{RESERVE}") is None
    assert world.directory.remove_deleted(world.clock.now_ms() + 60_000) > 0
    assert world.directory.offline_reason is None
    world.fs.capacity_bytes = None
    world.restart()
    assert world.fs.size(f"{PATH}/{RESERVE}") == RESERVE_BYTES
    assert offsets_in(world.log) == [9]


def test_a_checkpoint_on_a_full_disk_is_tried_again() -> None:
    world = World()
    for number in range(3):
        world.append(leader_epoch=number)
        world.log.roll()
    world.log.flush()
    world.fs.remove(f"{PATH}/{RESERVE}")
    world.fs.capacity_bytes = world.fs.used_bytes
    world.log.raise_log_start(2)
    world.directory.checkpoint({})
    assert world.directory.offline_reason is None
    world.fs.capacity_bytes = None
    world.directory.checkpoint({})
    world.directory.remove_deleted(world.clock.now_ms() + 60_000)
    world.crash()
    assert (world.log.log_start_offset, world.log.latest_epoch) == (2, 2)


@pytest.mark.parametrize("left_bytes", [0, 60, 100, 2000])
def test_a_full_disk_still_stops_and_starts(left_bytes: int) -> None:
    """Cleanly if the reserve suffices; what was flushed is there in any case."""
    world = World()
    world.append()
    world.log.flush()
    world.append()
    world.fs.capacity_bytes = world.fs.used_bytes + left_bytes
    world.restart()
    assert 0 in offsets_in(world.log)
    world.fs.capacity_bytes = world.fs.used_bytes
    world.directory.close()
    world.fs.capacity_bytes = None
    world.start()
    assert 0 in offsets_in(world.log)


def test_nothing_is_created_on_a_full_disk() -> None:
    world = World()
    world.fs.capacity_bytes = world.fs.used_bytes
    with pytest.raises(DiskFull):
        world.directory.create("other", 0, TOPIC_ID, FOREVER)
    assert world.directory.offline_reason is None
    assert world.directory.free_bytes() == 0
    world.fs.capacity_bytes = None
    world.directory.create("other", 0, TOPIC_ID, FOREVER).flush()
