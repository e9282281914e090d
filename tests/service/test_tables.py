"""The same rows for people and for machines."""

import io
import json
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.service.tables import (
    Column,
    Shape,
    bytes_text,
    cell,
    columns,
    details,
    json_line,
    show,
    table,
    time_text,
)


class Colour(Enum):
    RED = "red"


COLUMNS = (
    Column(name="topic"),
    Column(name="size_bytes", title="SIZE", shape=Shape.BYTES),
    Column(name="records", shape=Shape.COUNT),
    Column(name="leader"),
)
ROWS: list[dict[str, Any]] = [
    {"topic": "orders", "size_bytes": 1234567, "records": 336776, "leader": 1},
    {"topic": "地名", "size_bytes": 0, "records": 5, "leader": None},
]


def shown(rows: list[dict[str, Any]], *, as_json: bool, empty: str = "") -> str:
    out = io.StringIO()
    show(rows, COLUMNS, as_json=as_json, out=out, empty=empty)
    return out.getvalue()


def test_a_table_is_aligned() -> None:
    """Text to the left, numbers to the right, wide characters counted as two."""
    assert shown(ROWS, as_json=False) == (
        "TOPIC      SIZE  RECORDS  LEADER\n"
        "orders  1.2 MiB  336,776       1\n"
        "地名        0 B        5       -\n"
    )


def test_widths_are_those_of_a_terminal() -> None:
    """Full-width letters take two columns, a combining accent none."""
    rows = [{"a": text, "b": "|"} for text in ("\uff21\uff22", "abcd", "ae\u0301cd")]
    lines = table(rows, columns("a", "b")).splitlines()
    assert lines == ["A     B", "\uff21\uff22  |", "abcd  |", "ae\u0301cd  |"]


def test_json_has_the_plain_values() -> None:
    """Whole numbers, null for what is not known, names as declared, nothing else."""
    extra = [{**row, "inner": 1} for row in ROWS]
    assert json.loads(shown(extra, as_json=True)) == ROWS
    assert "地名" in shown(ROWS, as_json=True)


def test_no_rows_are_said_in_words_or_as_an_empty_array() -> None:
    """A person reads a sentence, a machine an array; without a sentence, the headings."""
    assert shown([], as_json=False, empty="no topics") == "no topics\n"
    assert shown([], as_json=True, empty="no topics") == "[]\n"
    assert shown([], as_json=False) == "TOPIC  SIZE  RECORDS  LEADER\n"


@pytest.mark.parametrize(
    ("value", "shape", "text"),
    [
        (None, Shape.BYTES, "-"),
        (True, Shape.COUNT, "yes"),
        (False, Shape.PLAIN, "no"),
        (1234, Shape.PLAIN, "1234"),
        (1234, Shape.COUNT, "1,234"),
        (0.5, Shape.PLAIN, "0.5"),
        ([1, None, "a"], Shape.PLAIN, "1,-,a"),
        ({"a": 1}, Shape.PLAIN, "a=1"),
        (b"\xff\x00a", Shape.PLAIN, "\\xff\\x00a"),
        (Colour.RED, Shape.PLAIN, "red"),
        ("a\x1b[2J\nb", Shape.PLAIN, "a\\x1b[2J\\nb"),
        ({"a\n": ["\r"]}, Shape.PLAIN, "a\\n=\\r"),
        ("text", Shape.BYTES, "text"),
    ],
)
def test_cells(value: object, shape: Shape, text: str) -> None:
    """One line, safe for a terminal, whatever the value."""
    assert cell(value, shape) == text


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1024 * 150, "150 KiB"),
        (1024**3, "1.0 GiB"),
        (-2048, "-2.0 KiB"),
        (1024**7, "1048576 PiB"),
    ],
)
def test_sizes(size_bytes: int, text: str) -> None:
    """Binary units, three digits or so."""
    assert bytes_text(size_bytes) == text


@pytest.mark.parametrize(
    ("time_ms", "text"),
    [
        (-1, "-"),
        (0, "1970-01-01T00:00:00.000Z"),
        (1356998400123, "2013-01-01T00:00:00.123Z"),
        (2**62, str(2**62)),
    ],
)
def test_times(time_ms: int, text: str) -> None:
    """UTC to the millisecond; a moment outside the calendar stays a number."""
    assert time_text(time_ms) == text


def test_details_stand_upright() -> None:
    """One line for each column, values in one line below each other."""
    assert details(ROWS[0], COLUMNS) == (
        "TOPIC    orders\nSIZE     1.2 MiB\nRECORDS  336,776\nLEADER   1\n"
    )
    assert details({}, ()) == ""


def test_a_stream_is_one_line_for_each_row() -> None:
    """Newlines in values stay inside JSON; bytes and enums become text."""
    line = json_line({"a": "x\ny", "b": b"k\xff", "c": Colour.RED, "d": {3, 1}})
    assert line.count("\n") == 1
    assert json.loads(line) == {"a": "x\ny", "b": "k\\xff", "c": "red", "d": [1, 3]}


@given(st.lists(st.fixed_dictionaries({"a": st.text() | st.integers(), "b": st.binary()})))
def test_a_table_has_a_line_for_each_row(rows: list[dict[str, Any]]) -> None:
    """No value can add a line or leave its row."""
    assert len(table(rows, columns("a", "b")).splitlines()) == len(rows) + 1
