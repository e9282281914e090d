"""Single records: read out of a batch when somebody must, and written into a new one.

Pure. The records section of a batch, once unpacked, holds one behind the other::

    varint   length of what follows
    int8     attributes, none defined
    varlong  timestamp_delta   to base_timestamp
    varint   offset_delta      to base_offset
    varint   key length, -1 for null; then the key
    varint   value length, -1 for null; then the value
    varint   number of headers, then for each:
             varint  key length; then the key, UTF-8
             varint  value length, -1 for null; then the value

Varints are zigzag, least significant seven bits first. The broker stores batches as they come and
seldom needs this; control records, group and transaction state, time lookup and the tools do.
"""

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias, TypedDict, Unpack, final

import msgspec

from ..kernel.ids import (
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
)
from ..kernel.ports import Buffer
from .batch import (
    CONTROL_FLAG,
    HEADER,
    HEADER_BYTES,
    LENGTH_END,
    MAGIC,
    TIMESTAMP_TYPE_FLAG,
    TRANSACTIONAL_FLAG,
    Batch,
    CorruptBatch,
    TimestampType,
    seal,
)
from .compression import Codec, CorruptCompression, compress, decompress

RECORD_BYTES_MIN: Final = 7
"""length 1 + attributes 1 + timestamp 1 + offset 1 + null key 1 + null value 1 + no headers 1."""

Headers: TypeAlias = tuple[tuple[str, bytes | None], ...]

_VARINT_BYTES_MAX: Final = 10  # ceil(64 bits / 7)


class NewRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A record that has no offset yet."""

    timestamp_ms: int
    key: bytes | None = None
    value: bytes | None = None
    headers: Headers = ()


class Record(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A record as it stands in a log."""

    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers


class BatchOptions(TypedDict, total=False):
    """What ``BatchBuilder`` takes, by the names of the header's fields."""

    base_offset: int
    leader_epoch: int
    compression: Codec
    level: int | None
    timestamp_type: TimestampType
    producer_id: int
    producer_epoch: int
    base_sequence: int
    is_transactional: bool
    is_control: bool


def decode_records(batch: Batch, *, bytes_max: int) -> list[Record]:
    """All records of a batch, oldest first.

    *bytes_max* bounds what the records may unpack to. Header keys that are not UTF-8 keep their
    bytes as surrogate escapes. Raises CorruptBatch when the records are not what the header
    promises, DecompressedTooLarge beyond the bound.
    """
    data = bytes(unpack_records(batch, bytes_max=bytes_max))
    base_offset, base_timestamp = batch.base_offset, batch.base_timestamp
    append_time = _append_time(batch)
    records: list[Record] = []
    position = 0
    try:
        for _ in range(batch.record_count):
            length, start = read_varint(data, position)
            timestamp_delta, position = read_varint(data, start + 1)
            offset_delta, position = read_varint(data, position)
            key, position = _nullable(data, position)
            value, position = _nullable(data, position)
            headers: Headers = ()
            if data[position]:
                headers, position = _headers(data, position)
            else:
                position += 1
            if position != start + length:
                raise CorruptBatch(f"record {len(records)} is not as long as it says", 0)
            _check_offset(batch, offset_delta)
            records.append(
                Record(
                    offset=base_offset + offset_delta,
                    timestamp_ms=(
                        base_timestamp + timestamp_delta if append_time is None else append_time
                    ),
                    key=key,
                    value=value,
                    headers=headers,
                )
            )
    except IndexError as error:
        raise CorruptBatch(f"record {len(records)} reaches past the batch", 0) from error
    _check_end(data, position)
    return records


def record_times(batch: Batch, *, bytes_max: int) -> Iterator[tuple[int, int]]:
    """(offset, timestamp in ms) of each record; keys and values are passed over.

    A lookup by time stops at the record it wants. Raises as ``decode_records`` does.
    """
    append_time = _append_time(batch)
    for timestamp_delta, offset_delta, _ in _heads(batch, bytes_max):
        timestamp_ms = batch.base_timestamp + timestamp_delta
        yield (
            batch.base_offset + offset_delta,
            timestamp_ms if append_time is None else append_time,
        )


