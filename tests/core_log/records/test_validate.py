"""What a client sends is appended as it is, converted where the topic asks, or refused by code."""

from dataclasses import replace
from typing import Unpack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.kernel.errors import ApiError, ErrorCode
from headwater.core_log.records.batch import (
    CONTROL_FLAG,
    CRC_START,
    DELETE_HORIZON_FLAG,
    HEADER_BYTES,
    TIMESTAMP_TYPE_FLAG,
    Batch,
    CorruptBatch,
    TimestampType,
    check_crc,
    read_batch,
    seal,
)
from headwater.core_log.records.compression import Codec, DecompressedTooLarge
from headwater.core_log.records.record import BatchOptions, NewRecord, build_batch, decode_records
from headwater.core_log.records.validate import (
    RECORD_ERRORS_MAX,
    InvalidRecords,
    ProducePolicy,
    convert,
    require_keys,
    validate_produced,
)

NOW_MS = 1_700_000_000_000
HOUR_MS = 3_600_000
POLICY = ProducePolicy()

# Where the header's fields stand, and how long they are.
BASE_OFFSET, LENGTH, MAGIC, ATTRIBUTES = (0, 8), (8, 4), (16, 1), (21, 2)
LAST_OFFSET_DELTA, BASE_TIMESTAMP, MAX_TIMESTAMP = (23, 4), (27, 8), (35, 8)
PRODUCER_ID, PRODUCER_EPOCH, BASE_SEQUENCE, COUNT = (43, 8), (51, 2), (53, 4), (57, 4)


def produced(
    *,
    timestamps: tuple[int, ...] = (NOW_MS, NOW_MS + 1, NOW_MS + 2),
    **options: Unpack[BatchOptions],
) -> bytearray:
    records = [NewRecord(timestamp_ms=t, key=b"k", value=b"v" * 20) for t in timestamps]
    return build_batch(records, **options)


def forged(field: tuple[int, int], value: int, data: bytearray | None = None) -> bytearray:
    """A batch one of whose fields lies, under a true checksum."""
    forgery = produced() if data is None else data
    position, size = field
    forgery[position : position + size] = value.to_bytes(size, "big", signed=True)
    seal(Batch(memoryview(forgery)))
    return forgery


def refusal(records: bytes | bytearray | None, policy: ProducePolicy = POLICY) -> ErrorCode:
    with pytest.raises(ApiError) as caught:
        validate_produced(records, policy, NOW_MS)
    assert caught.value.message
    return caught.value.code


@pytest.mark.parametrize("codec", list(Codec))
def test_a_sound_batch_passes_untouched(codec: Codec) -> None:
    """The batch is a view over the client's own bytes, every one of them unchanged."""
    data = produced(compression=codec)
    before = bytes(data)

    batch = validate_produced(data, POLICY, NOW_MS)

    assert batch.view.obj is data
    assert data == before


def test_read_only_bytes_are_copied() -> None:
    """Whoever appends must be able to patch the batch."""
    batch = validate_produced(bytes(produced()), POLICY, NOW_MS)

    assert not batch.view.readonly


@pytest.mark.parametrize("records", [None, b""])
def test_no_batch_at_all_is_invalid(records: bytes | None) -> None:
    """A partition in a produce request comes with records."""
    assert refusal(records) is ErrorCode.INVALID_RECORD


def test_a_cut_batch_is_refused() -> None:
    """However short, a prefix never gets in."""
    data = produced()

    for end in range(1, len(data)):
        assert refusal(data[:end]) is ErrorCode.INVALID_RECORD


