"""Places and problems read as one line a person can act on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.service.places import Origin, Place, Problem, SettingsInvalid, escaped, shown

FILE = Place(origin=Origin.FILE, name="a.yaml", line=3, column=12)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (FILE, "a.yaml:3:12"),
        (Place(origin=Origin.FILE, name="a.yaml"), "a.yaml"),
        (Place(origin=Origin.VARIABLE, name="X_Y"), "variable X_Y"),
        (Place(origin=Origin.FLAG, name="--x"), "flag --x"),
        (Place(origin=Origin.DEFAULT), "default"),
    ],
)
def test_a_place_reads_as_what_to_open(place: Place, text: str) -> None:
    """A file place is what editors jump to; others name the variable or flag."""
    assert str(place) == text


def test_a_problem_is_place_subject_and_reason() -> None:
    """Missing parts leave no stray punctuation."""
    problem = Problem(place=FILE, setting="a", shown='"x"', reason="not a number")
    assert str(problem) == 'a.yaml:3:12: a = "x": not a number'
    assert str(Problem(place=None, setting="a", shown=None, reason="required")) == "a: required"
    assert (
        str(Problem(place=FILE, setting=None, shown='"x"', reason="no")) == 'a.yaml:3:12: "x": no'
    )


def test_all_problems_are_told_together() -> None:
    """One line each, in the order given."""
    problems = [Problem(place=None, setting=name, shown=None, reason="bad") for name in "abc"]
    error = SettingsInvalid(problems)
    assert error.problems == tuple(problems)
    assert str(error).splitlines() == ["a: bad", "b: bad", "c: bad"]


@given(st.text(alphabet=st.sampled_from("a \n\r\t\x00\x1b\x7f\x9b\u2028\u202e\ufeff\u00e4'\"")))
def test_escaped_text_cannot_forge_a_line(text: str) -> None:
    """Nothing that moves a cursor, breaks a line or turns the direction gets through."""
    result = escaped(text)
    assert result.isprintable() or result == ""
    assert len(result.splitlines()) <= 1
    if text.isprintable():
        assert result == text


def test_a_long_value_is_cut() -> None:
    """Eighty characters are enough to recognise a value."""
    assert shown("x" * 80) == '"' + "x" * 80 + '"'
    assert shown("x" * 81) == '"' + "x" * 79 + '…"'
