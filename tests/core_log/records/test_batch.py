"""A batch is read from its header, whole or not at all, and patched without reading records."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.records.batch import (
    CRC_START,
    HEADER_BYTES,
    SEQUENCE_MAX,
    Batch,
    CorruptBatch,
    TimestampType,
    check_crc,
    patch,
    read_batch,
    scan,
    set_log_append_time,
)
from headwater.core_log.records.compression import Codec
from headwater.core_log.records.record import NewRecord, build_batch, record_times

DATA = Path(__file__).parent / "data"


def a_batch(records: int = 3, base_offset: int = 0, size_bytes: int = 10) -> bytearray:
    return build_batch(
        [NewRecord(timestamp_ms=1000 + i, value=b"v" * size_bytes) for i in range(records)],
        base_offset=base_offset,
    )


def test_a_header_written_by_java_is_read() -> None:
    """Every field stands where Kafka puts it."""
    batch = read_batch((DATA / "java-lz4.batch").read_bytes())

    assert (batch.base_offset, batch.last_offset, batch.next_offset) == (0, 2, 3)
    assert (batch.size_bytes, batch.magic, batch.record_count) == (130, 2, 3)
    assert (batch.partition_leader_epoch, batch.compression) == (9, Codec.LZ4)
    assert (batch.base_timestamp, batch.max_timestamp) == (1000, 1500)
    assert (batch.producer_id, batch.producer_epoch, batch.has_producer_id) == (77, 3, True)
    assert batch.timestamp_type is TimestampType.CREATE_TIME
    assert not any([batch.is_transactional, batch.is_control, batch.has_delete_horizon])
    assert len(batch.records) == 130 - HEADER_BYTES
    check_crc(batch)


def test_flags_written_by_java_are_read() -> None:
    """Markers are transactional control batches; broker time is told from the clients'."""
    marker = read_batch((DATA / "java-commit.batch").read_bytes())
    stamped = read_batch((DATA / "java-append-time.batch").read_bytes())

    assert marker.is_transactional
    assert marker.is_control
    assert stamped.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert not stamped.has_producer_id


def test_sequences_start_over_at_zero() -> None:
    """The sequence after 2^31-1 is 0, and a batch without one has none at its end either."""
    wrapping = read_batch((DATA / "java-none.batch").read_bytes())

    assert wrapping.base_sequence == SEQUENCE_MAX - 1
    assert wrapping.last_sequence == 0
    assert read_batch(a_batch()).last_sequence == -1


@pytest.mark.parametrize("buffer_type", [bytes, bytearray, memoryview])
def test_any_buffer_holds_a_batch_with_bytes_before_and_behind(
    buffer_type: type[bytes] | type[bytearray] | type[memoryview],
) -> None:
    """Only the batch's own bytes are in its view, wherever it stands."""
    data = a_batch()
    buffer = buffer_type(b"before" + bytes(data) + b"behind")

    batch = read_batch(buffer, 6)

    assert batch.view == data
    check_crc(batch)


@pytest.mark.parametrize("cut", range(1, len(a_batch())))
def test_a_cut_batch_is_refused(cut: int) -> None:
    """No prefix of a batch is a batch."""
    with pytest.raises(CorruptBatch):
        read_batch(a_batch()[:cut])


@pytest.mark.parametrize(
    ("position", "value", "reason"),
    [
        (16, b"\x00", "magic is 0"),
        (16, b"\x01", "magic is 1"),
        (16, b"\x03", "magic is 3"),
        (16, b"\xff", "magic is -1"),
        (8, (48).to_bytes(4, "big"), "size is 60"),
        (8, (-1).to_bytes(4, "big", signed=True), "size is 11"),
        (8, (-(2**31)).to_bytes(4, "big", signed=True), "size is -"),
        (8, (2**31 - 1).to_bytes(4, "big"), "takes 2147483659 bytes"),
    ],
)
def test_a_header_that_cannot_be_is_named(position: int, value: bytes, reason: str) -> None:
    """Old formats, impossible sizes and sizes past the buffer say what they are, and where."""
    data = a_batch()
    data[position : position + len(value)] = value

    with pytest.raises(CorruptBatch, match=reason) as caught:
        read_batch(b"12345" + data, 5)

    assert caught.value.position == 5
    assert "byte 5" in str(caught.value)


@given(byte=st.integers(CRC_START, len(a_batch()) - 1), bit=st.integers(0, 7))
def test_one_flipped_bit_fails_the_checksum(byte: int, bit: int) -> None:
    """Everything from the attributes on is under the checksum."""
    data = a_batch()
    data[byte] ^= 1 << bit

    with pytest.raises(CorruptBatch, match="CRC-32C"):
        check_crc(read_batch(data))


