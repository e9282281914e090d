"""RecordBatch v2: a view over somebody's bytes, its header decoded, its records left alone.

Pure. The header (61 bytes, big-endian; KIP-98 brought it, KIP-534 the delete horizon)::

    0   8  base_offset              |  not under the checksum, so that a leader can assign
    8   4  batch_length             |  offsets and epoch without reading the batch again;
    12  4  partition_leader_epoch   |  batch_length counts the bytes behind itself
    16  1  magic                    |  2
    17  4  crc                      |  CRC-32C of everything from here to the end:
    21  2  attributes               bits 0-2 compression, 3 timestamp type, 4 transactional,
                                    5 control, 6 base_timestamp is the delete horizon
    23  4  last_offset_delta
    27  8  base_timestamp           milliseconds
    35  8  max_timestamp            milliseconds
    43  8  producer_id
    51  2  producer_epoch
    53  4  base_sequence
    57  4  record_count
    61     records, compressed as one

Magic 0 and 1, which Kafka 4 converts on the way in no longer, are refused by name.
"""

from collections.abc import Iterator
from enum import IntEnum
from struct import Struct
from typing import Final, final

from crc32c import crc32c

from ..kernel.ids import NO_SEQUENCE
from ..kernel.ports import Buffer

LENGTH_END: Final = 12
"""``batch_length`` counts from here."""
CRC_START: Final = 21
"""The checksum covers everything from here on."""
HEADER_BYTES: Final = 61
MAGIC: Final = 2

COMPRESSION_MASK: Final = 0x07
TIMESTAMP_TYPE_FLAG: Final = 0x08
TRANSACTIONAL_FLAG: Final = 0x10
CONTROL_FLAG: Final = 0x20
DELETE_HORIZON_FLAG: Final = 0x40

SEQUENCE_MAX: Final = 2**31 - 1
"""The sequence after this one is 0."""

HEADER: Final = Struct(">qiibIhiqqqhii")
LENGTH_TO_MAGIC: Final = Struct(">iib")
_ATTRIBUTES: Final = Struct(">h")
_CRC: Final = Struct(">I")
_INT32: Final = Struct(">i")
_INT64: Final = Struct(">q")


class TimestampType(IntEnum):
    """Whose clock a batch's timestamps come from (``message.timestamp.type``)."""

    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


class CorruptBatch(ValueError):
    """The bytes at ``position`` are not a whole, sound batch; ``reason`` says what is wrong."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason, position)
        self.reason: Final = reason
        self.position: Final = position

    def __str__(self) -> str:
        return f"corrupt batch at byte {self.position}: {self.reason}"


@final
class Batch:
    """One batch: ``view`` over all its bytes, and the header as it stood when it was read.

    The bytes are the caller's; who changes the header uses ``patch`` and ``set_log_append_time``,
    which keep the attributes and the bytes the same.
    """

    __slots__ = (
        "attributes",
        "base_offset",
        "base_sequence",
        "base_timestamp",
        "crc",
        "last_offset_delta",
        "magic",
        "max_timestamp",
        "partition_leader_epoch",
        "producer_epoch",
        "producer_id",
        "record_count",
        "size_bytes",
        "view",
    )

    base_offset: int
    size_bytes: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int
    view: memoryview

    def __init__(self, view: memoryview) -> None:
        """Decode the header of *view*, which is one whole batch; ``read_batch`` made sure of it."""
        self.view = view
        (
            self.base_offset,
            batch_length,
            self.partition_leader_epoch,
            self.magic,
            self.crc,
            self.attributes,
            self.last_offset_delta,
            self.base_timestamp,
            self.max_timestamp,
            self.producer_id,
            self.producer_epoch,
            self.base_sequence,
            self.record_count,
        ) = HEADER.unpack_from(view)
        self.size_bytes = batch_length + LENGTH_END

    def __repr__(self) -> str:
        return (
            f"<Batch [{self.base_offset}..{self.last_offset}] {self.record_count} records, "
            f"{self.size_bytes} bytes, epoch {self.partition_leader_epoch}>"
        )

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def compression(self) -> int:
        """The codec's id, 0-7; only those of ``compression.Codec`` exist."""
        return self.attributes & COMPRESSION_MASK

    @property
    def timestamp_type(self) -> TimestampType:
        return (
            TimestampType.LOG_APPEND_TIME
            if self.attributes & TIMESTAMP_TYPE_FLAG
            else TimestampType.CREATE_TIME
        )

    @property
    def is_transactional(self) -> bool:
        return self.attributes & TRANSACTIONAL_FLAG != 0

    @property
    def is_control(self) -> bool:
        return self.attributes & CONTROL_FLAG != 0

    @property
    def has_delete_horizon(self) -> bool:
        """``base_timestamp`` says when compaction may drop the batch's tombstones (KIP-534)."""
        return self.attributes & DELETE_HORIZON_FLAG != 0

    @property
    def has_producer_id(self) -> bool:
        return self.producer_id >= 0

    @property
    def last_sequence(self) -> int:
        """Sequence of the last record, past 2^31-1 starting over at 0; -1 when there is none."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return (self.base_sequence + self.last_offset_delta) & SEQUENCE_MAX

    @property
    def records(self) -> memoryview:
        """The bytes behind the header, compressed as ``compression`` says."""
        return self.view[HEADER_BYTES:]


def read_batch(buffer: Buffer, position: int = 0) -> Batch:
    """The batch that starts at *position*; its view shares the buffer's memory.

    Sizes and magic are checked, the checksum is not. Raises CorruptBatch when the size is
    impossible or reaches past the buffer, or the magic is not 2.
    """
    view = buffer if type(buffer) is memoryview else memoryview(buffer)
    size_bytes = _whole_size(view, position)
    if size_bytes != len(view):
        view = view[position : position + size_bytes]
    return Batch(view)


def check_crc(batch: Batch) -> None:
    """Return when the batch's bytes match its checksum. Raises CorruptBatch when not."""
    computed = crc32c(batch.view[CRC_START:])
    if computed != batch.crc:
        raise CorruptBatch(f"CRC-32C is {computed:#010x}, the header says {batch.crc:#010x}", 0)


