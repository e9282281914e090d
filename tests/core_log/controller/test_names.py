"""Which topic names are legal."""

import pytest

from headwater.core_log.controller.names import topic_name_error
from headwater.core_log.kernel.errors import ErrorCode


@pytest.mark.parametrize("name", ["a", "A.b_c-9", "...", "..a", "-", "_", "x" * 249])
def test_a_legal_name_passes(name: str) -> None:
    """Letters, digits, dot, dash and underscore, up to 249 of them."""
    assert topic_name_error(name) is None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "the empty string is not allowed"),
        (".", "'.' is not allowed"),
        ("..", "'..' is not allowed"),
        ("x" * 250, "is longer than the max allowed length 249"),
        ("../etc", "contains one or more characters"),
        ("a\0b", "contains one or more characters"),
        ("a\n", "contains one or more characters"),
        ("é", "contains one or more characters"),
        ("٣", "contains one or more characters"),
        ("a b", "contains one or more characters"),
    ],
)
def test_an_illegal_name_is_refused_with_its_reason(name: str, reason: str) -> None:
    """Whatever could leave its folder, or look like another name, does not become one."""
    error = topic_name_error(name)

    assert error is not None
    assert error.code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert reason in str(error.message)
