"""Control batches carry markers and the raft layer's words, in Kafka's bytes."""

from pathlib import Path

import pytest

from headwater.core_log.records.batch import Batch, CorruptBatch, read_batch
from headwater.core_log.records.control import (
    ControlRecord,
    ControlType,
    EndTxnMarker,
    build_control_batch,
    build_end_txn_batch,
    read_control,
    read_end_txn_marker,
)
from headwater.core_log.records.record import NewRecord, build_batch

DATA = Path(__file__).parent / "data"

COMMIT = EndTxnMarker(type=ControlType.COMMIT, coordinator_epoch=6)
ABORT = EndTxnMarker(type=ControlType.ABORT, coordinator_epoch=7)


def control_batch(key: bytes | None, value: bytes | None) -> Batch:
    records = [NewRecord(timestamp_ms=0, key=key, value=value)]
    return read_batch(build_batch(records, is_control=True, producer_id=1, producer_epoch=0))


def test_markers_are_java_s_byte_for_byte() -> None:
    """Kafka 4.3 wrote both files; we read them and write the same."""
    commit = build_end_txn_batch(
        COMMIT,
        producer_id=77,
        producer_epoch=3,
        timestamp_ms=5000,
        base_offset=12,
        leader_epoch=4,
    )
    abort = build_end_txn_batch(
        ABORT,
        producer_id=78,
        producer_epoch=0,
        timestamp_ms=5001,
        base_offset=13,
        leader_epoch=4,
    )

    assert commit == (DATA / "java-commit.batch").read_bytes()
    assert abort == (DATA / "java-abort.batch").read_bytes()
    assert read_end_txn_marker(read_batch(commit)) == COMMIT
    assert read_end_txn_marker(read_batch(abort)) == ABORT


def test_several_control_records_share_a_batch() -> None:
    """A raft leader writes its epoch's beginning, the version and the voters at once."""
    batch = read_batch(
        build_control_batch(
            [
                (ControlType.LEADER_CHANGE, b"leader"),
                (ControlType.KRAFT_VERSION, b"version"),
                (ControlType.KRAFT_VOTERS, b"voters"),
            ],
            timestamp_ms=5,
            base_offset=40,
            leader_epoch=2,
        )
    )

    assert batch.is_control
    assert not batch.is_transactional
    assert not batch.has_producer_id
    assert read_control(batch) == [
        ControlRecord(offset=40, timestamp_ms=5, type=ControlType.LEADER_CHANGE, value=b"leader"),
        ControlRecord(offset=41, timestamp_ms=5, type=ControlType.KRAFT_VERSION, value=b"version"),
        ControlRecord(offset=42, timestamp_ms=5, type=ControlType.KRAFT_VOTERS, value=b"voters"),
    ]


def test_unknown_types_and_longer_keys_are_read() -> None:
    """A newer writer may add types and grow keys; readers skip what they do not know."""
    (control,) = read_control(control_batch(b"\x00\x01\x00\x63more", None))

    assert control.type == 99
    assert not isinstance(control.type, ControlType)
    assert control.value == b""


@pytest.mark.parametrize("key", [None, b"", b"\x00\x00\x00", b"\xff\xff\x00\x00"])
def test_keys_that_cannot_be_are_refused(key: bytes | None) -> None:
    """A control record without a whole key of a known version says nothing."""
    with pytest.raises(CorruptBatch, match="control record 0"):
        read_control(control_batch(key, b""))


def test_users_records_are_no_control_records() -> None:
    """Only the flag of the batch makes them so."""
    with pytest.raises(CorruptBatch, match="not a control batch"):
        read_control(read_batch(build_batch([NewRecord(timestamp_ms=0, key=b"\x00" * 4)])))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"\x00\x00\x00\x02", b"\x00" * 6),  # a leader change
        (b"\x00\x00\x00\x63", b"\x00" * 6),  # a type nobody knows
        (b"\x00\x00\x00\x01", b"\x00" * 5),  # a commit that is cut
        (b"\x00\x00\x00\x01", None),
    ],
)
def test_a_producer_s_control_batch_holds_a_marker(key: bytes, value: bytes | None) -> None:
    """Anything else in its place is damage."""
    with pytest.raises(CorruptBatch, match="transaction marker"):
        read_end_txn_marker(control_batch(key, value))