def scan(buffer: Buffer, *, verify_crc: bool, position: int = 0) -> "Scan":
    """Iterate over the whole batches in *buffer* from *position* on.

    A batch that the buffer's end cuts is no error, since fetched slices may be cut: iteration
    stops, ``Scan.position`` is where it begins and ``Scan.is_cut`` is true. Raises CorruptBatch,
    with its position in the buffer, for anything else that is not a batch.
    """
    return Scan(memoryview(buffer), position, verify_crc=verify_crc)


@final
class Scan(Iterator[Batch]):
    """A walk over batches: ``position`` is the end of the last whole batch it gave out."""

    __slots__ = ("_verify_crc", "_view", "position")

    def __init__(self, view: memoryview, position: int, *, verify_crc: bool) -> None:
        self._view = view
        self._verify_crc = verify_crc
        self.position = position

    @property
    def is_cut(self) -> bool:
        """After the end: bytes are left that begin a batch and do not finish it."""
        return self.position < len(self._view)

    def __next__(self) -> Batch:
        view, position = self._view, self.position
        left = len(view) - position
        if left < HEADER_BYTES:
            _check_start(view, position)
            raise StopIteration
        batch_length, _, magic = LENGTH_TO_MAGIC.unpack_from(view, position + 8)
        size_bytes = batch_length + LENGTH_END
        if magic != MAGIC or size_bytes < HEADER_BYTES:
            raise CorruptBatch(header_fault(magic, size_bytes), position)
        if size_bytes > left:
            raise StopIteration
        batch = Batch(view[position : position + size_bytes])
        if self._verify_crc and crc32c(batch.view[CRC_START:]) != batch.crc:
            raise CorruptBatch("its bytes do not match its CRC-32C", position)
        self.position = position + size_bytes
        return batch


def patch(batch: Batch, *, base_offset: int, leader_epoch: int) -> None:
    """Give the batch its place in the log, in its bytes and its attributes.

    Neither field is under the checksum. The batch's memory must be writable and its giver's no
    longer. Raises TypeError when it is read-only.
    """
    view = batch.view
    _INT64.pack_into(view, 0, base_offset)
    _INT32.pack_into(view, LENGTH_END, leader_epoch)
    batch.base_offset = base_offset
    batch.partition_leader_epoch = leader_epoch


def set_log_append_time(batch: Batch, timestamp_ms: int) -> None:
    """Stamp the whole batch with the broker's time: type, maximum and checksum change.

    Single records keep their deltas; a reader of LogAppendTime takes ``max_timestamp`` for each.
    """
    batch.attributes |= TIMESTAMP_TYPE_FLAG
    batch.max_timestamp = timestamp_ms
    _ATTRIBUTES.pack_into(batch.view, CRC_START, batch.attributes)
    _INT64.pack_into(batch.view, 35, timestamp_ms)
    seal(batch)


def set_max_timestamp(batch: Batch, timestamp_ms: int) -> None:
    """Correct the newest timestamp that the header claims; the checksum changes."""
    batch.max_timestamp = timestamp_ms
    _INT64.pack_into(batch.view, 35, timestamp_ms)
    seal(batch)


def seal(batch: Batch) -> None:
    """Write the checksum of the bytes as they are now."""
    batch.crc = crc32c(batch.view[CRC_START:])
    _CRC.pack_into(batch.view, 17, batch.crc)


def _whole_size(view: memoryview, position: int) -> int:
    left = len(view) - position
    if left < HEADER_BYTES:
        _check_start(view, position)
        raise CorruptBatch(f"{left} bytes are left, a header takes {HEADER_BYTES}", position)
    batch_length, _, magic = LENGTH_TO_MAGIC.unpack_from(view, position + 8)
    size_bytes: int = batch_length + LENGTH_END
    if magic != MAGIC or size_bytes < HEADER_BYTES:
        raise CorruptBatch(header_fault(magic, size_bytes), position)
    if size_bytes > left:
        raise CorruptBatch(f"it takes {size_bytes} bytes, only {left} are left", position)
    return size_bytes


def _check_start(view: memoryview, position: int) -> None:
    # Too short for a header, but what is there may already show that no batch begins here.
    if position < 0:
        raise ValueError(f"positions are >= 0, got {position}")
    left = len(view) - position
    if left > 16:
        batch_length, _, magic = LENGTH_TO_MAGIC.unpack_from(view, position + 8)
        if magic != MAGIC or batch_length + LENGTH_END < HEADER_BYTES:
            raise CorruptBatch(header_fault(magic, batch_length + LENGTH_END), position)


def header_fault(magic: int, size_bytes: int) -> str:
    """What is wrong with a header of this magic and size; one of the two is."""
    if magic != MAGIC:
        return f"its magic is {magic}; only record batches of magic 2 are supported"
    return f"its size is {size_bytes} bytes, less than the {HEADER_BYTES} of a header"
