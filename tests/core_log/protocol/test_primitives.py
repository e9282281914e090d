"""Varints and tagged fields."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.protocol.primitives import (
    VARINTS,
    WireProblem,
    array_packers,
    array_unpackers,
    read_uvarint,
    skip_tags,
    write_uvarint,
)

EDGES = [
    edge + step for bits in (7, 14, 21, 28, 32) for edge in (2**bits,) for step in (-2, -1)
] + [2**bits for bits in (7, 14, 21, 28)]


@pytest.mark.parametrize(
    ("number", "written"),
    [(0, "00"), (1, "01"), (127, "7f"), (128, "8001"), (300, "ac02"), (2**32 - 1, "ffffffff0f")],
)
def test_a_varint_is_groups_of_seven_bits_lowest_first(number: int, written: str) -> None:
    """Known bytes."""
    assert write_uvarint(number).hex() == written


@given(st.sampled_from(EDGES) | st.integers(0, 2**32 - 1), st.binary(max_size=3))
def test_a_varint_comes_back_whatever_stands_around_it(number: int, around: bytes) -> None:
    """Whole, with bytes before and behind; the offset is the one behind it."""
    data = around + write_uvarint(number) + around
    assert read_uvarint(data, len(around)) == (number, len(data) - len(around))


@pytest.mark.parametrize("number", EDGES)
def test_a_varint_cut_short_is_not_read(number: int) -> None:
    """At every byte."""
    whole = write_uvarint(number)
    for size in range(len(whole)):
        with pytest.raises(IndexError):
            read_uvarint(whole[:size], 0)


@pytest.mark.parametrize(
    "data", ["808080808000", "ffffffffff01", "ffffffff10", "8080808010", "8080808080"]
)
def test_a_varint_beyond_32_bits_is_refused(data: str) -> None:
    """A sixth byte, or a fifth that holds too much."""
    with pytest.raises(WireProblem, match="beyond 32 bits"):
        read_uvarint(bytes.fromhex(data), 0)


@pytest.mark.parametrize("number", [-1, 2**32])
def test_a_number_that_is_no_varint_is_not_written(number: int) -> None:
    """Neither below zero nor above 32 bits."""
    with pytest.raises(WireProblem):
        write_uvarint(number)


def test_the_prepared_varints_are_those_of_one_byte() -> None:
    """Callers index the table instead of calling."""
    assert [write_uvarint(number) for number in range(128)] == list(VARINTS)


def test_unknown_tags_are_passed_over() -> None:
    """Tag, size and that many bytes, as often as announced."""
    data = bytes.fromhex("05 02 aaaa 8101 00 06 01 bb") + b"rest"
    assert skip_tags(data, 0, 3) == len(data) - 4


@pytest.mark.parametrize("size", range(8))
def test_unknown_tags_cut_short_are_noticed(size: int) -> None:
    """At every byte."""
    whole = bytes.fromhex("05 02 aaaa 8101 01 bb")
    with pytest.raises((WireProblem, IndexError)):
        skip_tags(whole[:size], 0, 2)


@given(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=7))
def test_prepared_arrays_carry_their_numbers(numbers: list[int]) -> None:
    """Packed behind a length, unpacked from behind it."""
    packed = array_packers("i", "i")[len(numbers)](len(numbers), *numbers)
    assert int.from_bytes(packed[:4], "big") == len(numbers)
    assert list(array_unpackers("i")[len(numbers)](packed, 4)) == numbers
