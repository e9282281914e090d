"""How paths and references name versions."""

import re
from typing import Final

from .errors import InvalidVersion
from .model import VERSION_MAX

LATEST: Final = -1
"""The highest version that is not deleted."""

_NUMBER = re.compile("-?[0-9]{1,10}")  # no number of ours has more digits


def version_number(text: str | int) -> int:
    """The version that a path names: 1 to 2^31-1, or LATEST. Raises InvalidVersion."""
    stripped = str(text).strip()
    if stripped.lower() == "latest":
        return LATEST
    if not _NUMBER.fullmatch(stripped):
        raise InvalidVersion(text)
    number = int(stripped)
    if number != LATEST and not 1 <= number <= VERSION_MAX:
        raise InvalidVersion(text)
    return number
