"""``headwater log``: look into data directories, also while no broker runs."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click

from headwater.service.tables import Column, Row, Shape, json_line, show, table

from ..kernel.ids import id_text
from ..kernel.ports import OpenMode
from ..records.batch import Batch, CorruptBatch
from ..records.compression import Codec, DecompressedTooLarge
from ..records.record import decode_records
from ..storage.fs import OsFileSystem
from ..storage.identity import IdentityUnreadable, decode_topic_id
from ..storage.names import parse_partition_directory
from ..storage.scan import Found, walk_batches

RECORD_BYTES_MAX: Final = 256 * 1024 * 1024
"""What one batch may unpack to on the way to the screen."""
ROWS_AT_ONCE: Final = 500
LOG_SUFFIX: Final = ".log"
SNAPSHOT_SUFFIX: Final = ".checkpoint"

_SEGMENTS: Final = (
    Column(name="partition"),
    Column(name="segment"),
    Column(name="size_bytes", title="SIZE", shape=Shape.BYTES),
    Column(name="batches", shape=Shape.COUNT),
    Column(name="records", shape=Shape.COUNT),
    Column(name="first_offset", title="FIRST"),
    Column(name="last_offset", title="LAST"),
    Column(name="timestamp_ms_max", title="NEWEST", shape=Shape.TIME_MS),
    Column(name="fault"),
)
_BATCHES: Final = (
    Column(name="position"),
    Column(name="first_offset", title="FIRST"),
    Column(name="last_offset", title="LAST"),
    Column(name="records"),
    Column(name="size_bytes", title="SIZE"),
    Column(name="codec"),
    Column(name="timestamp_ms_max", title="NEWEST", shape=Shape.TIME_MS),
    Column(name="leader_epoch", title="EPOCH"),
    Column(name="producer_id", title="PRODUCER"),
    Column(name="base_sequence", title="SEQUENCE"),
    Column(name="kind"),
    Column(name="fault"),
)
_RECORDS: Final = (
    Column(name="offset"),
    Column(name="timestamp_ms", title="TIME", shape=Shape.TIME_MS),
    Column(name="key"),
    Column(name="value"),
    Column(name="headers"),
)


class NotALog(click.ClickException):
    """The path leads to nothing that holds record batches."""


@click.group()
def log() -> None:
    """Data directories: what is in them, and whether it is whole."""


@log.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--batches", "depth", flag_value="batches", help="Every batch.")
@click.option("--records", "depth", flag_value="records", help="Every record.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def dump(path: Path, depth: str | None, as_json: bool) -> None:  # noqa: FBT001 - a flag
    """Show PATH: a data directory, a partition in it, or one segment file.

    Nothing is changed, and checksums are verified. Exit code 1 when something is not whole.
    """
    files = list(_files(path))
    if not files:
        raise NotALog(
            f"{path} holds no segments; give a data directory, a partition directory such as "
            "orders-0, or a .log file"
        )
    is_whole = True
    if depth is None:
        rows = [_segment_row(file) for file in files]
        is_whole = all(row["fault"] is None for row in rows)
        if as_json:
            sys.stdout.writelines(json_line(row) for row in rows)
        else:
            show(rows, _SEGMENTS, as_json=False, out=sys.stdout)
    else:
        for file in files:
            is_whole &= _show_file(file, depth, as_json=as_json)
    if not is_whole:
        raise SystemExit(1)


def _files(path: Path) -> Iterator[Path]:
    """Segment and snapshot files at or below *path*, in order of partition and offset."""
    if path.is_file():
        yield path
        return
    own = sorted(entry for entry in path.iterdir() if entry.suffix in (LOG_SUFFIX, SNAPSHOT_SUFFIX))
    yield from (entry for entry in own if entry.stem[:20].isdigit())
    for entry in sorted(path.iterdir()):
        if entry.is_dir() and parse_partition_directory(entry.name) is not None:
            yield from _files(entry)


def _walk(path: Path) -> Iterator[Found]:
    """The batches of one file; the last one carries the fault where the file is cut."""
    file = OsFileSystem().open(str(path), OpenMode.READ)
    try:
        yield from walk_batches(file, 0, file.size())
    finally:
        file.close()


def _segment_row(path: Path) -> dict[str, Any]:
    row: dict[str, Any] = {
        "partition": path.parent.name,
        "topic_id": _topic_id(path.parent),
        "segment": path.name,
        "size_bytes": path.stat().st_size,
        "batches": 0,
        "records": 0,
        "first_offset": None,
        "last_offset": None,
        "timestamp_ms_max": -1,
        "fault": None,
    }
    try:
        for found in _walk(path):
            batch = found.batch
            row["batches"] += 1
            row["records"] += batch.record_count
            if row["first_offset"] is None:
                row["first_offset"] = batch.base_offset
            row["last_offset"] = batch.last_offset
            row["timestamp_ms_max"] = max(row["timestamp_ms_max"], batch.max_timestamp)
            if found.fault is not None and row["fault"] is None:
                row["fault"] = f"at byte {found.position}: {found.fault}"
    except CorruptBatch as error:
        row["fault"] = row["fault"] or str(error)
    return row


def _topic_id(directory: Path) -> str | None:
    try:
        return id_text(decode_topic_id((directory / "partition.metadata").read_bytes()))
    except (OSError, IdentityUnreadable, ValueError):
        return None


def _show_file(path: Path, depth: str, *, as_json: bool) -> bool:
    """Print one file's batches or records; whether all of it was whole."""
    printer = _Printer(path, _BATCHES if depth == "batches" else _RECORDS, as_json=as_json)
    is_whole = True
    try:
        for found in _walk(path):
            if found.fault is not None:
                is_whole = False
            if depth == "batches":
                printer.add(_batch_row(found))
            elif found.fault is None:
                for row in _record_rows(found.batch):
                    printer.add(row)
    except CorruptBatch as error:
        is_whole = False
        click.echo(f"{path}: {error}", err=True)
    printer.flush()
    return is_whole


