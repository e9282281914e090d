"""Snapshots are read whole or not at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.protocol.coordinator import voters_record
from headwater.core_log.protocol.coordinator.voters_record import VotersRecord
from headwater.core_log.raft import snapshots
from headwater.core_log.raft.snapshots import (
    QuorumRecords,
    SnapshotId,
    read_snapshot,
    snapshot_batches,
)
from headwater.core_log.records.batch import scan

VOTERS = VotersRecord(voters=[voters_record.Voter(voter_id=1, voter_directory_id=bytes(range(16)))])


def written(records: list[bytes], quorum: QuorumRecords | None = None) -> bytes:
    batches = snapshot_batches(records, epoch=3, timestamp_ms=77, quorum=quorum or QuorumRecords())
    return b"".join(batches)


@given(records=st.lists(st.binary(max_size=60), max_size=30), group=st.sampled_from([1, 50, 10**6]))
def test_what_is_written_is_read(records: list[bytes], group: int) -> None:
    """In one batch or in many; batches have an offset each of their own and the log's epoch."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(snapshots, "BATCH_BYTES", group)
        data = written(records)

    snapshot = read_snapshot(data)
    assert snapshot.records == tuple(records)
    assert snapshot.timestamp_ms == 77
    assert snapshot.quorum == QuorumRecords()
    batches = list(scan(data, verify_crc=True))
    assert batches[0].is_control
    assert batches[-1].is_control
    assert [b.base_offset for b in batches] == [0, *(b.next_offset for b in batches[:-1])]
    assert {b.partition_leader_epoch for b in batches} == {3}
    assert sum(b.record_count for b in batches) == len(records) + 2


def test_the_quorum_stands_in_the_header() -> None:
    """KRaft version and voters survive, for the log they stood in is deleted."""
    quorum = QuorumRecords(kraft_version=1, voters=VOTERS)

    assert read_snapshot(written([b"a"], quorum)).quorum == quorum


def test_a_cut_snapshot_is_none() -> None:
    """At every byte: a footer says that it is whole."""
    data = written([b"abc", b"def"])
    assert read_snapshot(data).records

    for size in range(len(data)):
        with pytest.raises(ValueError, match=r"ends before|size|batch|header"):
            read_snapshot(data[:size])


def test_a_flipped_bit_is_noticed() -> None:
    """Every bit under a checksum counts; offsets and epochs stand outside of it."""
    data = written([b"abc", b"def"], QuorumRecords(kraft_version=1, voters=VOTERS))

    for position in range(len(data)):
        broken = bytearray(data)
        broken[position] ^= 0x10
        try:
            found = read_snapshot(broken)
        except ValueError:
            continue
        assert found == read_snapshot(data)


def test_bytes_behind_the_footer_are_refused() -> None:
    """Two snapshots in one file are no snapshot."""
    data = written([b"a"])

    with pytest.raises(ValueError, match="behind its footer"):
        read_snapshot(data + data)
    with pytest.raises(ValueError, match="ends before"):
        read_snapshot(data + b"\0" * 5)


def test_a_snapshot_begins_with_its_header() -> None:
    """Batches of a log are none."""
    head, body, footer = snapshot_batches([b"a"], epoch=1, timestamp_ms=0, quorum=QuorumRecords())

    with pytest.raises(ValueError, match="does not begin with a snapshot header"):
        read_snapshot(bytes(body) + bytes(footer))
    with pytest.raises(ValueError, match="ends before its footer"):
        read_snapshot(bytes(head) + bytes(body))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("00000000000000000033-0000000001.checkpoint", SnapshotId(33, 1)),
        ("00000000000000000033-0000000001.checkpoint.part", None),
        ("00000000000000000033-0000000001.checkpoint.damaged", None),
        ("bootstrap.checkpoint", None),
        ("00000000000000000033.snapshot", None),
        ("leader-epoch-checkpoint", None),
    ],
)
def test_file_names(name: str, expected: SnapshotId | None) -> None:
    """Kafka's form; others are other files."""
    assert SnapshotId.parse(name) == expected
    if expected is not None:
        assert expected.file_name == name


def test_ids_order_by_offset() -> None:
    """The newest snapshot is the one that stands for most of the log."""
    assert SnapshotId(5, 1) < SnapshotId(10, 0) < SnapshotId(10, 1)
