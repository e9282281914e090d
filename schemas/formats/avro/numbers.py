"""Doubles and floats as Java reads and writes them in text."""

import re
import struct
from math import copysign, inf
from typing import Final

_DOUBLE: Final = re.compile(
    r"([+-]?)(?:(NaN)|(Infinity)|((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[fFdD]?)"
)
_JAVA_TRIMMED: Final = "".join(map(chr, range(0x21)))
_FLOAT_DIGITS_MAX: Final = 9


def parsed_double(text: str) -> float | None:
    """What ``Double.parseDouble`` reads, hexadecimal digits apart; None where it would not."""
    match = _DOUBLE.fullmatch(text.strip(_JAVA_TRIMMED))
    if match is None:
        return None
    sign, nan, infinity, digits = match.groups()
    if nan:
        return float("nan")
    number = float("inf") if infinity else float(digits)
    return -number if sign == "-" else number


def narrowed(number: float) -> float:
    """The double whose shortest text is that of the nearest 32-bit float."""
    packed = _packed(number)
    narrow: float = struct.unpack("<f", packed)[0]
    for digits in range(1, _FLOAT_DIGITS_MAX):
        short = float(f"{narrow:.{digits}g}")
        if _packed(short) == packed:
            return short
    return float(f"{narrow:.{_FLOAT_DIGITS_MAX}g}")


def _packed(number: float) -> bytes:
    try:
        return struct.pack("<f", number)
    except OverflowError:
        return struct.pack("<f", copysign(inf, number))
