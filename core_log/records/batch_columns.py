"""The headers of many batches as columns, and their records unpacked, for ``columns``.

Pure. Finding the batches and verifying their checksums goes one by one; everything else by numpy.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from crc32c import crc32c
from numpy.lib.stride_tricks import sliding_window_view

from ..kernel.ports import Buffer
from .batch import (
    COMPRESSION_MASK,
    CRC_START,
    HEADER_BYTES,
    LENGTH_END,
    LENGTH_TO_MAGIC,
    MAGIC,
    CorruptBatch,
    header_fault,
)
from .compression import CorruptCompression, DecompressedTooLarge, decompress
from .varints import Bytes, Ints

_HEADER: Final = np.dtype(
    {
        "names": [
            "base_offset",
            "batch_length",
            "attributes",
            "last_offset_delta",
            "base_timestamp",
            "max_timestamp",
            "producer_id",
            "producer_epoch",
            "record_count",
        ],
        "formats": [">i8", ">i4", ">i2", ">i4", ">i8", ">i8", ">i8", ">i2", ">i4"],
        "offsets": [0, 8, 21, 23, 27, 35, 43, 51, 57],
        "itemsize": HEADER_BYTES,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BatchColumns:
    """The headers of whole batches, one behind the other in ``data``; an entry each."""

    data: memoryview
    starts: Ints
    ends: Ints
    base_offsets: Ints
    last_offsets: Ints
    attributes: Ints
    base_timestamps: Ints
    max_timestamps: Ints
    producer_ids: Ints
    producer_epochs: Ints
    record_counts: Ints

    def __len__(self) -> int:
        return len(self.starts)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sections:
    """The records of some batches, without compression: bytes [starts, ends) of ``data``."""

    data: Bytes
    starts: Ints
    ends: Ints
    batches: Ints
    """Which entries of the BatchColumns they are."""


def read_batches(data: Buffer, *, verify_crc: bool) -> BatchColumns:
    """The whole batches in *data* from its first byte on; a batch that its end cuts is left out.

    Raises CorruptBatch, with its position, for what is not a batch or has a wrong checksum.
    """
    view = memoryview(data)
    starts: list[int] = []
    position, end = 0, len(view)
    unpack = LENGTH_TO_MAGIC.unpack_from
    while end - position >= HEADER_BYTES:
        batch_length, _, magic = unpack(view, position + 8)
        size_bytes = batch_length + LENGTH_END
        if magic != MAGIC or size_bytes < HEADER_BYTES:
            raise CorruptBatch(header_fault(magic, size_bytes), position)
        if size_bytes > end - position:
            break
        next_position = position + size_bytes
        if verify_crc and crc32c(view[position + CRC_START : next_position]) != int.from_bytes(
            view[position + 17 : position + CRC_START], "big"
        ):
            raise CorruptBatch("its bytes do not match its CRC-32C", position)
        starts.append(position)
        position = next_position
    return _header_columns(view, np.array(starts, np.int64))


def unpack_sections(
    batches: BatchColumns, which: Ints, *, batch_bytes_max: int, total_bytes_max: int
) -> Iterator[Sections]:
    """The records' bytes of the entries *which* of *batches*, in order, in portions.

    Uncompressed ones stay where they are. Of compressed ones a portion unpacks to about
    *total_bytes_max*, a single batch to *batch_bytes_max* at most. Raises CorruptBatch when one
    does not unpack, or not within that bound.
    """
    starts, ends = batches.starts[which] + HEADER_BYTES, batches.ends[which]
    codecs = batches.attributes[which] & COMPRESSION_MASK
    if not codecs.any():
        data = np.frombuffer(batches.data, np.uint8)
        yield Sections(data=data, starts=starts, ends=ends, batches=which)
        return
    parts: list[Buffer] = []
    total_bytes, first = 0, 0
    for index, (codec, start, end) in enumerate(
        zip(codecs.tolist(), starts.tolist(), ends.tolist(), strict=True)
    ):
        try:
            part = decompress(codec, batches.data[start:end], bytes_max=batch_bytes_max)
        except (CorruptCompression, DecompressedTooLarge) as error:
            raise CorruptBatch(str(error), start - HEADER_BYTES) from error
        if parts and total_bytes + len(part) > total_bytes_max:
            yield _joined(parts, which[first:index])
            parts, total_bytes, first = [], 0, index
        parts.append(part)
        total_bytes += len(part)
    yield _joined(parts, which[first:])


def _joined(parts: list[Buffer], batches: Ints) -> Sections:
    ends = np.cumsum([len(part) for part in parts])
    starts = np.concatenate(([0], ends[:-1]))
    data = np.frombuffer(b"".join(parts), np.uint8)
    return Sections(data=data, starts=starts, ends=ends, batches=batches)


def _header_columns(view: memoryview, starts: Ints) -> BatchColumns:
    if not len(starts):
        rows = np.empty(0, _HEADER)
    else:
        windows = sliding_window_view(np.frombuffer(view, np.uint8), HEADER_BYTES)
        rows = windows[starts].view(_HEADER)[:, 0]

    def column(name: str) -> Ints:
        return rows[name].astype(np.int64)

    base_offsets = column("base_offset")
    return BatchColumns(
        data=view,
        starts=starts,
        ends=starts + column("batch_length") + LENGTH_END,
        base_offsets=base_offsets,
        last_offsets=base_offsets + column("last_offset_delta"),
        attributes=column("attributes"),
        base_timestamps=column("base_timestamp"),
        max_timestamps=column("max_timestamp"),
        producer_ids=column("producer_id"),
        producer_epochs=column("producer_epoch"),
        record_counts=column("record_count"),
    )
