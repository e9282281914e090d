"""Patterns that pick transactional ids."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.transactions.patterns import IdPattern, InvalidPattern

ATOMS = st.sampled_from([*"abc", ".", "[ab]", "[^a]", "[a-c]", r"\d", r"\.", r"\w", "[a\\d-]"])
ITEMS = st.builds("{}{}".format, ATOMS, st.sampled_from(["", "*", "+", "?", "*?", "+?", "??"]))
SEQUENCES = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "^"]),
    st.lists(ITEMS, max_size=5).map("".join),
    st.sampled_from(["", "$"]),
)
PATTERNS = st.lists(SEQUENCES, min_size=1, max_size=3).map("|".join)


@given(pattern=PATTERNS, text=st.text("abc.1-_ ", max_size=6))
def test_a_pattern_means_what_it_means_elsewhere(pattern: str, text: str) -> None:
    """What is understood fits the same texts as with Python's own engine."""
    expected = re.fullmatch(pattern, text, re.ASCII) is not None
    assert IdPattern(pattern).matches(text) == expected


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("order-.*", "order-1", True),
        ("order-.*", "my-order-1", False),
        ("a+", "", False),
        ("a+", "aaa", True),
        ("a*b?", "", True),
        ("a|b|", "", True),
        (r"\S\s\D\W", "a x.", True),
        (r"\S\s\D\W", "a 1.", False),
        (".", "\n", False),
        ("[]a]", "]", True),
        ("[a-]", "-", True),
        ("[^^]", "^", False),
        ("[\\]]", "]", True),
        ("", "", True),
        ("ü.", "üé", True),
    ],
)
def test_examples(pattern: str, text: str, fits: bool) -> None:  # noqa: FBT001 - a column
    """The whole id has to fit."""
    assert IdPattern(pattern).matches(text) is fits


@pytest.mark.parametrize(
    "pattern",
    [
        "(a)", "a{2}", "a)", "*a", "+", "?", "a**", "a+*", "a$b", "a^", "[a", "[", "[]", "[^]",
        "[b-a]", "[[:alpha:]]", "[a-\\d]", "[a-[]", "\\", r"\b", r"\1", r"\p", "]", "}", "a|*",
    ],
)  # fmt: skip
def test_what_is_not_understood_is_refused(pattern: str) -> None:
    """Rather than matched by guess; the sentence says where."""
    with pytest.raises(InvalidPattern) as caught:
        IdPattern(pattern)
    assert str(caught.value).startswith(f"pattern {pattern!r}, character {caught.value.position}: ")
    assert caught.value.reason


def test_no_pattern_takes_long() -> None:
    """A backtracking engine would be at this until the sun goes out."""
    assert not IdPattern(".*.*.*.*.*.*.*.*x").matches("a" * 300)
    assert not IdPattern("a?" * 60 + "b").matches("a" * 60)
