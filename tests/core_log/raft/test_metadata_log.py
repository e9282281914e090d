"""The metadata log keeps what it committed, over snapshots, stops and power loss."""

import pytest

from headwater.core_log.kernel.ports import OpenMode
from headwater.core_log.protocol.codec import encode
from headwater.core_log.protocol.coordinator import voters_record
from headwater.core_log.protocol.coordinator.kraft_version_record import KRaftVersionRecord
from headwater.core_log.protocol.coordinator.voters_record import VotersRecord
from headwater.core_log.raft.errors import MetadataLogDamaged, MetadataLogRefused
from headwater.core_log.raft.metadata_log import SNAPSHOTS_KEPT, MetadataLog
from headwater.core_log.raft.quorum_state import QuorumState, encode_quorum_state
from headwater.core_log.raft.snapshots import QuorumRecords, SnapshotId, snapshot_batches
from headwater.core_log.records.control import ControlType, build_control_batch
from headwater.core_log.storage.errors import DiskFull, LogDirectoryFailed
from headwater.core_log.testing.memory_fs import MemoryFileSystem, PowerLost

from .node import FOLDER, NOW_MS, Node, commit, opened


def put(fs: MemoryFileSystem, path: str, data: bytes) -> None:
    file = fs.open(path, OpenMode.REPLACE)
    file.write_at([data], 0)
    file.sync()
    file.close()
    fs.sync_directory(path.rpartition("/")[0])


def snapshot_file(records: list[bytes], quorum: QuorumRecords | None = None) -> bytes:
    batches = snapshot_batches(records, epoch=1, timestamp_ms=0, quorum=quorum or QuorumRecords())
    return b"".join(batches)


def state_of(node: Node) -> list[bytes]:
    """All records a node finds, as if each were a state of its own."""
    found = [] if node.log.snapshot is None else [*node.log.snapshot.records]
    return found + [record for batch in node.committed() for record in batch.records]


def take_snapshot(log: MetadataLog, records: list[bytes], *, last_offset: int) -> None:
    job = log.begin_snapshot(
        records, last_offset=last_offset, epoch=log.leader_epoch, timestamp_ms=5
    )
    job.run()
    log.end_snapshot(job)


def test_what_was_committed_is_found_again() -> None:
    """In the batches in which it was proposed; the epoch's own records are not among them."""
    fs = MemoryFileSystem()
    node = opened(fs)
    node.log.propose([b"a", b"b"], now_ms=7)
    node.log.propose([b"c"], now_ms=8)
    assert node.log.committed_offset == 1
    assert commit(node.log) == 4
    node.close()

    again = opened(fs)

    batches = again.committed()
    assert [list(batch.records) for batch in batches] == [[b"a", b"b"], [b"c"]]
    assert [(b.base_offset, b.last_offset) for b in batches] == [(1, 2), (3, 3)]
    assert [b.timestamp_ms for b in batches] == [7, 8]
    assert again.log.leader_epoch == 2
    assert again.log.committed_offset == again.log.end_offset == 5


def test_the_log_counts_its_control_records_too() -> None:
    """Who replays learns where the log stands, also when nothing but an epoch began."""
    node = opened(MemoryFileSystem())

    (batch,) = node.log.replay()

    assert (batch.base_offset, batch.last_offset, list(batch.records)) == (0, 0, [])


def test_the_state_file_is_written_before_the_epoch() -> None:
    """Its epoch is the one that the log begins."""
    fs = MemoryFileSystem()
    node = opened(fs)
    steps = fs.operations
    saved = steps.index(f"rename {FOLDER}/quorum-state.tmp {FOLDER}/quorum-state")
    first = next(i for i, step in enumerate(steps) if step.startswith(f"write {FOLDER}/0000"))

    assert f"sync {FOLDER}/quorum-state.tmp" in steps[:saved]
    assert f"sync_directory {FOLDER}" in steps[saved:first]
    assert node.log.leader_epoch == 1


def test_a_lost_state_file_does_not_turn_the_epoch_back() -> None:
    """The log knows its epochs as well."""
    fs = MemoryFileSystem()
    for _ in range(3):
        opened(fs).close()
    fs.remove(f"{FOLDER}/quorum-state")

    assert opened(fs).log.leader_epoch == 4


def test_a_snapshot_stands_for_the_log_before_it() -> None:
    """What came after it is read from the log."""
    fs = MemoryFileSystem()
    node = opened(fs)
    node.log.propose([b"a", b"b"], now_ms=0)
    commit(node.log)
    take_snapshot(node.log, [b"ab"], last_offset=2)
    node.log.propose([b"c"], now_ms=0)
    commit(node.log)
    node.close()

    again = opened(fs)

    assert again.log.snapshot is not None
    assert again.log.snapshot.records == (b"ab",)
    assert again.log.snapshot.timestamp_ms == 5
    assert again.log.snapshot_id == SnapshotId(3, 1)
    assert state_of(again) == [b"ab", b"c"]
    again.log.replayed()
    assert again.log.snapshot is None


