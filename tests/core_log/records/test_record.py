"""Records come out of a batch as they went in, whoever wrote it; lies end in CorruptBatch."""

import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.records.batch import (
    CRC_START,
    HEADER,
    HEADER_BYTES,
    LENGTH_END,
    Batch,
    CorruptBatch,
    TimestampType,
    read_batch,
    seal,
)
from headwater.core_log.records.compression import Codec, DecompressedTooLarge
from headwater.core_log.records.record import (
    BatchBuilder,
    NewRecord,
    Record,
    build_batch,
    decode_records,
    encode_record,
    keyless_records,
    record_times,
)

# Imported by name: neither ships types.
AIO_RECORDS: Any = import_module("aiokafka.record._crecords")
with warnings.catch_warnings():
    # kafka-python reads its schemas through a deprecated function of importlib.
    warnings.simplefilter("ignore", DeprecationWarning)
    PY_RECORDS: Any = import_module("kafka.record.memory_records")

DATA = Path(__file__).parent / "data"
BYTES_MAX = 10_000_000

JAVA_RECORDS = [
    Record(
        offset=0,
        timestamp_ms=1000,
        key=b"AA",
        value=b"flight " * 30,
        headers=(("h1", b"v1"), ("h2", None)),
    ),
    Record(offset=1, timestamp_ms=990, key=None, value=None, headers=()),
    Record(offset=2, timestamp_ms=1500, key=b"", value=b"", headers=(("é", b""),)),
]

# Lengths and deltas around the sizes of varints: 1, 2, 3 bytes.
lengths = st.sampled_from([0, 1, 63, 64, 65, 8191, 8192])
fields = st.none() | lengths.map(lambda size: b"k" * size)
times = st.sampled_from([-1, 0, 1, 63, 64, 10**12, 2**41, 2**62])
header_keys = st.sampled_from(["", "h", "é", "k" * 64, "\udcff"])
new_records = st.builds(
    NewRecord,
    timestamp_ms=times,
    key=fields,
    value=fields,
    headers=st.lists(st.tuples(header_keys, fields), max_size=3).map(tuple),
)
codecs = st.sampled_from(list(Codec))


def stored(records: list[NewRecord], base_offset: int = 0) -> list[Record]:
    return [
        Record(
            offset=base_offset + index,
            timestamp_ms=record.timestamp_ms,
            key=record.key,
            value=record.value,
            headers=record.headers,
        )
        for index, record in enumerate(records)
    ]


def batch_of(section: bytes, record_count: int = 1) -> Batch:
    """A batch with a records section of one's own making, and a true checksum."""
    data = bytearray(HEADER_BYTES) + section
    size = len(data) - LENGTH_END
    HEADER.pack_into(data, 0, 0, size, 0, 2, 0, 0, record_count - 1, 0, 0, -1, -1, -1, record_count)
    batch = Batch(memoryview(data))
    seal(batch)
    return batch


@given(
    records=st.lists(new_records, min_size=1, max_size=4),
    codec=codecs,
    base_offset=st.sampled_from([0, 1, 2**40]),
)
def test_records_come_back_from_a_batch(
    records: list[NewRecord], codec: Codec, base_offset: int
) -> None:
    """Every field of every record, whatever the codec."""
    batch = read_batch(build_batch(records, base_offset=base_offset, compression=codec))

    assert decode_records(batch, bytes_max=BYTES_MAX) == stored(records, base_offset)
    assert batch.record_count == len(records)
    assert batch.base_timestamp == records[0].timestamp_ms
    assert batch.max_timestamp == max(record.timestamp_ms for record in records)


@given(records=st.lists(new_records, min_size=1, max_size=4), codec=codecs)
def test_times_and_keys_are_found_without_decoding(records: list[NewRecord], codec: Codec) -> None:
    """The short ways agree with the long one."""
    batch = read_batch(build_batch(records, base_offset=7, compression=codec))
    whole = decode_records(batch, bytes_max=BYTES_MAX)

    assert list(record_times(batch, bytes_max=BYTES_MAX)) == [
        (record.offset, record.timestamp_ms) for record in whole
    ]
    assert keyless_records(batch, bytes_max=BYTES_MAX) == [
        index for index, record in enumerate(whole) if record.key is None
    ]


@pytest.mark.parametrize("codec", list(Codec))
def test_records_written_by_java_are_read(codec: Codec) -> None:
    """Kafka 4.3's own builder wrote these batches, one for each codec."""
    batch = read_batch((DATA / f"java-{codec.name.lower()}.batch").read_bytes())

    assert batch.compression == codec
    assert decode_records(batch, bytes_max=BYTES_MAX) == JAVA_RECORDS


def test_an_uncompressed_batch_is_java_s_byte_for_byte() -> None:
    """The same records and header fields give the same bytes."""
    records = [
        NewRecord(timestamp_ms=r.timestamp_ms, key=r.key, value=r.value, headers=r.headers)
        for r in JAVA_RECORDS
    ]

    built = build_batch(
        records, leader_epoch=9, producer_id=77, producer_epoch=3, base_sequence=2**31 - 2
    )

    assert built == (DATA / "java-none.batch").read_bytes()