def test_exactly_one_batch_is_accepted() -> None:
    """A second batch, and bytes that are none, are refused."""
    assert refusal(produced() + produced()) is ErrorCode.INVALID_RECORD
    assert refusal(produced() + b"\x00") is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        (MAGIC, 0, ErrorCode.INVALID_RECORD),
        (MAGIC, 1, ErrorCode.INVALID_RECORD),
        (MAGIC, 3, ErrorCode.CORRUPT_MESSAGE),
        (MAGIC, -1, ErrorCode.CORRUPT_MESSAGE),
        (LENGTH, 48, ErrorCode.CORRUPT_MESSAGE),
        (LENGTH, 0, ErrorCode.CORRUPT_MESSAGE),
        (LENGTH, -1, ErrorCode.CORRUPT_MESSAGE),
        (LENGTH, 2**31 - 1, ErrorCode.INVALID_RECORD),
        (BASE_OFFSET, 1, ErrorCode.INVALID_RECORD),
        (BASE_OFFSET, -1, ErrorCode.INVALID_RECORD),
        (COUNT, 0, ErrorCode.INVALID_RECORD),
        (COUNT, -1, ErrorCode.INVALID_RECORD),
        (COUNT, 2, ErrorCode.INVALID_RECORD),
        (COUNT, 4, ErrorCode.INVALID_RECORD),
        (COUNT, 2**31 - 1, ErrorCode.INVALID_RECORD),
        (LAST_OFFSET_DELTA, 1, ErrorCode.INVALID_RECORD),
        (LAST_OFFSET_DELTA, 3, ErrorCode.INVALID_RECORD),
        (LAST_OFFSET_DELTA, -1, ErrorCode.INVALID_RECORD),
        (LAST_OFFSET_DELTA, 2**31 - 1, ErrorCode.INVALID_RECORD),
        (ATTRIBUTES, CONTROL_FLAG, ErrorCode.INVALID_RECORD),
        (ATTRIBUTES, DELETE_HORIZON_FLAG, ErrorCode.INVALID_RECORD),
        (ATTRIBUTES, TIMESTAMP_TYPE_FLAG, ErrorCode.INVALID_TIMESTAMP),
        (ATTRIBUTES, 5, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
        (ATTRIBUTES, 7, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
        (PRODUCER_ID, 1, ErrorCode.INVALID_RECORD),  # without epoch and sequence
        (BASE_TIMESTAMP, -2, ErrorCode.INVALID_TIMESTAMP),
        (BASE_TIMESTAMP, -(2**63), ErrorCode.INVALID_TIMESTAMP),
        (BASE_TIMESTAMP, 2**63 - 1, ErrorCode.INVALID_TIMESTAMP),
        (MAX_TIMESTAMP, 2**63 - 1, ErrorCode.INVALID_TIMESTAMP),
    ],
)
def test_a_lie_in_the_header_is_refused(
    field: tuple[int, int], value: int, code: ErrorCode
) -> None:
    """Attack 5: the checksum is right and the header is not."""
    forgery = produced()
    position, size = field
    forgery[position : position + size] = value.to_bytes(size, "big", signed=True)
    if field not in (LENGTH, MAGIC):
        seal(Batch(memoryview(forgery)))

    assert refusal(forgery) is code


@pytest.mark.parametrize("field", [PRODUCER_EPOCH, BASE_SEQUENCE])
def test_a_producer_s_numbers_are_not_negative(field: tuple[int, int]) -> None:
    """Who has a producer id has an epoch and sequences."""
    data = produced(producer_id=7, producer_epoch=0, base_sequence=0)
    validate_produced(data, POLICY, NOW_MS)

    assert refusal(forged(field, -1, data)) is ErrorCode.INVALID_RECORD


def test_a_transactional_batch_needs_a_producer() -> None:
    """Nobody could ever end its transaction."""
    assert refusal(produced(is_transactional=True)) is ErrorCode.INVALID_RECORD
    validate_produced(
        produced(is_transactional=True, producer_id=1, producer_epoch=0, base_sequence=0),
        POLICY,
        NOW_MS,
    )


@given(byte=st.integers(CRC_START, len(produced()) - 1), bit=st.integers(0, 7))
def test_any_flipped_bit_is_corruption(byte: int, bit: int) -> None:
    """The checksum is looked at before anything that it covers is believed."""
    data = produced()
    data[byte] ^= 1 << bit

    code = refusal(data)

    codec_bits = byte == CRC_START + 1 and bit < 3
    assert code is ErrorCode.CORRUPT_MESSAGE or (
        codec_bits and code is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    )


def test_a_count_that_cannot_fit_is_refused() -> None:
    """A record takes seven bytes or more, so a consistent lie about many records shows."""
    data = build_batch([NewRecord(timestamp_ms=NOW_MS)] * 2)
    assert len(data) == HEADER_BYTES + 2 * 7

    validate_produced(bytes(data), POLICY, NOW_MS)
    forgery = forged(COUNT, 3, forged(LAST_OFFSET_DELTA, 2, data))

    assert refusal(forgery) is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("claimed", [NOW_MS - 1, -1, -2, -(2**63)])