def test_a_snapshot_is_due_when_the_log_has_grown() -> None:
    """By bytes since the last one, counted over restarts; one at a time."""
    fs = MemoryFileSystem()
    node = opened(fs, snapshot_bytes=500)
    due = [node.log.wants_snapshot]
    node.log.propose([bytes(600)], now_ms=0)
    commit(node.log)
    due.append(node.log.wants_snapshot)
    assert due == [False, True]
    node.close()

    again = opened(fs, snapshot_bytes=500)
    assert len(again.committed()) == 1
    due = [again.log.wants_snapshot]
    job = again.log.begin_snapshot([b"x"], last_offset=1, epoch=1, timestamp_ms=0)
    due.append(again.log.wants_snapshot)
    job.run()
    again.log.end_snapshot(job)
    due.append(again.log.wants_snapshot)
    assert due == [True, False, False]


def test_the_newest_two_snapshots_are_kept_and_the_log_from_the_older_on() -> None:
    """Segments before that go with the directory's next checkpoint."""
    fs = MemoryFileSystem()
    node = opened(fs)
    ends = []
    for number in range(4):
        node.log.propose([b"%d" % number], now_ms=0)
        end = commit(node.log)
        take_snapshot(node.log, [b"state %d" % number], last_offset=end - 1)
        ends.append(end)
    node.close()

    names = [name for name in fs.list(FOLDER) if name.endswith(".checkpoint")]
    assert names == [SnapshotId(end, 1).file_name for end in ends[-SNAPSHOTS_KEPT:]]
    segments = [name for name in fs.list(FOLDER) if name.endswith(".log")]
    assert int(segments[0][:20]) == ends[-2]
    again = opened(fs)
    assert again.partition_log.log_start_offset == ends[-2]
    assert state_of(again) == [b"state 3"]


def test_a_failed_snapshot_leaves_everything_as_it_was() -> None:
    """The log goes on growing; the next attempt is a new one."""
    fs = MemoryFileSystem()
    node = opened(fs)
    node.log.propose([b"a"], now_ms=0)
    commit(node.log)
    job = node.log.begin_snapshot([b"x"] * 10, last_offset=1, epoch=1, timestamp_ms=0)
    fs.fail_after(2)
    with pytest.raises(OSError, match="injected") as failure:
        job.run()

    node.log.end_snapshot(job, failure.value)

    assert not [name for name in fs.list(FOLDER) if "checkpoint.part" in name]
    node.close()
    assert state_of(opened(fs)) == [b"a"]


def test_an_unfinished_snapshot_is_removed_at_the_start() -> None:
    """Its name says that it was never whole."""
    fs = MemoryFileSystem()
    opened(fs).close()
    part = f"{FOLDER}/{SnapshotId(9, 1).file_name}.part"
    put(fs, part, b"half")

    assert state_of(opened(fs)) == []
    assert fs.size(part) is None


def test_a_damaged_snapshot_is_put_aside_while_the_log_still_has_all() -> None:
    """The older snapshot, or the whole log, gives the same state; a person is told."""
    fs = MemoryFileSystem()
    node = opened(fs)
    kept: list[bytes] = []
    for number in range(3):
        node.log.propose([b"%d" % number], now_ms=0)
        kept.append(b"%d" % number)
        end = commit(node.log)
        take_snapshot(node.log, kept, last_offset=end - 1)
    newest = f"{FOLDER}/{SnapshotId(end, 1).file_name}"
    node.close()
    fs.flip_bit(newest, 100)

    again = opened(fs)

    assert state_of(again) == kept
    (damaged,) = again.log.damaged
    assert damaged.path == newest + ".damaged"
    assert "CRC" in damaged.reason
    assert fs.size(newest) is None
    assert fs.size(damaged.path)


def test_the_only_snapshot_may_be_damaged_while_the_log_is_whole() -> None:
    """Nothing has been deleted yet."""
    fs = MemoryFileSystem()
    node = opened(fs)
    node.log.propose([b"a"], now_ms=0)
    commit(node.log)
    take_snapshot(node.log, [b"a"], last_offset=1)
    node.close()
    fs.flip_bit(f"{FOLDER}/{SnapshotId(2, 1).file_name}", 100)

    again = opened(fs)

    assert state_of(again) == [b"a"]
    assert len(again.log.damaged) == 1