def test_append_time_written_by_java_counts_for_all() -> None:
    """In a LogAppendTime batch the newest timestamp is every record's."""
    batch = read_batch((DATA / "java-append-time.batch").read_bytes())
    stamp = batch.max_timestamp
    assert stamp == 1_795_231_237_324  # when the file was written; the records say 1000 to 1500

    records = decode_records(batch, bytes_max=BYTES_MAX)

    assert [(r.offset, r.timestamp_ms) for r in records] == [(5 + i, stamp) for i in range(3)]
    assert list(record_times(batch, bytes_max=BYTES_MAX)) == [(5 + i, stamp) for i in range(3)]


@pytest.mark.parametrize("codec", list(Codec))
def test_kafka_python_reads_and_writes_the_same(codec: Codec) -> None:
    """Batches travel both ways."""
    records = [
        NewRecord(timestamp_ms=1000 + i, key=b"k%d" % i, value=b"v" * i, headers=(("h", b"x"),))
        for i in range(100)
    ]
    theirs = PY_RECORDS.MemoryRecordsBuilder(magic=2, compression_type=codec, batch_size=BYTES_MAX)
    for record in records:
        theirs.append(record.timestamp_ms, record.key, record.value, list(record.headers))
    theirs.close()

    assert decode_records(read_batch(theirs.buffer()), bytes_max=BYTES_MAX) == stored(records)

    ours = PY_RECORDS.MemoryRecords(bytes(build_batch(records, compression=codec))).next_batch()
    assert ours.validate_crc()
    assert [as_record(record) for record in ours] == stored(records)


@pytest.mark.parametrize("codec", list(Codec))
def test_aiokafka_reads_and_writes_the_same(codec: Codec) -> None:
    """Batches travel both ways."""
    records = [
        NewRecord(timestamp_ms=1000 + i, key=b"k%d" % i, value=b"v" * i, headers=(("h", b"x"),))
        for i in range(100)
    ]
    theirs = AIO_RECORDS.DefaultRecordBatchBuilder(2, codec, 0, -1, -1, -1, BYTES_MAX)
    for index, record in enumerate(records):
        theirs.append(index, record.timestamp_ms, record.key, record.value, list(record.headers))

    built = bytes(theirs.build())
    assert decode_records(read_batch(built), bytes_max=BYTES_MAX) == stored(records)

    ours = AIO_RECORDS.MemoryRecords(bytes(build_batch(records, compression=codec))).next_batch()
    assert ours.validate_crc()
    assert [as_record(record) for record in ours] == stored(records)


def as_record(record: Any) -> Record:
    return Record(
        offset=record.offset,
        timestamp_ms=record.timestamp,
        key=record.key,
        value=record.value,
        headers=tuple(record.headers),
    )


def test_header_fields_stand_as_asked() -> None:
    """Producer, flags, epoch and codec go into the header."""
    batch = read_batch(
        build_batch(
            [NewRecord(timestamp_ms=5)] * 3,
            base_offset=10,
            leader_epoch=4,
            compression=Codec.ZSTD,
            timestamp_type=TimestampType.LOG_APPEND_TIME,
            producer_id=77,
            producer_epoch=2,
            base_sequence=9,
            is_transactional=True,
            is_control=True,
        )
    )

    assert (batch.base_offset, batch.last_offset, batch.partition_leader_epoch) == (10, 12, 4)
    assert batch.compression == Codec.ZSTD
    assert batch.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert batch.is_transactional
    assert batch.is_control
    assert (batch.producer_id, batch.producer_epoch) == (77, 2)
    assert (batch.base_sequence, batch.last_sequence) == (9, 11)


def test_a_builder_says_how_far_it_is() -> None:
    """Count and size before compression let a caller stop in time."""
    builder = BatchBuilder()
    sizes = [builder.size_bytes]
    for _ in range(3):
        builder.append(NewRecord(timestamp_ms=0, value=b"12345"))
        sizes.append(builder.size_bytes)

    assert builder.record_count == 3
    assert sizes == [61, 73, 85, 97]
    assert len(builder.build()) == 97


def test_a_batch_without_records_is_not_built() -> None:
    """Nobody could give it an offset."""
    with pytest.raises(ValueError, match="one record or more"):
        build_batch([])


@pytest.mark.parametrize("codec", list(Codec))
def test_unpacking_stops_at_the_bound(codec: Codec) -> None:
    """A batch never unpacks to more than its reader allows."""
    batch = read_batch(
        build_batch([NewRecord(timestamp_ms=0, value=bytes(1000))], compression=codec)
    )
    size = 1000 + 9

    assert len(decode_records(batch, bytes_max=size)) == 1
    for read in (decode_records, record_times, keyless_records):
        with pytest.raises(DecompressedTooLarge):
            list(read(batch, bytes_max=size - 1))


