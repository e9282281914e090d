"""Rows for people and for machines: an aligned table, or JSON with every value in full.

Every command that lists something declares its columns once and calls ``show``. Tables escape
control characters, because names in them come from other people; JSON is UTF-8, names as the
columns say, whole numbers whole.
"""

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Final, TextIO, TypeAlias

from .places import escaped

Row: TypeAlias = Mapping[str, Any]
"""One value per column name. None is "not known" and shows as ``-``."""

_GAP: Final = "  "
_BINARY_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_STEP: Final = 1024


class Shape(Enum):
    """How a column's values look in a table; JSON always has the plain value."""

    PLAIN = "plain"
    BYTES = "bytes"
    """A size: ``1.2 GiB``."""
    COUNT = "count"
    """A number with separators: ``336,776``."""
    TIME_MS = "time_ms"
    """Milliseconds since the epoch, as UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column. *name* is the key in rows and in JSON, *title* the heading."""

    name: str
    title: str = ""
    shape: Shape = Shape.PLAIN

    @property
    def heading(self) -> str:
        """The title, or the name in capitals, as Unix tools have it."""
        return self.title or self.name.replace("_", " ").upper()


def columns(*names: str) -> tuple[Column, ...]:
    """Plain columns of these names."""
    return tuple(Column(name=name) for name in names)


def show(
    rows: Iterable[Row],
    shown_columns: Sequence[Column],
    *,
    as_json: bool,
    out: TextIO,
    empty: str = "",
) -> None:
    """Write rows to *out*: a table, or a JSON array. *empty* is said for a table without rows."""
    listed = list(rows)
    if as_json:
        names = [column.name for column in shown_columns]
        document = [{name: row.get(name) for name in names} for row in listed]
        out.write(json.dumps(document, indent=2, ensure_ascii=False, default=_plain) + "\n")
    elif listed or not empty:
        out.write(table(listed, shown_columns))
    else:
        out.write(empty + "\n")


def table(rows: Iterable[Row], shown_columns: Sequence[Column]) -> str:
    """Lines of a table with headings, each ended by a newline. Numbers stand to the right."""
    listed = list(rows)
    cells = [[cell(row.get(c.name), c.shape) for c in shown_columns] for row in listed]
    is_right = [_is_numeric(listed, column) for column in shown_columns]
    headings = [column.heading for column in shown_columns]
    widths = [max(map(_width, texts)) for texts in zip(headings, *cells, strict=True)]
    lines = [_line(texts, widths, is_right) for texts in [headings, *cells]]
    return "".join(line.rstrip() + "\n" for line in lines)


def details(row: Row, shown_columns: Sequence[Column]) -> str:
    """One row upright: a name and a value on each line, for ``describe`` commands."""
    width = max((len(column.heading) for column in shown_columns), default=0)
    lines = [
        f"{column.heading:<{width}}{_GAP}{cell(row.get(column.name), column.shape)}"
        for column in shown_columns
    ]
    return "".join(line.rstrip() + "\n" for line in lines)


def json_line(row: Row) -> str:
    """*row* as one line of JSON with its newline, for commands that stream."""
    return json.dumps(dict(row), ensure_ascii=False, default=_plain) + "\n"


def cell(value: object, shape: Shape = Shape.PLAIN) -> str:
    """*value* as a table shows it, on one line and safe for a terminal."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and shape is not Shape.PLAIN:
        return _SHAPES[shape](value)
    if isinstance(value, list | tuple | set | frozenset):
        return ",".join(cell(entry) for entry in value)
    if isinstance(value, Mapping):
        return ",".join(f"{cell(name)}={cell(entry)}" for name, entry in value.items())
    if isinstance(value, bytes):
        return escaped(value.decode("utf-8", "backslashreplace"))
    return escaped(str(_plain(value) if isinstance(value, Enum) else value))


def bytes_text(size_bytes: int) -> str:
    """A size to three digits or so: ``0 B``, ``999 B``, ``1.2 GiB``."""
    size, unit = float(size_bytes), 0
    while abs(size) >= _STEP and unit < len(_BINARY_UNITS) - 1:
        size, unit = size / _STEP, unit + 1
    digits = 0 if unit == 0 or abs(size) >= 100 else 1
    return f"{size:.{digits}f} {_BINARY_UNITS[unit]}"


def time_text(time_ms: int) -> str:
    """A moment as ``2013-01-01T05:00:00.000Z``; negative ones, Kafka's "none", as ``-``."""
    if time_ms < 0:
        return "-"
    try:
        moment = datetime.fromtimestamp(time_ms // 1000, UTC)
    except (OverflowError, ValueError, OSError):  # a client's own idea of time: not a year we have
        return str(time_ms)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{time_ms % 1000:03d}Z"


_SHAPES: Final = {
    Shape.BYTES: bytes_text,
    Shape.COUNT: "{:,}".format,
    Shape.TIME_MS: time_text,
}


def _line(texts: Sequence[str], widths: Sequence[int], is_right: Sequence[bool]) -> str:
    padded = []
    for text, width, right in zip(texts, widths, is_right, strict=True):
        padding = " " * (width - _width(text))
        padded.append(padding + text if right else text + padding)
    return _GAP.join(padded)


def _is_numeric(rows: Sequence[Row], column: Column) -> bool:
    values = [row.get(column.name) for row in rows]
    known = [value for value in values if value is not None]
    return bool(known) and all(type(value) in (int, float) for value in known)


def _width(text: str) -> int:
    """Columns of a terminal that *text* takes: wide East Asian characters two, accents none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )


def _plain(value: object) -> Any:
    """What JSON takes in place of *value*; bytes as UTF-8 with escapes for the rest."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, Mapping):
        return dict(value)
    return str(value)
