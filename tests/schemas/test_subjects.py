"""Names of subjects and contexts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.schemas import subjects

contexts = st.sampled_from([".", ".a", ".b.c", subjects.GLOBAL_CONTEXT])
bare = st.text(st.sampled_from("ab:*._-é"), max_size=5).filter(
    lambda name: not name.startswith(":.")
)


@pytest.mark.parametrize(
    ("name", "context", "subject"),
    [
        ("orders", ".", "orders"),
        ("", ".", ""),
        (":.eu:orders", ".eu", "orders"),
        (":.eu:a:b", ".eu", "a:b"),
        (":.eu:", ".eu", ""),
        (":.eu", ".eu", ""),
        (":.:orders", ".", "orders"),
        (":orders", ".", ":orders"),
    ],
)
def test_a_name_has_a_context_and_a_subject(name: str, context: str, subject: str) -> None:
    assert subjects.parsed(name) == (context, subject)
    assert subjects.context_of(name) == context


@given(context=contexts, subject=bare)
def test_each_subject_has_one_spelling(context: str, subject: str) -> None:
    name = subjects.qualified(context, subject)
    assert subjects.parsed(name) == (context, subject)
    if subject != "*":
        assert subjects.normalized(name) == name


def test_old_and_long_spellings_are_understood() -> None:
    assert subjects.normalized(":.:a") == "a"
    assert subjects.normalized(":.eu") == ":.eu:"
    assert subjects.normalized("*") == ""


@pytest.mark.parametrize(
    ("parent", "said", "meant"),
    [
        ("a", "b", "b"),
        (":.eu:a", "b", ":.eu:b"),
        (":.eu:a", ":.us:b", ":.us:b"),
        (":.eu:a", ":.:b", "b"),
    ],
)
def test_a_bare_reference_stays_in_its_context(parent: str, said: str, meant: str) -> None:
    assert subjects.beside(parent, said) == meant


def test_a_context_is_not_a_subject() -> None:
    assert [name for name in ("", ":.eu:", ":.eu:a", "a") if subjects.is_context(name)] == [
        "",
        ":.eu:",
    ]
    assert subjects.is_default_context(":.:")
    assert subjects.is_default_context(":.")
    assert not subjects.is_default_context("")
    assert not subjects.is_default_context(":.eu:")


@pytest.mark.parametrize(
    "name", ["a\x00b", "\n", "a\x7f", "__GLOBAL", ":.eu:__EMPTY", ":.__GLOBAL:a"]
)
def test_some_names_are_refused(name: str) -> None:
    assert not subjects.is_valid(name)
    assert not subjects.is_valid(name, has_settings=True)


def test_the_global_context_has_settings_only() -> None:
    assert not subjects.is_valid(":.__GLOBAL:")
    assert subjects.is_valid(":.__GLOBAL:", has_settings=True)
    assert subjects.is_valid("orders-value")
    assert subjects.is_valid("")
