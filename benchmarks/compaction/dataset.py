"""A partition's segment files, written directly, and the dictionary that must survive. A shell.

Batches are made from one template: only offset, keys and the head of each value change, so ten
million records take seconds. Both systems get the same bytes.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from headwater.core_log.records.batch import HEADER_BYTES, Batch, patch, scan, seal
from headwater.core_log.records.batch_columns import read_batches, unpack_sections
from headwater.core_log.records.columns import decode_columns
from headwater.core_log.records.compression import Codec, compress
from headwater.core_log.records.record import NewRecord, build_batch, decode_records
from headwater.core_log.storage import names
from headwater.core_log.storage.compaction.job import SourceSegment

SENTINEL: Final = b"the active segment"
"""Key of the last record: cleaners leave the active segment alone, so it has one of its own."""

DIGITS: Final = 10
"""Of keys, and of the offset that a value begins with."""

_SEED: Final = 20_26


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What the topic holds. Values are random bytes behind their offset, so they do not shrink."""

    record_count: int = 10_000_000
    key_count: int = 100_000
    value_bytes: int = 100
    batch_records: int = 140
    codec: Codec = Codec.NONE
    segment_bytes: int = 256 * 1024 * 1024

    @property
    def batch_count(self) -> int:
        return self.record_count // self.batch_records


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """The files, and each key's last offset."""

    directory: Path
    segments: tuple[SourceSegment, ...]
    """Without the active one."""
    last_offsets: NDArray[np.int64]
    """By number of the key; -1 for one that was never drawn."""

    @property
    def size_bytes(self) -> int:
        return sum(segment.size_bytes for segment in self.segments)

    @property
    def end_offset(self) -> int:
        return self.segments[-1].end_offset

    @property
    def cleaned_bytes_max(self) -> int:
        """What a cleaned log takes at most: each survivor in a batch of its own, and some."""
        record_bytes = self.size_bytes / self.end_offset
        return int(len(self.last_offsets) * (record_bytes + HEADER_BYTES)) + 4096

    def link_into(self, partition: Path) -> None:
        """Have the files, and nothing else that belongs to a segment, in *partition*."""
        for path in partition.iterdir():
            if path.suffix in {*names.SEGMENT_SUFFIXES, names.SNAPSHOT}:
                path.unlink()
        for path in self.directory.glob("*" + names.LOG):
            os.link(path, partition / path.name)


class WrongSurvivors(Exception):
    """A cleaned log is not the dictionary; the message says where."""


def write(directory: Path, shape: Shape) -> DataSet:
    """Write the files into *directory*, which is made."""
    directory.mkdir(parents=True)
    dice = np.random.default_rng(_SEED)
    last_offsets = np.full(shape.key_count, -1, np.int64)
    segments: list[SourceSegment] = []
    base, offset = 0, 0
    for count in _batches_per_segment(shape):
        path = directory / names.offset_name(base, names.LOG)
        with path.open("wb", buffering=1 << 20) as file:
            for _ in range(count):
                keys = dice.integers(0, shape.key_count, shape.batch_records)
                last_offsets[keys] = np.arange(offset, offset + shape.batch_records)
                file.write(_TEMPLATES.batch(shape, keys, offset))
                offset += shape.batch_records
        segments.append(
            SourceSegment(
                base_offset=base,
                end_offset=offset,
                size_bytes=path.stat().st_size,
            )
        )
        base = offset
    active = build_batch([NewRecord(timestamp_ms=_TIMESTAMP_MS, key=SENTINEL)], base_offset=offset)
    patch(Batch(memoryview(active)), base_offset=offset, leader_epoch=0)
    (directory / names.offset_name(offset, names.LOG)).write_bytes(active)
    return DataSet(directory=directory, segments=tuple(segments), last_offsets=last_offsets)


def check_survivors(files: Iterator[Path], data_set: DataSet) -> int:
    """Bytes of the cleaned *files*, which hold each key's last record and nothing else.

    Raises WrongSurvivors.
    """
    found = np.full(len(data_set.last_offsets), -1, np.int64)
    size_bytes = 0
    for path in files:
        data = path.read_bytes()
        for batch in scan(data, verify_crc=True):
            for record in decode_records(batch, bytes_max=1 << 30):
                if record.key == SENTINEL:
                    continue
                assert record.key is not None
                number = int(record.key)
                if found[number] >= 0:
                    raise WrongSurvivors(f"key {number} stands twice, in {path} again")
                found[number] = record.offset
                if record.value is None or int(record.value[:DIGITS]) != record.offset:
                    raise WrongSurvivors(f"offset {record.offset} has another record's value")
        size_bytes += len(data)
    if not (found == data_set.last_offsets).all():
        number = int(np.argmax(found != data_set.last_offsets))
        raise WrongSurvivors(
            f"key {number} stands at {found[number]}, not {data_set.last_offsets[number]}"
        )
    return size_bytes


_TIMESTAMP_MS: Final = 1_780_000_000_000


def _batches_per_segment(shape: Shape) -> Iterator[int]:
    left = shape.batch_count
    sample = len(_TEMPLATES.batch(shape, np.zeros(shape.batch_records, np.int64), 0))
    each = max(1, shape.segment_bytes // sample)
    while left:
        yield min(each, left)
        left -= min(each, left)


class _Template:
    """A batch's uncompressed bytes, and where the digits of its keys and values are."""

    def __init__(self, shape: Shape) -> None:
        dice = np.random.default_rng(_SEED)
        self.data = build_batch(
            [
                NewRecord(
                    timestamp_ms=_TIMESTAMP_MS + index,
                    key=b"0" * DIGITS,
                    value=b"0" * DIGITS + dice.bytes(shape.value_bytes - DIGITS),
                )
                for index in range(shape.batch_records)
            ]
        )
        found = read_batches(self.data, verify_crc=True)
        (sections,) = unpack_sections(
            found, np.arange(1), batch_bytes_max=1 << 30, total_bytes_max=1
        )
        records = decode_columns(found, sections)
        places = np.arange(DIGITS)
        self.keys = records.key_starts[:, np.newaxis] + places
        self.values = records.value_starts[:, np.newaxis] + places
        self.powers = 10 ** np.arange(DIGITS - 1, -1, -1)


class _Templates:
    def __init__(self) -> None:
        self._known: dict[tuple[int, int], _Template] = {}

    def batch(self, shape: Shape, keys: NDArray[np.int64], base_offset: int) -> bytes:
        known = self._known.get((shape.batch_records, shape.value_bytes))
        if known is None:
            known = self._known[shape.batch_records, shape.value_bytes] = _Template(shape)
        raw = np.frombuffer(known.data, np.uint8).copy()
        offsets = np.arange(base_offset, base_offset + shape.batch_records)
        raw[known.keys] = keys[:, np.newaxis] // known.powers % 10 + ord("0")
        raw[known.values] = offsets[:, np.newaxis] // known.powers % 10 + ord("0")
        data = bytearray(raw.tobytes())
        if shape.codec is not Codec.NONE:
            section = compress(shape.codec, memoryview(data)[HEADER_BYTES:])
            del data[HEADER_BYTES:]
            data += section
            data[8:12] = (len(data) - 12).to_bytes(4, "big")
            data[21:23] = int(shape.codec).to_bytes(2, "big")
        batch = Batch(memoryview(data))
        patch(batch, base_offset=base_offset, leader_epoch=0)
        seal(batch)
        return bytes(data)


_TEMPLATES: Final = _Templates()