GOOD = bytearray()
encode_record(
    GOOD,
    NewRecord(timestamp_ms=0, key=b"k", value=b"v", headers=(("h", b"x"),)),
    offset_delta=0,
    timestamp_delta=0,
)


@pytest.mark.parametrize(
    ("section", "record_count", "reason"),
    [
        (GOOD + GOOD[:7], 2, "reaches past the batch"),
        (GOOD * 2, 1, "its records end at byte"),
        (GOOD, 3, "promises 3 records in 13 bytes"),
        (GOOD, -1, "promises -1 records"),
        (GOOD, 2**31 - 1, "promises 2147483647"),
        (b"\xff" * 40, 1, "varint is longer"),
        (b"\x01" + GOOD[1:], 1, "not as long|reaches past"),
        (bytes([GOOD[0] + 2]) + GOOD[1:], 1, "not as long|end at byte"),
        (bytes([GOOD[0] - 2]) + GOOD[1:], 1, "not as long"),
    ],
)
def test_records_that_contradict_the_header_are_refused(
    section: bytes, record_count: int, reason: str
) -> None:
    """Counts, lengths and varints that lie end in one error, not in wrong records."""
    batch = batch_of(bytes(section), record_count)

    with pytest.raises(CorruptBatch, match=reason):
        decode_records(batch, bytes_max=BYTES_MAX)


def body(*parts: bytes) -> bytes:
    joined = b"".join(parts)
    return bytes([2 * len(joined)]) + joined


@pytest.mark.parametrize(
    "section",
    [
        body(b"\x00\x00\x00", b"\x7e", b"k\x01\x00"),  # a key of 63 bytes that has one
        body(b"\x00\x00\x00", b"\x01", b"\x7ev\x00"),  # a value likewise
        body(b"\x00\x00\x00\x01\x01", b"\x7e", b"\x00"),  # 63 headers in no room
        body(b"\x00\x00\x00\x01\x01", b"\x01"),  # -1 headers
        body(b"\x00\x00\x00\x01\x01", b"\x02", b"\x01\x01"),  # a header whose key is null
        body(b"\x00\x00\x00\x01\x01", b"\x02", b"\x7eh\x01"),  # a header key of 63 bytes
    ],
)
def test_lengths_within_a_record_are_bounded(section: bytes) -> None:
    """No length reaches past its record's bytes."""
    with pytest.raises(CorruptBatch):
        decode_records(batch_of(section), bytes_max=BYTES_MAX)


def test_a_key_longer_than_its_record_is_refused_without_decoding() -> None:
    """The short way looks at lengths too, before it passes over them."""
    batch = batch_of(body(b"\x00\x00\x00", b"\x7e", b"k\x01\x00"))

    with pytest.raises(CorruptBatch, match="not as long"):
        keyless_records(batch, bytes_max=BYTES_MAX)


@pytest.mark.parametrize("offset_delta", [-1, 1, 2**31])
def test_no_record_claims_an_offset_outside_its_batch(offset_delta: int) -> None:
    """The broker stores records unread, so whoever reads them first looks."""
    section = bytearray()
    encode_record(section, NewRecord(timestamp_ms=0), offset_delta=offset_delta, timestamp_delta=0)

    for read in (decode_records, record_times, keyless_records):
        with pytest.raises(CorruptBatch, match=f"offset delta {offset_delta} of 0"):
            list(read(batch_of(bytes(section)), bytes_max=BYTES_MAX))


@given(
    records=st.lists(new_records, min_size=1, max_size=3),
    place=st.integers(0, 200),
    value=st.integers(0, 255),
)
def test_noise_in_records_never_escapes(records: list[NewRecord], place: int, value: int) -> None:
    """Whatever byte is changed, there are records or CorruptBatch, and the short ways agree."""
    data = build_batch(records)
    data[HEADER_BYTES + place % (len(data) - HEADER_BYTES)] = value
    batch = read_batch(data)

    try:
        whole = decode_records(batch, bytes_max=BYTES_MAX)
    except CorruptBatch:
        return
    assert len(whole) == len(records)
    assert [offset for offset, _ in record_times(batch, bytes_max=BYTES_MAX)] == [
        record.offset for record in whole
    ]


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_compressed_noise_is_a_corrupt_batch(codec: Codec) -> None:
    """A codec's complaint becomes the batch's."""
    batch = batch_of(b"\x00\x01noise that no codec wrote")
    batch.view[CRC_START + 1] = codec
    batch = Batch(batch.view)

    with pytest.raises(CorruptBatch, match=f"not data of {codec.name.lower()}"):
        decode_records(batch, bytes_max=BYTES_MAX)


def test_a_time_lookup_stops_where_it_wants() -> None:
    """What stands behind the wanted record is not read, so damage there does not matter."""
    data = build_batch([NewRecord(timestamp_ms=1), NewRecord(timestamp_ms=2)])
    data[-7] = 0xFF

    assert next(record_times(read_batch(data), bytes_max=BYTES_MAX)) == (0, 1)