def test_without_a_way_to_the_whole_state_a_node_does_not_start() -> None:
    """And changes nothing, so that the folder can be repaired."""
    fs = MemoryFileSystem()
    node = opened(fs)
    for _ in range(3):
        node.log.propose([b"a"], now_ms=0)
        end = commit(node.log)
        take_snapshot(node.log, [b"a"], last_offset=end - 1)
    node.close()
    names = [name for name in fs.list(FOLDER) if name.endswith(".checkpoint")]
    for name in names:
        fs.flip_bit(f"{FOLDER}/{name}", 100)

    with pytest.raises(MetadataLogDamaged, match="the log starts at"):
        opened(fs)

    assert set(names) <= set(fs.list(FOLDER))


def test_a_log_that_ends_before_its_snapshot_goes_on_behind_it() -> None:
    """The snapshot was fetched, or outlived the log's last segment."""
    fs = MemoryFileSystem()
    opened(fs).close()
    put(fs, f"{FOLDER}/{SnapshotId(50, 7).file_name}", snapshot_file([b"x"]))

    again = opened(fs)

    assert state_of(again) == [b"x"]
    assert again.log.leader_epoch == 8
    assert again.log.committed_offset == 51


def test_quorum_records_survive_the_log_they_stood_in() -> None:
    """A directory formatted with voters in the log keeps them in every snapshot of ours."""
    fs = MemoryFileSystem()
    voters = VotersRecord(
        voters=[voters_record.Voter(voter_id=1, voter_directory_id=bytes(range(16)))]
    )
    quorum = QuorumRecords(kraft_version=1, voters=voters)
    fs.make_directory(FOLDER)
    put(fs, f"{FOLDER}/{SnapshotId(0, 0).file_name}", snapshot_file([], quorum))
    node = opened(fs)
    node.log.propose([b"a"], now_ms=0)
    commit(node.log)
    take_snapshot(node.log, [b"a"], last_offset=1)
    node.close()

    again = opened(fs)

    assert again.log.snapshot is not None
    assert again.log.snapshot.quorum == quorum
    (voter,) = again.log.describe(now_ms=0).voters
    assert voter.directory_id == again.directory.directory_id


def test_another_nodes_log_is_refused() -> None:
    """By the voters in the state file or in the log: a quorum of three is not one."""
    configured = MemoryFileSystem()
    opened(configured).close()
    state = QuorumState(leader_epoch=4, voters=(1, 2, 3))
    put(configured, f"{FOLDER}/quorum-state", encode_quorum_state(state))
    dynamic = MemoryFileSystem()
    dynamic.make_directory(FOLDER)
    voters = VotersRecord(voters=[voters_record.Voter(voter_id=2)])
    quorum = QuorumRecords(kraft_version=1, voters=voters)
    put(dynamic, f"{FOLDER}/{SnapshotId(0, 0).file_name}", snapshot_file([], quorum))

    with pytest.raises(MetadataLogRefused, match=r"nodes \[1, 2, 3\], and this is node 1 alone"):
        opened(configured)
    with pytest.raises(MetadataLogRefused, match=r"nodes \[2\], and this is node 1 alone"):
        opened(dynamic)


def test_a_state_file_that_cannot_be_read_is_refused() -> None:
    """A vote may be in it."""
    fs = MemoryFileSystem()
    opened(fs).close()
    put(fs, f"{FOLDER}/quorum-state", b"{}")

    with pytest.raises(MetadataLogDamaged, match="quorum-state: data_version"):
        opened(fs)


def test_bootstrap_records_are_handed_out() -> None:
    """The file with which Kafka formats a directory; none is fine, a broken one is not."""
    fs = MemoryFileSystem()
    node = opened(fs)
    assert node.log.bootstrap_records() == ()
    put(fs, "/data/bootstrap.checkpoint", snapshot_file([b"a", b"b"]))
    assert node.log.bootstrap_records() == (b"a", b"b")
    put(fs, "/data/bootstrap.checkpoint", b"x")
    with pytest.raises(MetadataLogDamaged, match="bootstrap"):
        node.log.bootstrap_records()


def test_a_full_disk_drops_what_was_proposed_and_nothing_else() -> None:
    """Proposals at and above the end are gone; later ones work once there is space."""
    fs = MemoryFileSystem()
    node = opened(fs)
    node.log.propose([b"a"], now_ms=0)
    commit(node.log)
    fs.capacity_bytes = fs.used_bytes + 10
    node.log.propose([bytes(100_000)], now_ms=0)
    with pytest.raises(DiskFull):
        node.log.write()
    assert node.log.end_offset == node.log.committed_offset == 2

    fs.capacity_bytes = None
    node.log.propose([b"b"], now_ms=0)
    assert commit(node.log) == 3
    node.close()
    assert state_of(opened(fs)) == [b"a", b"b"]


