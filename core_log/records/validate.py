"""Whether a batch that a client sent may enter the log, and in which form.

Pure. Produce from version 3 on carries exactly one batch of magic 2 for a partition. The codes are
those of Kafka's ``ProduceRequest``, ``UnifiedLog`` and ``LogValidator``, checked in their order.

We look at the header and the checksum and leave the records alone, since one record costs Python
as much as a whole batch. Where Kafka would read every record of an uncompressed batch, we

- take ``max_timestamp`` and ``base_timestamp`` as the bounds of the records' timestamps. Kafka
  computes the maximum anew; here a client that lies about it misleads lookups by time and
  retention of its own batch, within the bounds that the topic sets for timestamps;
- do not see offset deltas out of order, or fewer records than a consistent count promises. Readers
  find such a batch corrupt, as they do a lie inside a compressed one.

Records are read for compacted topics, whose records need keys, and unpacked, not read, when
``compression.type`` asks for another codec. Unlike Kafka we refuse bytes behind the batch, where
Kafka drops them unless they form a second batch, timestamps below -1, and a batch that calls
itself LogAppendTime, where Kafka sometimes clears the bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..kernel.errors import ApiError, ErrorCode
from ..kernel.ids import NO_TIMESTAMP
from ..kernel.ports import Buffer
from .batch import (
    COMPRESSION_MASK,
    CONTROL_FLAG,
    DELETE_HORIZON_FLAG,
    HEADER,
    HEADER_BYTES,
    LENGTH_END,
    LENGTH_TO_MAGIC,
    MAGIC,
    TIMESTAMP_TYPE_FLAG,
    TRANSACTIONAL_FLAG,
    Batch,
    CorruptBatch,
    TimestampType,
    check_crc,
    read_batch,
    seal,
    set_max_timestamp,
)
from .compression import Codec, DecompressedTooLarge, compress
from .record import RECORD_BYTES_MIN, keyless_records, record_times, unpack_records

PRODUCE_VERSION_MAX: Final = 13
ZSTD_VERSION_MIN: Final = 7
"""Producers of earlier versions promise consumers that may not know zstd (KIP-110)."""

RECORD_ERRORS_MAX: Final = 100
"""So many faulty records are named one by one; a batch can hold 150,000."""

_INT64_MAX: Final = 2**63 - 1
_BROKER_FLAGS: Final = CONTROL_FLAG | DELETE_HORIZON_FLAG


class InvalidRecords(ApiError):
    """Single records are at fault: ``records`` holds (index in the batch, what is wrong)."""

    def __init__(self, code: ErrorCode, message: str, records: Sequence[tuple[int, str]]) -> None:
        super().__init__(code, message)
        self.records: Final = tuple(records)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducePolicy:
    """What a topic accepts; one per partition, replaced when its configuration changes."""

    message_bytes_max: int = 1_048_588  # max.message.bytes
    timestamp_type: TimestampType = TimestampType.CREATE_TIME  # message.timestamp.type
    timestamp_before_ms_max: int = 2**63 - 1  # message.timestamp.before.max.ms
    timestamp_after_ms_max: int = 3_600_000  # message.timestamp.after.max.ms
    compression: Codec | None = None  # compression.type; None keeps the producer's
    compression_level: int | None = None  # compression.<codec>.level
    is_compacted: bool = False  # cleanup.policy names compact: every record needs a key
    decompressed_bytes_max: int = 64 * 1_048_588  # what one batch may unpack to when it must


def validate_produced(
    records: Buffer | None,
    policy: ProducePolicy,
    now_ms: int,
    *,
    api_version: int = PRODUCE_VERSION_MAX,
) -> Batch:
    """The one batch in *records*, fit to be appended; its memory is writable.

    The batch shares the caller's memory when that is writable and nothing must be converted. The
    caller stamps LogAppendTime when it appends. Raises ApiError with the code the client must get;
    InvalidRecords where single records are at fault.
    """
    return admit(read_produced(records, policy, api_version=api_version), policy, now_ms)


def read_produced(records: Buffer | None, policy: ProducePolicy, *, api_version: int) -> Batch:
    """The first half: the one batch, whole, not too large, its checksum right."""
    batch = _only_batch(records, api_version)
    try:
        _check_size(batch, policy)
        check_crc(batch)
    except CorruptBatch as error:
        raise ApiError(ErrorCode.CORRUPT_MESSAGE, error.reason) from error
    return batch


def admit(batch: Batch, policy: ProducePolicy, now_ms: int) -> Batch:
    """The second half: what the header says can be true, and the topic takes it; converted."""
    try:
        if (fault := _header_fault(batch)) is not None:
            raise ApiError(ErrorCode.INVALID_RECORD, fault)
        _check_timestamps(batch, policy, now_ms)
        if policy.is_compacted:
            require_keys(batch, bytes_max=policy.decompressed_bytes_max)
        if policy.compression is not None and policy.compression != batch.compression:
            batch = convert(
                batch,
                compression=policy.compression,
                level=policy.compression_level,
                bytes_max=policy.decompressed_bytes_max,
            )
            _check_size(batch, policy)
    except CorruptBatch as error:
        raise ApiError(ErrorCode.CORRUPT_MESSAGE, error.reason) from error
    except DecompressedTooLarge as excess:
        raise ApiError(ErrorCode.MESSAGE_TOO_LARGE, str(excess)) from excess
    return batch


def require_keys(batch: Batch, *, bytes_max: int) -> None:
    """Return when every record has a key, as compaction needs.

    Raises InvalidRecords naming the records that have none; CorruptBatch and DecompressedTooLarge
    when the batch cannot be read.
    """
    keyless = keyless_records(batch, bytes_max=bytes_max)
    if keyless:
        raise InvalidRecords(
            ErrorCode.INVALID_RECORD,
            f"{len(keyless)} of {batch.record_count} records have no key; "
            "a compacted topic keeps the last record of each key, so every record needs one",
            [(index, "the record has no key") for index in keyless[:RECORD_ERRORS_MAX]],
        )


def convert(batch: Batch, *, compression: Codec, level: int | None = None, bytes_max: int) -> Batch:
    """The same batch under another codec, in memory of its own; the records are not looked at.

    Raises CorruptBatch when the records do not unpack, DecompressedTooLarge beyond *bytes_max*.
    """
    section = compress(compression, unpack_records(batch, bytes_max=bytes_max), level)
    data = bytearray(HEADER_BYTES + len(section))
    data[HEADER_BYTES:] = section
    HEADER.pack_into(
        data,
        0,
        batch.base_offset,
        len(data) - LENGTH_END,
        batch.partition_leader_epoch,
        batch.magic,
        0,
        batch.attributes & ~COMPRESSION_MASK | compression,
        batch.last_offset_delta,
        batch.base_timestamp,
        batch.max_timestamp,
        batch.producer_id,
        batch.producer_epoch,
        batch.base_sequence,
        batch.record_count,
    )
    converted = Batch(memoryview(data))
    seal(converted)
    return converted


def _only_batch(records: Buffer | None, api_version: int) -> Batch:
    if not records:
        raise ApiError(ErrorCode.INVALID_RECORD, "the partition's records hold no batch")
    view = memoryview(records)
    if view.readonly:
        view = memoryview(bytearray(view))
    try:
        batch = read_batch(view)
    except CorruptBatch as error:
        raise ApiError(_start_fault(view), error.reason) from error
    if batch.size_bytes != len(view):
        raise ApiError(
            ErrorCode.INVALID_RECORD,
            f"{len(view) - batch.size_bytes} bytes follow the batch; "
            "a produce request carries exactly one batch for a partition",
        )
    compression = batch.compression
    if compression > Codec.ZSTD:
        raise ApiError(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"there is no codec with id {compression}"
        )
    if compression == Codec.ZSTD and api_version < ZSTD_VERSION_MIN:
        raise ApiError(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
            f"zstd takes Produce version {ZSTD_VERSION_MIN} or later, this is {api_version}",
        )
    return batch


def _start_fault(view: memoryview) -> ErrorCode:
    # Kafka calls a cut batch and the old formats invalid, and what is no batch at all corrupt.
    if len(view) < HEADER_BYTES:
        return ErrorCode.INVALID_RECORD
    batch_length, _, magic = LENGTH_TO_MAGIC.unpack_from(view, 8)
    is_batch = 0 <= magic <= MAGIC and batch_length + LENGTH_END >= HEADER_BYTES
    return ErrorCode.INVALID_RECORD if is_batch else ErrorCode.CORRUPT_MESSAGE


def _check_size(batch: Batch, policy: ProducePolicy) -> None:
    if batch.size_bytes > policy.message_bytes_max:
        raise ApiError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"the batch has {batch.size_bytes} bytes, "
            f"the topic's max.message.bytes is {policy.message_bytes_max}",
        )


def _header_fault(batch: Batch) -> str | None:
    count = batch.record_count
    if batch.base_offset:
        return f"its base offset is {batch.base_offset}; a producer sends 0"
    if count <= 0 or batch.last_offset_delta != count - 1:
        return f"{count} records cannot end at offset delta {batch.last_offset_delta}"
    attributes = batch.attributes
    if attributes & COMPRESSION_MASK == Codec.NONE and (
        count * RECORD_BYTES_MIN > batch.size_bytes - HEADER_BYTES
    ):
        return f"{count} records do not fit into {batch.size_bytes} bytes"
    if attributes & _BROKER_FLAGS:
        return "clients may not write control batches, nor set the delete horizon"
    if batch.producer_id >= 0:
        if batch.base_sequence < 0 or batch.producer_epoch < 0:
            return (
                f"producer {batch.producer_id} sent epoch {batch.producer_epoch} and "
                f"base sequence {batch.base_sequence}; neither may be negative"
            )
    elif attributes & TRANSACTIONAL_FLAG:
        return "a transactional batch needs a producer id"
    return None


def _check_timestamps(batch: Batch, policy: ProducePolicy, now_ms: int) -> None:
    if batch.attributes & TIMESTAMP_TYPE_FLAG:
        raise ApiError(
            ErrorCode.INVALID_TIMESTAMP, "the timestamp type LogAppendTime is the broker's to set"
        )
    if policy.timestamp_type is TimestampType.LOG_APPEND_TIME:
        return
    if batch.max_timestamp < batch.base_timestamp:
        _mend_max_timestamp(batch, policy)
    base, newest = batch.base_timestamp, batch.max_timestamp
    if base < NO_TIMESTAMP:
        raise ApiError(
            ErrorCode.INVALID_TIMESTAMP,
            f"timestamps from {base} to {newest} are not possible; -1 stands for none",
        )
    before_ms_max, after_ms_max = policy.timestamp_before_ms_max, policy.timestamp_after_ms_max
    if newest - now_ms > after_ms_max or (now_ms - base > before_ms_max and base != NO_TIMESTAMP):
        raise _out_of_bounds(batch, policy, now_ms)


def _mend_max_timestamp(batch: Batch, policy: ProducePolicy) -> None:
    """Kafka takes the newest timestamp from the records; we do where the header's cannot be."""
    times = record_times(batch, bytes_max=policy.decompressed_bytes_max)
    newest = max(timestamp_ms for _, timestamp_ms in times)
    set_max_timestamp(batch, min(newest, _INT64_MAX))  # an absurd one is refused right behind


def _out_of_bounds(batch: Batch, policy: ProducePolicy, now_ms: int) -> InvalidRecords:
    """The refusal, naming the records that are too old or too new."""
    before_ms_max, after_ms_max = policy.timestamp_before_ms_max, policy.timestamp_after_ms_max
    faults = [
        (index, f"its timestamp is {timestamp_ms}")
        for index, (_, timestamp_ms) in enumerate(
            record_times(batch, bytes_max=policy.decompressed_bytes_max)
        )
        if timestamp_ms - now_ms > after_ms_max or now_ms - timestamp_ms > before_ms_max
    ]
    return InvalidRecords(
        ErrorCode.INVALID_TIMESTAMP,
        f"timestamps from {batch.base_timestamp} to {batch.max_timestamp} leave the topic's "
        f"bounds: at most {before_ms_max} ms before and {after_ms_max} ms after the broker's "
        f"{now_ms}",
        faults[:RECORD_ERRORS_MAX],
    )
