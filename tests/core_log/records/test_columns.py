"""Columns against the decoder that goes record by record, and against bytes that lie."""

from contextlib import suppress
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.records import columns
from headwater.core_log.records.batch import (
    HEADER_BYTES,
    Batch,
    CorruptBatch,
    TimestampType,
    read_batch,
    seal,
)
from headwater.core_log.records.batch_columns import Sections, read_batches, unpack_sections
from headwater.core_log.records.columns import RecordColumns, decode_columns, decode_keys
from headwater.core_log.records.compression import Codec
from headwater.core_log.records.record import (
    RECORD_BYTES_MIN,
    Headers,
    NewRecord,
    Record,
    build_batch,
    decode_records,
    put_varint,
    read_varint,
)
from headwater.core_log.records.varints import BEYOND, read_varints

BYTES_MAX = 10_000_000

SIZES = st.sampled_from([0, 1, 2, 56, 57, 62, 63, 64, 127, 128, 8180, 8190, 8192, 70_000])
DATA = st.none() | SIZES.map(bytes) | st.binary(max_size=20)
TIMES = st.sampled_from([0, 63, 64, 8191, 8192, 2**31, 2**42]) | st.integers(0, 2**42)
HEADERS: st.SearchStrategy[Headers] = st.lists(
    st.tuples(st.text(max_size=3), st.none() | st.binary(max_size=3)), max_size=2
).map(tuple)
RECORDS = st.builds(NewRecord, timestamp_ms=TIMES, key=DATA, value=DATA, headers=HEADERS)


@st.composite
def batches(draw: st.DrawFn) -> bytearray:
    return build_batch(
        draw(st.lists(RECORDS, min_size=1, max_size=5)),
        base_offset=draw(st.integers(0, 2**40)),
        compression=draw(st.sampled_from(Codec)),
        timestamp_type=draw(st.sampled_from(TimestampType)),
    )


def decoded(data: bytes | bytearray, total_bytes_max: int = 1) -> list[list[Record]]:
    """All batches by columns, with all fields but headers, which columns pass over."""
    found = read_batches(data, verify_crc=True)
    out: list[list[Record]] = [[] for _ in range(len(found))]
    for sections in unpack_sections(
        found,
        np.arange(len(found)),
        batch_bytes_max=BYTES_MAX,
        total_bytes_max=total_bytes_max,
    ):
        records = decode_columns(found, sections)
        keys = decode_keys(found, sections)
        for name in ("sections", "offsets", "key_starts", "key_lengths"):
            assert getattr(keys, name).tolist() == getattr(records, name).tolist()
        for index in range(len(records)):
            batch = int(sections.batches[records.sections[index]])
            out[batch].append(record_at(sections, records, index))
    return out


def record_at(sections: Sections, records: RecordColumns, index: int) -> Record:
    raw = sections.data.tobytes()

    def field(start: int, length: int) -> bytes | None:
        return None if length < 0 else raw[start : start + length]

    assert (records.header_counts[index] > 0) == (
        records.header_starts[index] < records.ends[index]
    )
    return Record(
        offset=int(records.offsets[index]),
        timestamp_ms=int(records.timestamps[index]),
        key=field(int(records.key_starts[index]), int(records.key_lengths[index])),
        value=field(int(records.value_starts[index]), int(records.value_lengths[index])),
        headers=(),
    )


def one_by_one(data: bytes | bytearray) -> list[list[Record]]:
    position, out = 0, []
    while position < len(data):
        batch = read_batch(data, position)
        position += batch.size_bytes
        out.append(
            [
                Record(
                    offset=record.offset,
                    timestamp_ms=record.timestamp_ms,
                    key=record.key,
                    value=record.value,
                    headers=(),
                )
                for record in decode_records(batch, bytes_max=BYTES_MAX)
            ]
        )
    return out


@given(st.lists(batches(), min_size=1, max_size=6), st.sampled_from([1, 3, columns.LANES_MIN]))
def test_columns_say_what_the_records_say(parts: list[bytearray], lanes_min: int) -> None:
    data = b"".join(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "LANES_MIN", lanes_min)
        assert decoded(data) == one_by_one(data)


def test_many_batches_of_one_record_and_one_of_many() -> None:
    small = [build_batch([NewRecord(timestamp_ms=1, key=b"k")], base_offset=i) for i in range(99)]
    large = build_batch(
        [NewRecord(timestamp_ms=i, key=b"%d" % i, value=bytes(i % 300)) for i in range(999)],
        base_offset=99,
    )
    data = b"".join([*small, large, *small])
    assert decoded(data) == one_by_one(data)


