"""JSON as Java's Avro library reads and writes it, by way of Jackson.

Comments pass when read. When written: no white space, only what must be escaped is, a double looks
as ``Double.toString`` has it (from Java 19 on: the shortest that reads back).
"""

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from math import isinf, isnan
from typing import Final, NoReturn, TypeAlias

from ..contract import InvalidSchema

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | Mapping[str, JsonValue] | None"
JsonObject: TypeAlias = Mapping[str, JsonValue]

DEPTH_MAX: Final = 250
"""Objects and arrays in each other: 60 records inside records, and little of Python's stack."""

# An open string or comment takes the whole rest, so that no text is looked through twice.
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|//[^\n]*|/\*(?:.*?\*/|.*)|[\[\]{}]', re.DOTALL)
_VISIBLE: Final = re.compile(r"[^\n]+")
_ESCAPED: Final = re.compile(r'[\x00-\x1f"\\]')
_SHORT_ESCAPES: Final = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


def read(text: str) -> JsonValue:
    """The value. Of a name that stands twice in an object, the later. Raises InvalidSchema."""
    try:
        value: JsonValue = json.loads(_without_comments(text), parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InvalidSchema(f"not JSON: {error.msg}", place=place) from error
    except ValueError as error:
        raise InvalidSchema("not JSON we take: a number has thousands of digits") from error
    return value


def written(value: JsonValue) -> str:
    """The value as Jackson writes it."""
    parts: list[str] = []
    _write(value, parts)
    return "".join(parts)


def quoted(text: str) -> str:
    """A JSON string."""
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def written_double(number: float) -> str:
    """As Java's ``Double.toString``; what is no number of JSON's is a string."""
    if isnan(number):
        return '"NaN"'
    if isinf(number):
        return '"Infinity"' if number > 0 else '"-Infinity"'
    sign, digit_tuple, exponent = Decimal(repr(number)).as_tuple()
    assert isinstance(exponent, int)  # a word for what is no number, and those are gone
    digits = "".join(map(str, digit_tuple))
    point = len(digits) + exponent
    digits = digits.rstrip("0") or "0"
    minus = "-" if sign else ""
    if digits == "0":
        return f"{minus}0.0"
    if -3 < point <= 7:
        whole = digits[:point].ljust(point, "0") if point > 0 else "0"
        part = "0" * -point + digits[max(point, 0) :]
        return f"{minus}{whole}.{part or '0'}"
    return f"{minus}{digits[0]}.{digits[1:] or '0'}E{point - 1}"


def _write(value: JsonValue, parts: list[str]) -> None:
    # One frame of Python's stack for each level, so no comprehensions.
    match value:
        case None:
            parts.append("null")
        case bool():
            parts.append("true" if value else "false")
        case int():
            parts.append(str(value))
        case float():
            parts.append(written_double(value))
        case str():
            parts.append(quoted(value))
        case list():
            opener = "["
            for item in value:
                parts.append(opener)
                _write(item, parts)
                opener = ","
            parts.append("]" if value else "[]")
        case _:
            opener = "{"
            for key, item in value.items():
                parts.append(f"{opener}{quoted(key)}:")
                _write(item, parts)
                opener = ","
            parts.append("}" if value else "{}")


def _without_comments(text: str) -> str:
    depth = 0

    def seen(match: re.Match[str]) -> str:
        nonlocal depth
        token = match[0]
        if token in ("[", "{"):
            depth += 1
            if depth > DEPTH_MAX:
                raise InvalidSchema(f"JSON nests deeper than {DEPTH_MAX} levels")
        elif token in ("]", "}"):
            depth -= 1
        elif token[0] == "/":
            return _VISIBLE.sub(lambda line: " " * len(line[0]), token)  # places stay
        return token

    return _TOKEN.sub(seen, text)


def _no_constant(word: str) -> NoReturn:
    raise InvalidSchema(f"not JSON: {word} is no number there; write it as a string")


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return _SHORT_ESCAPES.get(char) or f"\\u{ord(char):04X}"