class _Printer:
    """Rows of one file, some hundred at a time: a segment may hold millions."""

    def __init__(self, path: Path, columns: tuple[Column, ...], *, as_json: bool) -> None:
        self._columns = columns
        self._as_json = as_json
        self._file = f"{path.parent.name}/{path.name}"
        self._rows: list[Row] = []
        if not as_json:
            click.echo(f"\n{self._file}")

    def add(self, row: Row) -> None:
        self._rows.append({"file": self._file, **row} if self._as_json else row)
        if len(self._rows) >= ROWS_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        rows, self._rows = self._rows, []
        if self._as_json:
            sys.stdout.writelines(json_line(row) for row in rows)
        elif rows:
            sys.stdout.write(table(rows, self._columns))


def _batch_row(found: Found) -> Row:
    batch = found.batch
    kinds = [
        name
        for name, holds in (
            ("transactional", batch.is_transactional),
            ("control", batch.is_control),
        )
        if holds
    ]
    try:
        codec = Codec(batch.compression).name.lower()
    except ValueError:
        codec = f"unknown ({batch.compression})"
    return {
        "position": found.position,
        "first_offset": batch.base_offset,
        "last_offset": batch.last_offset,
        "records": batch.record_count,
        "size_bytes": batch.size_bytes,
        "codec": codec,
        "timestamp_ms_max": batch.max_timestamp,
        "leader_epoch": batch.partition_leader_epoch,
        "producer_id": batch.producer_id if batch.producer_id >= 0 else None,
        "base_sequence": batch.base_sequence if batch.base_sequence >= 0 else None,
        "kind": " ".join(kinds) or None,
        "fault": found.fault,
    }


def _record_rows(batch: Batch) -> Iterator[Row]:
    try:
        records = decode_records(batch, bytes_max=RECORD_BYTES_MAX)
    except (CorruptBatch, DecompressedTooLarge) as error:
        click.echo(f"batch at offset {batch.base_offset} cannot be opened: {error}", err=True)
        return
    for record in records:
        yield {
            "offset": record.offset,
            "timestamp_ms": record.timestamp_ms,
            "key": record.key,
            "value": record.value,
            "headers": dict(record.headers) or None,
        }
