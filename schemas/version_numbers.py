"""How paths and references name versions."""

from typing import Final

from .errors import InvalidVersion
from .model import VERSION_MAX

LATEST: Final = -1
"""The highest version that is not deleted."""


def version_number(text: str | int) -> int:
    """The version that a path names: 1 to 2^31-1, or LATEST. Raises InvalidVersion."""
    stripped = str(text).strip()
    if stripped.lower() == "latest":
        return LATEST
    # No number of ours is longer; int() of megabytes of digits would take minutes.
    if len(stripped) > len(str(VERSION_MAX)) or not stripped.removeprefix("-").isascii():
        raise InvalidVersion(text)
    try:
        number = int(stripped)
    except ValueError:
        raise InvalidVersion(text) from None
    if number != LATEST and not 1 <= number <= VERSION_MAX:
        raise InvalidVersion(text)
    return number