def test_a_newest_timestamp_below_the_first_is_put_right(claimed: int) -> None:
    """Kafka takes it from the records; a lookup by time must find them."""
    forgery = bytearray(forged(MAX_TIMESTAMP, claimed))

    batch = validate_produced(forgery, POLICY, NOW_MS)

    assert batch.max_timestamp == NOW_MS + 2
    check_crc(read_batch(forgery))


@pytest.mark.parametrize("count", [0, -1, -(2**31) + 1])
def test_a_batch_without_records_is_refused(count: int) -> None:
    """Even when count and last offset agree on it."""
    forgery = forged(COUNT, count, forged(LAST_OFFSET_DELTA, count - 1))

    assert refusal(forgery) is ErrorCode.INVALID_RECORD


def test_the_size_bound_is_exact() -> None:
    """``max.message.bytes`` counts the whole batch, compressed."""
    data = produced()

    validate_produced(data, replace(POLICY, message_bytes_max=len(data)), NOW_MS)

    too_small = replace(POLICY, message_bytes_max=len(data) - 1)
    assert refusal(data, too_small) is ErrorCode.MESSAGE_TOO_LARGE


@pytest.mark.parametrize(("version", "accepted"), [(3, False), (6, False), (7, True), (13, True)])
def test_zstd_needs_a_client_that_knows_it(version: int, accepted: bool) -> None:  # noqa: FBT001 - a column
    """KIP-110: producers below version 7 promised not to use it."""
    data = produced(compression=Codec.ZSTD)

    if accepted:
        validate_produced(data, POLICY, NOW_MS, api_version=version)
        return
    with pytest.raises(ApiError) as caught:
        validate_produced(data, POLICY, NOW_MS, api_version=version)
    assert caught.value.code is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


@pytest.mark.parametrize(
    ("timestamps", "accepted"),
    [
        ((NOW_MS - HOUR_MS,), True),
        ((NOW_MS - HOUR_MS - 1,), False),
        ((NOW_MS - HOUR_MS - 1, NOW_MS), False),
        ((NOW_MS + HOUR_MS,), True),
        ((NOW_MS + HOUR_MS + 1,), False),
        ((NOW_MS, NOW_MS + HOUR_MS + 1), False),
        ((-1, -1), True),  # none: nothing to compare
        ((-1, NOW_MS), True),
    ],
)
def test_timestamps_keep_the_topic_s_bounds(timestamps: tuple[int, ...], accepted: bool) -> None:  # noqa: FBT001 - a column
    """Before and after bound the oldest and the newest timestamp, both to the millisecond."""
    policy = replace(POLICY, timestamp_before_ms_max=HOUR_MS, timestamp_after_ms_max=HOUR_MS)
    data = produced(timestamps=timestamps)

    if accepted:
        validate_produced(data, policy, NOW_MS)
    else:
        assert refusal(data, policy) is ErrorCode.INVALID_TIMESTAMP


def test_years_old_records_are_welcome_by_default() -> None:
    """The default bound before is none: history can be loaded. After, it is an hour."""
    validate_produced(produced(timestamps=(0, 1)), POLICY, NOW_MS)
    assert refusal(produced(timestamps=(NOW_MS + HOUR_MS + 1,))) is ErrorCode.INVALID_TIMESTAMP


def test_with_log_append_time_the_client_s_clock_does_not_matter() -> None:
    """Timestamps that the broker replaces are not judged; the claim to be the broker is."""
    policy = replace(POLICY, timestamp_type=TimestampType.LOG_APPEND_TIME)

    batch = validate_produced(produced(timestamps=(0, 2**60)), policy, NOW_MS)

    assert batch.timestamp_type is TimestampType.CREATE_TIME  # stamped when it is appended
    forgery = forged(ATTRIBUTES, TIMESTAMP_TYPE_FLAG)
    assert refusal(forgery, policy) is ErrorCode.INVALID_TIMESTAMP


@pytest.mark.parametrize("codec", list(Codec))
def test_compacted_topics_name_the_records_without_keys(codec: Codec) -> None:
    """The client learns which of its records to blame."""
    records = [NewRecord(timestamp_ms=NOW_MS, key=key) for key in (b"a", None, b"", None)]
    data = build_batch(records, compression=codec)

    with pytest.raises(InvalidRecords) as caught:
        validate_produced(data, replace(POLICY, is_compacted=True), NOW_MS)

    assert caught.value.code is ErrorCode.INVALID_RECORD
    assert [index for index, _ in caught.value.records] == [1, 3]
    validate_produced(data, POLICY, NOW_MS)
    validate_produced(produced(compression=codec), replace(POLICY, is_compacted=True), NOW_MS)


