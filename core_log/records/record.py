"""Single records: read out of a batch when somebody must, and written into a new one.

Pure.
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import msgspec

from ..kernel.ids import NO_LEADER_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE
from .batch import Batch, TimestampType
from .compression import Codec

Headers: TypeAlias = tuple[tuple[str, bytes | None], ...]


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


def decode_records(batch: Batch, *, bytes_max: int) -> list[Record]:
    """All records of a batch, oldest first.

    *bytes_max* bounds what a compressed batch may unpack to. Raises CorruptBatch when the records
    are not what the header promises, DecompressedTooLarge beyond the bound.
    """
    raise NotImplementedError


def record_times(batch: Batch, *, bytes_max: int) -> Iterator[tuple[int, int]]:
    """(offset, timestamp) of each record, for time lookup; keys and values are passed over."""
    raise NotImplementedError


def build_batch(  # noqa: PLR0913 - each names a field of the header
    records: Sequence[NewRecord],
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
) -> bytearray:
    """A whole batch with its checksum. Raises ValueError without records."""
    raise NotImplementedError
