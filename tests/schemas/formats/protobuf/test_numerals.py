"""Numbers as protoc writes them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.schemas.formats.protobuf.numerals import double_text, float_text, narrowed


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (1e20, "1e+20"),
        (123456789.12345678, "123456789.12345678"),
        (1 / 3, "0.33333333333333331"),
        (-0.0, "-0"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
    ],
)
def test_doubles(value: float, text: str) -> None:
    assert double_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.1, "1.1"),
        (123456789.0, "123456792"),
        (1e39, "inf"),
        (-1e39, "-inf"),
        (1 / 3, "0.333333343"),
    ],
)
def test_floats(value: float, text: str) -> None:
    assert float_text(value) == text


@given(value=st.floats(allow_nan=False))
def test_texts_are_the_number_again(value: float) -> None:
    assert float(double_text(value)) == value
    assert narrowed(float(float_text(value))) == narrowed(value)