def keyless_records(batch: Batch, *, bytes_max: int) -> list[int]:
    """Indexes of the records whose key is null. Raises as ``decode_records`` does."""
    heads = enumerate(_heads(batch, bytes_max))
    return [index for index, (_, _, key_bytes) in heads if key_bytes < 0]


def unpack_records(batch: Batch, *, bytes_max: int) -> Buffer:
    """The records section of a batch without its compression.

    Raises CorruptBatch when it does not unpack, DecompressedTooLarge beyond *bytes_max*.
    """
    try:
        data = decompress(batch.compression, batch.records, bytes_max=bytes_max)
    except CorruptCompression as error:
        raise CorruptBatch(str(error), 0) from error
    if not 0 <= batch.record_count <= len(data) // RECORD_BYTES_MIN:
        raise CorruptBatch(
            f"it promises {batch.record_count} records in {len(data)} bytes, "
            f"each takes {RECORD_BYTES_MIN} or more",
            0,
        )
    return data


def build_batch(records: Iterable[NewRecord], **options: Unpack[BatchOptions]) -> bytearray:
    """A whole batch with its checksum; *options* are those of ``BatchBuilder``.

    Raises ValueError without records.
    """
    builder = BatchBuilder(**options)
    for record in records:
        builder.append(record)
    return builder.build()


@final
class BatchBuilder:
    """Gathers records for one batch; ``build`` gives its bytes.

    Offsets are dense from ``base_offset`` on, as a leader assigns them. With LOG_APPEND_TIME the
    newest timestamp counts for all records.
    """

    def __init__(  # noqa: PLR0913 - each names a field of the header
        self,
        *,
        base_offset: int = 0,
        leader_epoch: int = NO_LEADER_EPOCH,
        compression: Codec = Codec.NONE,
        level: int | None = None,
        timestamp_type: TimestampType = TimestampType.CREATE_TIME,
        producer_id: int = NO_PRODUCER_ID,
        producer_epoch: int = NO_PRODUCER_EPOCH,
        base_sequence: int = NO_SEQUENCE,
        is_transactional: bool = False,
        is_control: bool = False,
    ) -> None:
        self._base_offset = base_offset
        self._leader_epoch = leader_epoch
        self._compression = compression
        self._level = level
        self._producer = (producer_id, producer_epoch, base_sequence)
        self._attributes = (
            compression
            | TIMESTAMP_TYPE_FLAG * timestamp_type
            | TRANSACTIONAL_FLAG * is_transactional
            | CONTROL_FLAG * is_control
        )
        self._section = bytearray()
        self._base_timestamp: int = NO_TIMESTAMP
        self._max_timestamp: int = NO_TIMESTAMP
        self._record_count = 0

    @property
    def record_count(self) -> int:
        return self._record_count

    @property
    def size_bytes(self) -> int:
        """Size of the batch so far, before compression."""
        return HEADER_BYTES + len(self._section)

    def append(self, record: NewRecord) -> None:
        """Add *record* at the end."""
        if not self._record_count:
            self._base_timestamp = record.timestamp_ms
        self._max_timestamp = max(self._max_timestamp, record.timestamp_ms)
        encode_record(
            self._section,
            record,
            offset_delta=self._record_count,
            timestamp_delta=record.timestamp_ms - self._base_timestamp,
        )
        self._record_count += 1

    def build(self) -> bytearray:
        """The batch's bytes, the caller's to keep. Raises ValueError without records."""
        if not self._record_count:
            raise ValueError("a batch holds one record or more")
        section = compress(self._compression, self._section, self._level)
        batch = bytearray(
            HEADER.pack(
                self._base_offset,
                HEADER_BYTES - LENGTH_END + len(section),
                self._leader_epoch,
                MAGIC,
                0,
                self._attributes,
                self._record_count - 1,
                self._base_timestamp,
                self._max_timestamp,
                *self._producer,
                self._record_count,
            )
        )
        batch += section
        seal(Batch(memoryview(batch)))
        return batch