def test_the_list_of_faulty_records_is_bounded() -> None:
    """A batch of keyless records does not become a response many times its size."""
    batch = read_batch(build_batch([NewRecord(timestamp_ms=0)] * (RECORD_ERRORS_MAX + 1)))

    with pytest.raises(InvalidRecords, match=f"{RECORD_ERRORS_MAX + 1} of") as caught:
        require_keys(batch, bytes_max=10**6)

    assert len(caught.value.records) == RECORD_ERRORS_MAX


@pytest.mark.parametrize("source", list(Codec))
@pytest.mark.parametrize("target", list(Codec))
def test_the_topic_s_codec_is_applied(source: Codec, target: Codec) -> None:
    """Records and header stay, compression and checksum change; the same codec costs nothing."""
    data = produced(compression=source, producer_id=5, producer_epoch=1, base_sequence=9)
    before = decode_records(read_batch(data), bytes_max=10**6)

    batch = validate_produced(data, replace(POLICY, compression=target), NOW_MS)

    assert (batch.view.obj is data) == (source == target)
    check_crc(batch)
    assert batch.compression == target
    assert batch.size_bytes == len(batch.view)
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (5, 1, 9)
    assert (batch.base_timestamp, batch.max_timestamp) == (NOW_MS, NOW_MS + 2)
    assert decode_records(batch, bytes_max=10**6) == before


def test_a_level_is_handed_to_the_codec() -> None:
    """A higher level packs no worse."""
    value = b"".join(b"%d;" % (i * i) for i in range(20_000))
    batch = read_batch(build_batch([NewRecord(timestamp_ms=0, value=value)]))

    fast = convert(batch, compression=Codec.GZIP, level=1, bytes_max=10**6)
    best = convert(batch, compression=Codec.GZIP, level=9, bytes_max=10**6)

    assert best.size_bytes < fast.size_bytes


def test_a_converted_batch_keeps_the_size_bound() -> None:
    """Unpacking can make a batch too large for the topic."""
    records = [NewRecord(timestamp_ms=NOW_MS, value=bytes(10_000))]
    data = build_batch(records, compression=Codec.GZIP)
    policy = replace(POLICY, message_bytes_max=10_000)

    validate_produced(data, policy, NOW_MS)
    unpacked = replace(policy, compression=Codec.NONE)
    assert refusal(data, unpacked) is ErrorCode.MESSAGE_TOO_LARGE


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_a_bomb_is_refused_where_it_must_be_unpacked(codec: Codec) -> None:
    """Attack 4: the bound holds for keys and for conversion; untouched, the batch is stored."""
    records = [NewRecord(timestamp_ms=NOW_MS, key=b"k", value=bytes(100_000))]
    data = build_batch(records, compression=codec)
    policy = replace(POLICY, decompressed_bytes_max=99_999)

    validate_produced(data, policy, NOW_MS)
    for strict in (replace(policy, is_compacted=True), replace(policy, compression=Codec.NONE)):
        assert refusal(data, strict) is ErrorCode.MESSAGE_TOO_LARGE


def test_noise_under_a_codec_is_corrupt_where_it_must_be_unpacked() -> None:
    """A client that lies about its codec is told so when somebody looks."""
    data = forged(ATTRIBUTES, Codec.LZ4)

    validate_produced(data, POLICY, NOW_MS)
    for strict in (replace(POLICY, is_compacted=True), replace(POLICY, compression=Codec.NONE)):
        assert refusal(data, strict) is ErrorCode.CORRUPT_MESSAGE


def test_helpers_raise_the_package_s_errors() -> None:
    """Who calls them without a client to answer gets no ApiError for damage."""
    batch = read_batch(forged(ATTRIBUTES, Codec.LZ4))

    with pytest.raises(CorruptBatch):
        require_keys(batch, bytes_max=1000)
    with pytest.raises(DecompressedTooLarge):
        convert(read_batch(produced()), compression=Codec.GZIP, bytes_max=10)
