"""Metadata snapshots: their file names, what is in them, and how one is read.

Pure. A snapshot ``<end offset, 20 digits>-<epoch, 10 digits>.checkpoint`` stands for the log below
its end offset (KIP-630). It is a run of record batches with offsets of its own from 0::

    [control: snapshot header, then KRaft version and voters where the log carries them]
    [records]…
    [control: snapshot footer]

A file without its footer, or with a batch whose checksum fails, is no snapshot. ``bootstrap.
checkpoint``, with which Kafka formats a directory, has the same form.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from ..kernel.ports import Buffer
from ..protocol.codec import decode, encode
from ..protocol.coordinator.kraft_version_record import KRaftVersionRecord
from ..protocol.coordinator.snapshot_footer_record import SnapshotFooterRecord
from ..protocol.coordinator.snapshot_header_record import SnapshotHeaderRecord
from ..protocol.coordinator.voters_record import VotersRecord
from ..protocol.errors import DecodeError
from ..records.batch import Batch, CorruptBatch, scan
from ..records.control import ControlRecord, ControlType, build_control_batch, read_control
from ..records.record import NewRecord, build_batch, decode_records

SUFFIX: Final = ".checkpoint"
PART_SUFFIX: Final = ".checkpoint.part"
BATCH_BYTES: Final = 256 * 1024
"""Size at which a snapshot's next batch begins; small enough to write without a pause."""
BATCH_BYTES_MAX: Final = 64 * 1024 * 1024
"""The most a batch of a snapshot or metadata log may unpack to."""

_NAME: Final = re.compile(r"([0-9]{20})-([0-9]{10})\.checkpoint")


@dataclass(frozen=True, slots=True, order=True)
class SnapshotId:
    """Which log a snapshot stands for: everything below *end_offset*, last written in *epoch*."""

    end_offset: int
    epoch: int

    @property
    def file_name(self) -> str:
        return f"{self.end_offset:020d}-{self.epoch:010d}{SUFFIX}"

    @classmethod
    def parse(cls, file_name: str) -> "SnapshotId | None":
        """The id in a file name; None for other files."""
        match = _NAME.fullmatch(file_name)
        return cls(int(match[1]), int(match[2])) if match else None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumRecords:
    """What control records of a log or a snapshot say about the quorum itself."""

    kraft_version: int = 0
    voters: VotersRecord | None = None

    def after(self, controls: Iterable[ControlRecord]) -> "QuorumRecords":
        """The same with later control records taken over. Raises DecodeError."""
        kraft_version, voters = self.kraft_version, self.voters
        for control in controls:
            if control.type == ControlType.KRAFT_VERSION:
                kraft_version = decode(KRaftVersionRecord, 0, control.value).kraft_version
            elif control.type == ControlType.KRAFT_VOTERS:
                voters = decode(VotersRecord, 0, control.value)
        return QuorumRecords(kraft_version=kraft_version, voters=voters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A snapshot that has been read and found whole."""

    records: tuple[bytes, ...]
    timestamp_ms: int
    """Of the last record in the log it stands for."""
    quorum: QuorumRecords


def snapshot_batches(
    records: Iterable[bytes], *, epoch: int, timestamp_ms: int, quorum: QuorumRecords
) -> Iterator[bytearray]:
    """The file, batch by batch."""
    head = [
        (
            ControlType.SNAPSHOT_HEADER,
            encode(SnapshotHeaderRecord(last_contained_log_timestamp=timestamp_ms), 0),
        )
    ]
    if quorum.kraft_version:
        version = KRaftVersionRecord(kraft_version=quorum.kraft_version)
        head.append((ControlType.KRAFT_VERSION, encode(version, 0)))
        if quorum.voters is not None:
            head.append((ControlType.KRAFT_VOTERS, encode(quorum.voters, 0)))
    yield build_control_batch(head, timestamp_ms=timestamp_ms, base_offset=0, leader_epoch=epoch)
    offset = len(head)
    for group in _grouped(records):
        yield build_batch(
            [NewRecord(timestamp_ms=timestamp_ms, value=record) for record in group],
            base_offset=offset,
            leader_epoch=epoch,
        )
        offset += len(group)
    footer = (ControlType.SNAPSHOT_FOOTER, encode(SnapshotFooterRecord(), 0))
    yield build_control_batch(
        [footer], timestamp_ms=timestamp_ms, base_offset=offset, leader_epoch=epoch
    )


def read_snapshot(data: Buffer) -> Snapshot:
    """What the file holds. Raises ValueError saying why it is no whole snapshot."""
    records: list[bytes] = []
    controls: list[ControlRecord] = []
    is_whole = False
    try:
        batches = scan(data, verify_crc=True)
        for batch in batches:
            if is_whole:
                raise ValueError("there are batches behind its footer")
            if batch.is_control:
                controls.extend(read_control(batch))
                if controls[0].type != ControlType.SNAPSHOT_HEADER:
                    raise ValueError("it does not begin with a snapshot header")
                is_whole = controls[-1].type == ControlType.SNAPSHOT_FOOTER
            else:
                records.extend(batch_values(batch))
        if batches.is_cut or not is_whole:
            raise ValueError("it ends before its footer")
        header = decode(SnapshotHeaderRecord, 0, controls[0].value)
        quorum = QuorumRecords().after(controls)
    except (CorruptBatch, DecodeError) as error:
        raise ValueError(str(error)) from error
    return Snapshot(
        records=tuple(records),
        timestamp_ms=header.last_contained_log_timestamp,
        quorum=quorum,
    )


def batch_values(batch: Batch) -> list[bytes]:
    """The values of a batch of metadata records. Raises CorruptBatch."""
    return [record.value or b"" for record in decode_records(batch, bytes_max=BATCH_BYTES_MAX)]


def _grouped(records: Iterable[bytes]) -> Iterator[list[bytes]]:
    group: list[bytes] = []
    size_bytes = 0
    for record in records:
        group.append(record)
        size_bytes += len(record)
        if size_bytes >= BATCH_BYTES:
            yield group
            group, size_bytes = [], 0
    if group:
        yield group
