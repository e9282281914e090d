"""Floating point numbers as protoc writes them into descriptors."""

import math
import struct
from collections.abc import Callable


def double_text(value: float) -> str:
    """The shorter of 15 and 17 digits that is *value* again, as C prints it: ``1e+20``."""
    return _special(value) or _shortest(value, (15, 17), lambda text: float(text) == value)


def float_text(value: float) -> str:
    """The shorter of 6 and 9 digits that is *value* again in 32 bits.

    What 32 bits cannot hold is infinite, as it is in C.
    """
    narrow = narrowed(value)
    return _special(narrow) or _shortest(
        narrow, (6, 9), lambda text: narrowed(float(text)) == narrow
    )


def narrowed(value: float) -> float:
    """*value* rounded to 32 bits; infinite when it is too large."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _special(value: float) -> str | None:
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return None


def _shortest(value: float, digits: tuple[int, ...], is_same: Callable[[str], bool]) -> str:
    for count in digits:
        text = f"{value:.{count}g}"
        if is_same(text):
            return text
    raise AssertionError(f"{value!r} has no text of {digits[-1]} digits")
