"""Versions as paths name them."""

import pytest

from headwater.schemas.errors import InvalidVersion
from headwater.schemas.version_numbers import LATEST, version_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1),
        (" 2 ", 2),
        ("2147483647", 2**31 - 1),
        ("latest", LATEST),
        ("Latest", LATEST),
        (-1, -1),
    ],
)
def test_versions_are_numbers_or_latest(text: str | int, number: int) -> None:
    assert version_number(text) == number


@pytest.mark.parametrize(
    "text", ["0", "-2", "2147483648", "one", "", "1.0", "9" * 5000, "-", "1_0", "²", "٣"]
)
def test_others_are_refused_in_confluents_words(text: str) -> None:
    with pytest.raises(InvalidVersion) as refused:
        version_number(text)
    assert str(refused.value) == (
        f"The specified version '{text}' is not a valid version id. "
        'Allowed values are between [1, 2^31-1] and the string "latest"'
    )
