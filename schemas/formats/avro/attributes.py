"""Attributes of a schema's text: what they must be, what is ignored, and where they stand.

As Java's ``Schema.Parser``: an optional text that is something else is missing, not wrong. All of
this raises InvalidSchema, with the path of the object that holds the attribute.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias, TypeGuard

from ..contract import InvalidSchema
from .json_text import JsonObject, JsonValue, written
from .model import PRIMITIVES, Order
from .names import BadName, Name, check_space, checked, parsed
from .numbers import parsed_double

Path: TypeAlias = tuple[str | int, ...]
"""Keys and indexes from the root of the text."""

_ORDERS: Final[Mapping[str, Order]] = {
    "ascending": "ascending",
    "descending": "descending",
    "ignore": "ignore",
}
_SHOWN_CHARS_MAX: Final = 200
"""How much of a bad text an error repeats."""


def own_name(value: JsonObject, space: str | None, path: Path) -> Name:
    """The name that a definition gives itself, checked in full."""
    text = required_text(value, "name", "No name in schema", path)
    given = optional_text(value, "namespace")
    name = name_at(text, space if given is None else given, path)
    try:
        check_space(name)
    except BadName as error:
        raise invalid(str(error), path) from error
    if name.full in PRIMITIVES:
        raise invalid(f"Schemas may not be named after primitives: {name.full}", path)
    return name


def aliases_of_type(value: JsonObject, name: Name, path: Path) -> tuple[Name, ...]:
    """Other names of a definition, each once."""
    names = (name_at(alias, name.space, (*path, "aliases")) for alias in aliases(value, path))
    return tuple(dict.fromkeys(names))


def aliases(value: JsonObject, path: Path) -> tuple[str, ...]:
    """The words under "aliases", each once."""
    given = value.get("aliases", [])
    if not isinstance(given, list):
        raise invalid(f"aliases not an array: {shown(value)}", path)
    found: dict[str, None] = {}
    for alias in given:
        if not isinstance(alias, str):
            raise invalid(f"alias not a string: {shown(alias)}", (*path, "aliases"))
        found[alias] = None
    return tuple(found)


def order(value: JsonObject, path: Path) -> Order:
    """How the field sorts, "ascending" where nothing is said."""
    given = value.get("order", "ascending")
    known = _ORDERS.get(given.lower()) if isinstance(given, str) else None
    if known is None:
        raise invalid(
            f"No order: {shown(given)}; it is ascending, descending or ignore", (*path, "order")
        )
    return known


def default_double(default: JsonValue, path: Path) -> JsonValue:
    """As Java: a string is a number too here, so that NaN can be said."""
    if not isinstance(default, str):
        return default
    number = parsed_double(default)
    if number is None:
        raise invalid(f"Default is no number: {shown(default)}", (*path, "default"))
    return number


def required_text(value: JsonObject, key: str, error: str, path: Path) -> str:
    """The string under *key*; *error* begins the refusal where there is none."""
    text = optional_text(value, key)
    if text is None:
        raise invalid(f"{error}: {shown(value)}", path)
    return text


def optional_text(value: JsonObject, key: str) -> str | None:
    """None also where it is something else: Java ignores that."""
    text = value.get(key)
    return text if isinstance(text, str) else None


def props(value: JsonObject, reserved: frozenset[str]) -> JsonObject:
    """What the specification does not name, in order."""
    return {key: item for key, item in value.items() if key not in reserved}


def is_object(value: JsonValue) -> TypeGuard[JsonObject]:
    """Is it a JSON object?"""
    return isinstance(value, Mapping)


def name_at(text: str, space: str | None, path: Path) -> Name:
    """What *text* means in *space*."""
    try:
        return parsed(text, space)
    except BadName as error:
        raise invalid(str(error), path) from error


def checked_at(simple: str, path: Path) -> str:
    """The simple name itself."""
    try:
        return checked(simple)
    except BadName as error:
        raise invalid(str(error), path) from error


def shown(value: JsonValue) -> str:
    """The beginning of a value, for errors."""
    text = written(value)
    return text if len(text) <= _SHOWN_CHARS_MAX else f"{text[:_SHOWN_CHARS_MAX]}…"


def invalid(reason: str, path: Path) -> InvalidSchema:
    """The refusal, with a JSON pointer to the place."""
    return InvalidSchema(reason, place="/" + "/".join(map(str, path)))