def test_a_batch_without_records_has_none() -> None:
    header = build_batch([NewRecord(timestamp_ms=1)])[:HEADER_BYTES]
    batch = Batch(memoryview(header))
    header[8:12] = (HEADER_BYTES - 12).to_bytes(4, "big")
    header[57:61] = bytes(4)
    seal(batch)
    data = bytes(header) + build_batch([NewRecord(timestamp_ms=1, key=b"k")], base_offset=7)
    assert [len(records) for records in decoded(data)] == [0, 1]


def test_a_batch_that_the_end_cuts_is_left_out() -> None:
    data = build_batch([NewRecord(timestamp_ms=1)]) * 2
    whole = len(data) // 2
    for size in range(len(data)):
        assert len(read_batches(data[:size], verify_crc=True)) == size // whole


def test_a_wrong_checksum_is_told_with_its_place() -> None:
    data = build_batch([NewRecord(timestamp_ms=1, key=b"key")]) * 2
    data[-2] ^= 1
    with pytest.raises(CorruptBatch, match="CRC") as raised:
        read_batches(data, verify_crc=True)
    assert raised.value.position == len(data) // 2
    assert len(read_batches(data, verify_crc=False)) == 2


@pytest.mark.parametrize("position", [16, 11])
def test_what_is_no_batch_is_refused(position: int) -> None:
    data = build_batch([NewRecord(timestamp_ms=1)])
    data[position] = 1
    with pytest.raises(CorruptBatch):
        read_batches(data, verify_crc=False)


def test_a_batch_that_unpacks_to_more_than_the_bound_is_refused() -> None:
    data = build_batch([NewRecord(timestamp_ms=1, value=bytes(5_000))], compression=Codec.ZSTD)
    found = read_batches(data, verify_crc=True)
    with pytest.raises(CorruptBatch, match="more than 4000 bytes"):
        list(unpack_sections(found, np.arange(1), batch_bytes_max=4_000, total_bytes_max=1))


@given(
    st.lists(RECORDS, min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 2**30), st.integers(0, 255)), min_size=1, max_size=3),
    st.sampled_from([1, columns.LANES_MIN]),
    st.sampled_from([0, 1]),
)
def test_bytes_that_lie_are_refused_or_read_as_the_other_decoder_reads_them(
    records: list[NewRecord], changes: list[tuple[int, int]], lanes_min: int, count_change: int
) -> None:
    """Never out of bounds, never other records than the decoder of single ones finds."""
    data = build_batch(records)
    for place, byte in changes:
        data[HEADER_BYTES + place % (len(data) - HEADER_BYTES)] = byte
    data[60] ^= count_change
    seal(Batch(memoryview(data)))
    good = build_batch([NewRecord(timestamp_ms=1, key=b"k")], base_offset=10**6)
    try:
        expected = one_by_one(data + good)
    except CorruptBatch:
        expected = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "LANES_MIN", lanes_min)
        if expected is None:
            # The other one reads headers too, and may have refused those.
            with suppress(CorruptBatch):
                decoded(data + good)
        else:
            got = decoded(data + good)
            assert [without_times(batch) for batch in got] == [
                without_times(batch) for batch in expected
            ]


def without_times(batch: list[Record]) -> list[tuple[int, bytes | None, bytes | None]]:
    """Numbers of Python do not wrap around at 64 bits, those of columns and of Java do."""
    return [(record.offset, record.key, record.value) for record in batch]


@pytest.mark.parametrize("lanes_min", [1, columns.LANES_MIN])
def test_records_that_end_early_or_late_are_refused(lanes_min: int) -> None:
    data = build_batch([NewRecord(timestamp_ms=0, key=b"abc") for _ in range(3)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "LANES_MIN", lanes_min)
        for count in (2, 4):
            data[57:61] = count.to_bytes(4, "big")
            data[23:27] = (9).to_bytes(4, "big")
            with pytest.raises(CorruptBatch):
                decode_all(data)


@pytest.mark.parametrize("lanes_min", [1, columns.LANES_MIN])
@pytest.mark.parametrize("change", [-2, 2])
def test_a_last_record_that_claims_another_length_is_refused(lanes_min: int, change: int) -> None:
    data = build_batch([NewRecord(timestamp_ms=0, value=b"v")])
    data[HEADER_BYTES] += change
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "LANES_MIN", lanes_min)
        with pytest.raises(CorruptBatch, match="do not end where it does"):
            decode_all(data)


