"""JSON, numbers and names as Java has them."""

import json
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.schemas.formats.avro import names
from headwater.schemas.formats.avro.json_text import quoted, read, written, written_double
from headwater.schemas.formats.avro.numbers import narrowed, parsed_double

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@settings(max_examples=40)
@given(JSON_VALUES.filter(lambda value: "Infinity" not in json.dumps(value)))
def test_what_is_written_reads_back(value: Any) -> None:
    assert read(written(value)) == json.loads(written(value)) == value


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (100.0, "100.0"),
        (9_999_999.0, "9999999.0"),
        (10_000_000.0, "1.0E7"),
        (123_456_789.125, "1.23456789125E8"),
        (0.001, "0.001"),
        (0.00099, "9.9E-4"),
        (1.5e-10, "1.5E-10"),
        (1e22, "1.0E22"),
        (5e-324, "4.9E-324"),
        (float("nan"), '"NaN"'),
        (float("-inf"), '"-Infinity"'),
    ],
)
def test_doubles_look_as_javas(number: float, text: str) -> None:
    if number == 5e-324:
        # Java keeps two digits where one is enough; the value is the same.
        assert float(written_double(number)) == float(text)
        return
    assert written_double(number) == text


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1.0),
        (" 1.5f ", 1.5),
        ("\t-.5e1D\n", -5.0),
        ("+Infinity", float("inf")),
        ("-Infinity", float("-inf")),
        ("", None),
        ("x", None),
        ("1_000", None),
        ("inf", None),
        ("\u00a01", None),
        ("\u0661", None),
    ],
)
def test_strings_of_doubles_are_javas(text: str, number: float | None) -> None:
    assert parsed_double(text) == number


def test_nan_has_no_sign() -> None:
    assert written_double(parsed_double("-NaN") or 0.0) == '"NaN"'


@given(st.floats(width=32, allow_nan=False))
def test_a_float_keeps_its_bits_and_loses_digits(number: float) -> None:
    short = narrowed(number)
    assert struct.pack("<f", short) == struct.pack("<f", number)
    assert len(written_double(short)) <= len(written_double(number))


def test_a_double_beyond_floats_is_infinite() -> None:
    assert narrowed(1e300) == float("inf")
    assert narrowed(-1e300) == float("-inf")


def test_only_what_must_be_escaped_is() -> None:
    assert quoted('"\\/\b\f\n\r\t\x00\x1f\x7fé\u2028😀') == (
        '"\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001F\x7fé\u2028😀"'
    )


@pytest.mark.parametrize("good", ["a", "_", "A1", "é", "名前", "a\u0661"])
def test_letters_of_any_script_make_names(good: str) -> None:
    assert names.checked(good) == good


@pytest.mark.parametrize("bad", ["", "1a", "a-", "a b", "$", "\U0001d41a", "a\U0001d7ce", "a²"])
def test_other_characters_do_not(bad: str) -> None:
    with pytest.raises(names.BadName):
        names.checked(bad)


def test_a_name_is_short_where_it_is_near() -> None:
    name = names.parsed("a.b.X", "c")
    assert (name.simple, name.space) == ("X", "a.b")
    assert [name.seen_from(space) for space in ("a.b", "a", None)] == ["X", "a.b.X", "a.b.X"]
    assert names.parsed("int", "a").seen_from("a") == "a.int"
    assert names.parsed(".X", "a") == names.parsed("X", None) == names.Name("X", None)