def encode_record(
    out: bytearray, record: NewRecord, *, offset_delta: int, timestamp_delta: int
) -> None:
    """Append one record to a records section."""
    body = bytearray(1)
    put_varint(body, timestamp_delta)
    put_varint(body, offset_delta)
    _put_nullable(body, record.key)
    _put_nullable(body, record.value)
    put_varint(body, len(record.headers))
    for key, value in record.headers:
        _put_nullable(body, key.encode("utf-8", "surrogateescape"))
        _put_nullable(body, value)
    put_varint(out, len(body))
    out += body


def _heads(batch: Batch, bytes_max: int) -> Iterator[tuple[int, int, int]]:
    # Timestamp delta, offset delta and key length: what stands before the key.
    data = unpack_records(batch, bytes_max=bytes_max)
    position = 0
    for index in range(batch.record_count):
        try:
            length, start = read_varint(data, position)
            timestamp_delta, position = read_varint(data, start + 1)
            offset_delta, position = read_varint(data, position)
            key_bytes, position = read_varint(data, position)
        except IndexError as error:
            raise CorruptBatch(f"record {index} reaches past the batch", 0) from error
        if start + length < position + max(key_bytes, 0):
            raise CorruptBatch(f"record {index} is not as long as it says", 0)
        _check_offset(batch, offset_delta)
        yield timestamp_delta, offset_delta, key_bytes
        position = start + length
    _check_end(data, position)


def _append_time(batch: Batch) -> int | None:
    return batch.max_timestamp if batch.attributes & TIMESTAMP_TYPE_FLAG else None


def _check_offset(batch: Batch, offset_delta: int) -> None:
    # Records were a client's and unread so far: none may claim an offset that is another batch's.
    if not 0 <= offset_delta <= batch.last_offset_delta:
        raise CorruptBatch(
            f"a record claims offset delta {offset_delta} of {batch.last_offset_delta}", 0
        )


def _check_end(data: Buffer, position: int) -> None:
    if position != len(data):
        raise CorruptBatch(f"its records end at byte {position} of {len(data)}", 0)


def read_varint(data: Buffer, position: int) -> tuple[int, int]:
    """The zigzag varint at *position*, and where it ends.

    Raises CorruptBatch when it is longer than ten bytes, IndexError when the data ends within it.
    """
    byte = data[position]
    if byte < 0x80:  # one byte is the rule
        return (byte >> 1) ^ -(byte & 1), position + 1
    value = byte & 0x7F
    for shift in range(7, 7 * _VARINT_BYTES_MAX, 7):
        position += 1
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), position + 1
    raise CorruptBatch(f"a varint is longer than {_VARINT_BYTES_MAX} bytes", 0)


def _nullable(data: bytes, position: int) -> tuple[bytes | None, int]:
    length, position = read_varint(data, position)
    if length < 0:
        return None, position
    end = position + length
    if end > len(data):
        raise IndexError
    return data[position:end], end


def _headers(data: bytes, position: int) -> tuple[Headers, int]:
    count, position = read_varint(data, position)
    if not 0 <= count <= len(data) - position:
        raise CorruptBatch(f"a record claims {count} headers", 0)
    headers: list[tuple[str, bytes | None]] = []
    for _ in range(count):
        key, position = _nullable(data, position)
        if key is None:
            raise CorruptBatch("a header's key is null", 0)
        value, position = _nullable(data, position)
        headers.append((key.decode("utf-8", "surrogateescape"), value))
    return tuple(headers), position


def put_varint(out: bytearray, value: int) -> None:
    """Append *value* as a zigzag varint."""
    zigzag = value << 1 if value >= 0 else ~(value << 1)
    while zigzag > 0x7F:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    out.append(zigzag)


def _put_nullable(out: bytearray, data: bytes | None) -> None:
    if data is None:
        out.append(1)  # -1
    else:
        put_varint(out, len(data))
        out += data