@given(sizes=st.lists(st.integers(0, 40), max_size=5), data=st.data())
def test_scan_gives_whole_batches_and_says_where_it_stopped(
    sizes: list[int], data: st.DataObject
) -> None:
    """However a slice of the log is cut, its whole batches come out, in order."""
    batches = [a_batch(records=2, base_offset=2 * i, size_bytes=n) for i, n in enumerate(sizes)]
    buffer = b"".join(batches)
    ends = [sum(len(b) for b in batches[:i]) for i in range(len(batches) + 1)]
    edges = {min(max(end + d, 0), len(buffer)) for end in ends for d in (-1, 0, 1, 16, 17, 61)}
    cut = data.draw(st.sampled_from(sorted(edges)), label="cut")

    walk = scan(buffer[:cut], verify_crc=True)
    found = [batch.base_offset for batch in walk]

    whole = [end for end in ends if end <= cut]
    assert found == [2 * i for i in range(len(whole) - 1)]
    assert walk.position == whole[-1]
    assert walk.is_cut == (cut > whole[-1])


def test_scan_starts_anywhere() -> None:
    """A position within the buffer leaves the batches before it out."""
    first, second = a_batch(), a_batch(base_offset=3)

    walk = scan(first + second, verify_crc=True, position=len(first))

    assert [batch.base_offset for batch in walk] == [3]
    assert walk.position == len(first) + len(second)


@pytest.mark.parametrize("position", [8, 16, 30])
def test_scan_reports_a_corrupt_batch_at_its_place(position: int) -> None:
    """Batches before the damage come out; then the error names where it is."""
    first, second = a_batch(), a_batch(base_offset=3)
    second[position] ^= 0x80
    walk = scan(first + second, verify_crc=True)

    assert next(walk).base_offset == 0
    with pytest.raises(CorruptBatch) as caught:
        next(walk)

    assert caught.value.position == len(first) == walk.position


@pytest.mark.parametrize("tail_bytes", [17, 30, 60])
def test_scan_reports_damage_in_a_header_that_is_cut(tail_bytes: int) -> None:
    """A tail that cannot be the beginning of a batch is damage, not a cut."""
    tail = a_batch()[:tail_bytes]
    tail[16] = 7

    with pytest.raises(CorruptBatch, match="magic is 7"):
        list(scan(a_batch() + tail, verify_crc=True))


def test_scan_leaves_checksums_alone_unless_asked() -> None:
    """Readers of trusted bytes do not pay for the checksum."""
    data = a_batch()
    data[-1] ^= 1

    assert len(list(scan(data, verify_crc=False))) == 1


@given(base_offset=st.sampled_from([0, 1, 2**31, 2**63 - 4]), epoch=st.sampled_from([-1, 0, 9]))
def test_patch_gives_a_batch_its_place_and_keeps_the_checksum(base_offset: int, epoch: int) -> None:
    """Offsets and epoch change in the bytes and in the value; nothing else does."""
    data = a_batch()
    before = bytes(data)
    batch = read_batch(data)

    patch(batch, base_offset=base_offset, leader_epoch=epoch)

    again = read_batch(data)
    check_crc(again)
    assert (again.base_offset, again.partition_leader_epoch) == (base_offset, epoch)
    assert (batch.base_offset, batch.partition_leader_epoch) == (base_offset, epoch)
    assert data[8:12] == before[8:12]
    assert data[16:] == before[16:]


def test_log_append_time_counts_for_every_record() -> None:
    """The stamp changes type, newest timestamp and checksum, and readers follow it."""
    data = a_batch()
    batch = read_batch(data)

    set_log_append_time(batch, 7_000)

    again = read_batch(data)
    check_crc(again)
    assert again.timestamp_type is batch.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert again.max_timestamp == batch.max_timestamp == 7_000
    assert again.crc == batch.crc
    assert list(record_times(again, bytes_max=1000)) == [(0, 7_000), (1, 7_000), (2, 7_000)]


def test_read_only_bytes_cannot_be_patched() -> None:
    """Somebody else's bytes stay as they are."""
    with pytest.raises(TypeError):
        patch(read_batch(bytes(a_batch())), base_offset=1, leader_epoch=1)


def test_a_batch_names_itself() -> None:
    """Its repr tells the range, the count and the size."""
    batch = Batch(memoryview(a_batch(base_offset=7)))

    assert repr(batch) == f"<Batch [7..9] 3 records, {batch.size_bytes} bytes, epoch -1>"