def test_compressed_batches_come_in_portions() -> None:
    batch = build_batch([NewRecord(timestamp_ms=0, value=bytes(90))], compression=Codec.ZSTD)
    found = read_batches(batch * 5, verify_crc=True)

    def portions(total_bytes_max: int) -> list[list[int]]:
        which = np.array([0, 2, 3, 4])
        sections = unpack_sections(
            found, which, batch_bytes_max=BYTES_MAX, total_bytes_max=total_bytes_max
        )
        return [portion.batches.tolist() for portion in sections]

    assert portions(1) == [[0], [2], [3], [4]]
    assert portions(200) == [[0, 2], [3, 4]]
    assert portions(1_000) == [[0, 2, 3, 4]]


def test_more_records_than_bytes_are_refused_before_anything_is_made_of_them() -> None:
    data = build_batch([NewRecord(timestamp_ms=0)])
    data[57:61] = (2**31 - 1).to_bytes(4, "big")
    with pytest.raises(CorruptBatch, match=f"2147483647 records in {RECORD_BYTES_MIN} bytes"):
        decode_all(data)


def test_an_offset_of_another_batch_is_refused() -> None:
    data = build_batch([NewRecord(timestamp_ms=0), NewRecord(timestamp_ms=0)])
    data[23:27] = bytes(4)
    with pytest.raises(CorruptBatch):
        decode_all(data)


NO_VALUE: Final = 1  # zigzag of -1, a byte
BODIES: Final = {
    "a byte behind the headers": [0, 0, 0, NO_VALUE, NO_VALUE, 0, 0],
    "fewer headers than none": [0, 0, 0, NO_VALUE, NO_VALUE, 1],
    "more headers than bytes": [0, 0, 0, NO_VALUE, NO_VALUE, 8, 2],
    "a value that passes the end": [0, 0, 0, NO_VALUE, 4, 65, 0],
    "a key that passes the end": [0, 0, 0, 8, 65, 0, 0],
    "a length past all numbers": [0, 0, 0, *[0xFE, *[0xFF] * 8, 0x01], 0, 0],
    "a length that does not end": [0, 0, 0, *[0xFF] * 11],
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_record_is_as_long_as_it_says(body: list[int]) -> None:
    data = batch_with([2 * len(body), *body])
    with pytest.raises(CorruptBatch, match="record 1 is not as long"):
        decode_all(data)
    with pytest.raises(CorruptBatch):
        decode_records(read_batch(data), bytes_max=BYTES_MAX)


def test_a_record_that_ends_with_its_key_is_refused_by_who_looks_no_further() -> None:
    data = batch_with([2 * 6, 0, 0, 0, 4, 65, 66])
    found = read_batches(data, verify_crc=False)
    (sections,) = unpack_sections(found, np.arange(1), batch_bytes_max=1, total_bytes_max=1)
    with pytest.raises(CorruptBatch, match="record 1 is not as long"):
        decode_keys(found, sections)


def batch_with(record: list[int]) -> bytearray:
    """A batch of a sound record, then *record*, then another sound one."""
    sound = build_batch([NewRecord(timestamp_ms=0, value=b"v")])
    data = sound + bytes(record) + sound[HEADER_BYTES:]
    data[8:12] = (len(data) - 12).to_bytes(4, "big")
    data[57:61] = (3).to_bytes(4, "big")
    seal(Batch(memoryview(data)))
    return data


def decode_all(data: bytearray) -> None:
    found = read_batches(data, verify_crc=False)
    for sections in unpack_sections(
        found, np.arange(len(found)), batch_bytes_max=BYTES_MAX, total_bytes_max=1
    ):
        decode_columns(found, sections)


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-70, 70), min_size=1, max_size=9))
def test_varints_are_those_of_the_other_decoder(values: list[int]) -> None:
    data = bytearray()
    starts = []
    for value in values:
        starts.append(len(data))
        put_varint(data, value)
    data += bytes(1)
    got, sizes = read_varints(np.frombuffer(bytes(data), np.uint8), np.array(starts))
    assert got.tolist() == values == [read_varint(data, start)[0] for start in starts]
    assert (np.array(starts) + sizes).tolist() == [*starts[1:], len(data) - 1]


@pytest.mark.parametrize("data", [b"\x80\x80", b"\x00\x80", b"\xff" * 12])
def test_a_varint_that_does_not_end_is_beyond_everything(data: bytes) -> None:
    at = np.array([max(0, len(data) - 11 if len(data) > 10 else 1)])
    _, sizes = read_varints(np.frombuffer(data, np.uint8), at)
    assert sizes.tolist() == [BEYOND]


def test_the_last_byte_is_a_varint_of_its_own() -> None:
    values, sizes = read_varints(np.frombuffer(b"\x80\x06", np.uint8), np.array([1]))
    assert (values.tolist(), sizes.tolist()) == ([3], [1])
