"""New batches in the place of old ones: with fewer records, with none, with a delete horizon.

Pure. Base and last offset, producer, sequence, epoch, timestamp type and codec stay, since
duplicates are recognised by them and consumers go on behind the last offset; the records keep
their offsets, so that deltas have gaps. The maximum timestamp is that of the records left.

A delete horizon (KIP-534) takes the place of the base timestamp, so every record's difference to
it is written anew.
"""

from typing import Final

from ...records.batch import (
    COMPRESSION_MASK,
    DELETE_HORIZON_FLAG,
    HEADER,
    HEADER_BYTES,
    LENGTH_END,
    MAGIC,
    Batch,
    seal,
)
from ...records.compression import Codec, compress
from ...records.record import put_varint, read_varint

_ATTRIBUTES_BYTES: Final = 1


def with_records(
    batch: Batch,
    section: bytes,
    *,
    record_count: int,
    max_timestamp: int,
    delete_horizon_ms: int | None,
) -> bytearray:
    """*batch* with *section*, its records that stay, unpacked; compressed as it was.

    *max_timestamp* is theirs. With *delete_horizon_ms* the batch gets that horizon; None leaves its
    own, if it has one.
    """
    attributes, base_timestamp = batch.attributes, batch.base_timestamp
    if delete_horizon_ms is not None:
        section = _rebased(section, base_timestamp - delete_horizon_ms)
        attributes |= DELETE_HORIZON_FLAG
        base_timestamp = delete_horizon_ms
    return _assemble(
        batch,
        bytes(compress(Codec(batch.compression), section)),
        attributes=attributes,
        base_timestamp=base_timestamp,
        max_timestamp=max_timestamp,
        record_count=record_count,
    )


def without_records(batch: Batch) -> bytearray:
    """The header alone: what is left of a producer's last batch, or of the last one cleaned."""
    return _assemble(
        batch,
        b"",
        attributes=batch.attributes & ~(COMPRESSION_MASK | DELETE_HORIZON_FLAG),
        base_timestamp=batch.max_timestamp,
        max_timestamp=batch.max_timestamp,
        record_count=0,
    )


def _assemble(
    batch: Batch,
    section: bytes,
    *,
    attributes: int,
    base_timestamp: int,
    max_timestamp: int,
    record_count: int,
) -> bytearray:
    data = bytearray(
        HEADER.pack(
            batch.base_offset,
            HEADER_BYTES - LENGTH_END + len(section),
            batch.partition_leader_epoch,
            MAGIC,
            0,
            attributes,
            batch.last_offset_delta,
            base_timestamp,
            max_timestamp,
            batch.producer_id,
            batch.producer_epoch,
            batch.base_sequence,
            record_count,
        )
    )
    data += section
    seal(Batch(memoryview(data)))
    return data


def _rebased(section: bytes, shift_ms: int) -> bytes:
    """The records with *shift_ms* added to each timestamp delta."""
    out, position = bytearray(), 0
    while position < len(section):
        length, start = read_varint(section, position)
        position = start + length
        behind_attributes = start + _ATTRIBUTES_BYTES
        delta, rest = read_varint(section, behind_attributes)
        moved = bytearray()
        put_varint(moved, _int64(delta + shift_ms))
        put_varint(out, _ATTRIBUTES_BYTES + len(moved) + position - rest)
        out += section[start:behind_attributes]
        out += moved
        out += section[rest:position]
    return bytes(out)


def _int64(number: int) -> int:
    """*number* as it wraps around at 64 bits: what a reader adds to the base does so as well."""
    return (number + 2**63) % 2**64 - 2**63