def test_a_failed_flush_commits_nothing_more() -> None:
    """The directory is offline then."""
    fs = MemoryFileSystem()
    node = opened(fs)
    node.log.propose([b"a"], now_ms=0)
    node.log.write()
    job = node.log.begin_flush()
    assert job is not None
    fs.fail_after(0)
    with pytest.raises(OSError, match="injected") as failure:
        job.run()

    assert isinstance(node.log.flush_failed(failure.value), LogDirectoryFailed)
    assert node.log.committed_offset == 1
    with pytest.raises(LogDirectoryFailed):
        node.log.propose([b"b"], now_ms=0)
    assert node.log.end_offset == 2


def test_a_file_error_at_the_start_names_the_directory() -> None:
    """Translated once, at this boundary."""
    fs = MemoryFileSystem()
    opened(fs).close()
    broken = MemoryFileSystem()
    opened(broken).close()
    count = len(fs.operations)
    opened(fs).close()
    state_file = next(
        i for i, step in enumerate(fs.operations[count:]) if "quorum-state.tmp" in step
    )
    broken.fail_after(state_file)

    with pytest.raises(LogDirectoryFailed, match="/data"):
        opened(broken)


def scripted_run(fs: MemoryFileSystem, committed: list[bytes]) -> None:
    """Proposals and snapshots, with a stop in between; *committed* follows what must survive."""
    for life in range(2):
        node = opened(fs, now_ms=NOW_MS + life)
        for number in range(4):
            records = [b"%d.%d.%d" % (life, number, part) for part in range(3)]
            node.log.propose(records, now_ms=NOW_MS)
            end = commit(node.log)
            committed += records
            if number in (1, 2):
                take_snapshot(node.log, [*committed], last_offset=end - 1)
        if life == 0:
            node.close()


@pytest.mark.parametrize("seed", range(3))
def test_a_crash_at_any_moment_leaves_a_committed_prefix(seed: int) -> None:
    """Whatever was committed is there, in order; a proposal in flight is there whole or not."""
    whole = MemoryFileSystem(seed=seed)
    scripted_run(whole, [])
    for moment in range(seed, len(whole.operations), 3):
        fs, committed = MemoryFileSystem(seed=seed), list[bytes]()
        fs.crash_after(moment)
        with pytest.raises(PowerLost):
            scripted_run(fs, committed)
        fs.crash()

        again = opened(fs)

        found = state_of(again)
        assert found[: len(committed)] == committed, moment
        assert len(found) - len(committed) in (0, 3), moment
        again.log.propose([b"next"], now_ms=0)
        assert commit(again.log) == again.log.end_offset
        again.close()
        assert state_of(opened(fs)) == [*found, b"next"]


def test_the_log_itself_may_carry_the_kraft_version() -> None:
    """Kafka raises it in a running cluster; the record then stands between the others."""
    fs = MemoryFileSystem()
    node = opened(fs)
    voters = VotersRecord(voters=[voters_record.Voter(voter_id=1)])
    batch = build_control_batch(
        [
            (ControlType.KRAFT_VERSION, encode(KRaftVersionRecord(kraft_version=1), 0)),
            (ControlType.KRAFT_VOTERS, encode(voters, 0)),
        ],
        timestamp_ms=0,
        base_offset=1,
        leader_epoch=1,
    )
    node.partition_log.append_as_follower(batch, now_ms=0)
    node.partition_log.flush()
    node.directory.close()

    again = opened(fs)

    (voter,) = again.log.describe(now_ms=0).voters
    assert voter.directory_id == again.directory.directory_id


def test_a_damaged_snapshot_beyond_the_log_is_not_made_up_for() -> None:
    """An older snapshot and its log would be an older state."""
    fs = MemoryFileSystem()
    opened(fs).close()
    put(fs, f"{FOLDER}/{SnapshotId(1, 1).file_name}", snapshot_file([b"x"]))
    put(fs, f"{FOLDER}/{SnapshotId(50, 7).file_name}", snapshot_file([b"y"])[:-1])

    with pytest.raises(MetadataLogDamaged, match="00050-0000000007"):
        opened(fs)


def test_a_damaged_format_is_not_made_up_for() -> None:
    """The voters stand nowhere else."""
    fs = MemoryFileSystem()
    opened(fs).close()
    put(fs, f"{FOLDER}/{SnapshotId(0, 0).file_name}", b"x")

    with pytest.raises(MetadataLogDamaged, match="00000-0000000000"):
        opened(fs)


def test_a_snapshot_ends_between_two_batches() -> None:
    """Records of a batch in the middle of which it ended would count twice."""
    fs = MemoryFileSystem()
    node = opened(fs)
    node.log.propose([b"a", b"b"], now_ms=0)
    commit(node.log)
    node.close()
    put(fs, f"{FOLDER}/{SnapshotId(2, 1).file_name}", snapshot_file([b"a"]))

    with pytest.raises(MetadataLogDamaged, match="a batch of offset 1 stands at offset 2"):
        opened(fs)
