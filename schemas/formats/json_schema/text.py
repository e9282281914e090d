"""JSON text in and out, with every number as it was written.

Python's and orjson's floats would turn 1.0, 1E2 and integers past 64 bits into something else; a
stored schema must come back as its owner wrote it.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypeAlias

import orjson

from ..contract import InvalidSchema

DEPTH_MAX: Final = 100
"""Levels of objects and arrays in one schema."""
NUMERAL_LENGTH_MAX: Final = 1_000
"""Characters of one number, and the largest power of ten in it: comparing it stays cheap."""

_UNPAIRED_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number as written."""

    text: str

    @property
    def value(self) -> Decimal:
        """Its exact value."""
        return Decimal(self.text)


Json: TypeAlias = "dict[str, Json] | list[Json] | str | Numeral | bool | None"


def decode(text: str, *, keys_once: bool = False) -> Json:
    """The value that *text* writes; *keys_once* refuses objects that give a key twice.

    Without it the last one stays, as in Jackson. Raises InvalidSchema.
    """
    if found := _UNPAIRED_SURROGATE.search(text):
        raise InvalidSchema("half of a surrogate pair", place=f"character {found.start()}")
    try:
        value: Json = json.loads(
            text,
            parse_int=_numeral,
            parse_float=_numeral,
            parse_constant=_no_number,
            object_pairs_hook=_object_of_unique_keys if keys_once else None,
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InvalidSchema(f"no JSON: {error.msg}", place=place) from None
    except RecursionError:
        raise InvalidSchema(f"deeper than {DEPTH_MAX} levels") from None
    _check_bounds(value)
    return value


def encode(value: Json, *, sorted_keys: bool = False) -> str:
    """Compact JSON, numbers as they were written, keys in their order or in Java's."""
    ordered = _sorted(value) if sorted_keys else value
    # Numerals are dataclasses, which orjson would write as objects.
    option = orjson.OPT_PASSTHROUGH_DATACLASS
    return orjson.dumps(ordered, default=_fragment, option=option).decode()


def _numeral(text: str) -> Numeral:
    exponent = text.lower().partition("e")[2]
    if len(text) > NUMERAL_LENGTH_MAX or len(exponent) > 5 or abs(int(exponent or 0)) > 1_000:
        raise InvalidSchema(f"the number {text[:40]}… is too long or too far from zero")
    return Numeral(text)


def _no_number(text: str) -> Numeral:
    raise InvalidSchema(f"{text} is not JSON")


def _object_of_unique_keys(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InvalidSchema(f"an object has the key '{twice}' twice")
    return value


def _check_bounds(value: Json) -> None:
    """No surrogate that an escape brought in, no nesting that recursion could not follow."""
    level: list[Json] = [value]
    for _ in range(DEPTH_MAX + 1):
        strings = (s for item in level for s in _strings(item))
        if any(_UNPAIRED_SURROGATE.search(string) for string in strings):
            raise InvalidSchema("half of a surrogate pair in a string")
        level = [child for item in level for child in children(item)]
        if not level:
            return
    raise InvalidSchema(f"deeper than {DEPTH_MAX} levels")


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value


def children(value: Json) -> Iterator[Json]:
    """The values directly inside *value*."""
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _sorted(value: Json) -> Json:
    if isinstance(value, dict):
        # Java compares strings by UTF-16 code units.
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return {key: _sorted(value[key]) for key in keys}
    if isinstance(value, list):
        return [_sorted(item) for item in value]
    return value


def _fragment(value: object) -> orjson.Fragment:
    assert isinstance(value, Numeral)
    return orjson.Fragment(value.text)
