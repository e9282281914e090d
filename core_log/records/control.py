"""Control batches: what coordinators and the raft layer write between the users' records.

Pure. A control batch holds records that clients skip; the key says what one is, and newer readers
must take keys that have grown::

    key    [2 version][2 type][...]
    value  a message of its own; for transaction markers [2 version][4 coordinator_epoch][...]

Big-endian, version 0 today. Transaction markers came with KIP-98, leader change with KIP-595,
snapshot header and footer with KIP-630, KRaft version and voters with KIP-853. The values of the
latter are messages of ``protocol`` and pass through here as bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from struct import Struct
from typing import Final

from ..kernel.ids import NO_LEADER_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from .batch import Batch, CorruptBatch
from .record import NewRecord, build_batch, decode_records

KEY_VERSION: Final = 0
MARKER_VERSION: Final = 0
CONTROL_BYTES_MAX: Final = 2**20
"""Control records are tens of bytes; the widest, a list of voters, is some kilobytes."""

_KEY: Final = Struct(">hh")
_MARKER: Final = Struct(">hi")


class ControlType(IntEnum):
    """What a control record says."""

    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRecord:
    """One control record; ``type`` is a bare number when we know no such type."""

    offset: int
    timestamp_ms: int
    type: ControlType | int
    value: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTxnMarker:
    """The end of a transaction in one partition; ``type`` is ABORT or COMMIT."""

    type: ControlType
    coordinator_epoch: int


def read_control(batch: Batch) -> list[ControlRecord]:
    """The records of a control batch. Raises CorruptBatch when it is none or cannot be read."""
    if not batch.is_control:
        raise CorruptBatch("it is not a control batch", 0)
    controls: list[ControlRecord] = []
    for record in decode_records(batch, bytes_max=CONTROL_BYTES_MAX):
        if record.key is None or len(record.key) < _KEY.size:
            raise CorruptBatch(f"control record {record.offset} has no whole key", 0)
        version, number = _KEY.unpack_from(record.key)
        if version < KEY_VERSION:
            raise CorruptBatch(f"control record {record.offset} has key version {version}", 0)
        controls.append(
            ControlRecord(
                offset=record.offset,
                timestamp_ms=record.timestamp_ms,
                type=_TYPES.get(number, number),
                value=record.value or b"",
            )
        )
    return controls


def read_end_txn_marker(batch: Batch) -> EndTxnMarker:
    """The transaction marker in a control batch. Raises CorruptBatch when it holds none."""
    control = next(iter(read_control(batch)), None)
    if control is None or control.type not in (ControlType.ABORT, ControlType.COMMIT):
        raise CorruptBatch("a producer's control batch holds no transaction marker", 0)
    if len(control.value) < _MARKER.size:
        raise CorruptBatch(f"a transaction marker of {len(control.value)} bytes is cut", 0)
    _, coordinator_epoch = _MARKER.unpack_from(control.value)
    return EndTxnMarker(type=ControlType(control.type), coordinator_epoch=coordinator_epoch)


def build_control_batch(
    records: Sequence[tuple[ControlType, bytes]],
    *,
    timestamp_ms: int,
    base_offset: int = 0,
    leader_epoch: int = NO_LEADER_EPOCH,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    is_transactional: bool = False,
) -> bytearray:
    """A control batch of (type, value) records, never compressed."""
    return build_batch(
        [
            NewRecord(timestamp_ms=timestamp_ms, key=_KEY.pack(KEY_VERSION, control), value=value)
            for control, value in records
        ],
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        is_transactional=is_transactional,
        is_control=True,
    )


def build_end_txn_batch(
    marker: EndTxnMarker,
    *,
    producer_id: int,
    producer_epoch: int,
    timestamp_ms: int,
    base_offset: int = 0,
    leader_epoch: int = NO_LEADER_EPOCH,
) -> bytearray:
    """The batch by which a coordinator ends a producer's transaction in a partition."""
    return build_control_batch(
        [(marker.type, _MARKER.pack(MARKER_VERSION, marker.coordinator_epoch))],
        timestamp_ms=timestamp_ms,
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        is_transactional=True,
    )


_TYPES: Final = {int(control): control for control in ControlType}
