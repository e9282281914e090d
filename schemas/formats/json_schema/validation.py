"""Validation of data, for serializers: a schema compiled once, then microseconds per value."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import Any, Final

import jsonschema_rs

from ..contract import InvalidSchema
from .drafts import draft_number, draft_of, validator_class
from .patterns import BOUNDED
from .resources import joined
from .text import decode

_BASE: Final = "json-schema:///"
"""What the library resolves relative references against when the schema has no id."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason why a value does not fit."""

    path: str
    """Where in the value: "$.items[3].price"."""
    message: str


@dataclass(frozen=True, slots=True)
class DataValidator:
    """A compiled schema; any thread may use it."""

    _library: "jsonschema_rs.Validator"

    def is_valid(self, value: object) -> bool:
        """Does *value*, made of dicts, lists, strings, numbers, bools and None, fit?"""
        return self._library.is_valid(value)

    def problem(self, value: object) -> Problem | None:
        """The first reason why *value* does not fit; None when it does."""
        for error in self._library.iter_errors(value):
            return Problem(path=_path(error.instance_path), message=error.message)
        return None


def validator(
    text: str, references: Mapping[str, str], *, asserts_formats: bool = False
) -> DataValidator:
    """What checks data against *text*, compiled once.

    ``format`` describes unless *asserts_formats*: comparisons of schemas pass it over too, and so
    does Confluent's Python client. Nothing is fetched. Raises InvalidSchema.
    """
    return DataValidator(compiled(text, references, asserts_formats=asserts_formats))


def compiled(
    text: str, references: Mapping[str, str], *, asserts_formats: bool = False
) -> "jsonschema_rs.Validator":
    """The library's own validator of *text*. Raises InvalidSchema."""
    draft = draft_of(decode(text))
    schema = plain(text)
    named = schema.get(draft.id_keyword) if isinstance(schema, dict) else None
    base = joined(_BASE, named) if isinstance(named, str) else _BASE
    documents: dict[str, Any] = {}
    for name, reference in references.items():
        document = plain(reference)
        documents |= {joined(base, name): document, joined(_BASE, name): document}
    try:
        registry = jsonschema_rs.Registry(list(documents.items()), draft=draft_number(draft))
        return validator_class(draft)(
            schema,
            registry=registry,
            base_uri=base.partition("#")[0],
            validate_formats=asserts_formats,
            pattern_options=BOUNDED,
            offline=True,
        )
    except jsonschema_rs.ValidationError as error:
        place = "/".join(["#", *(str(part) for part in error.instance_path)])
        raise InvalidSchema(error.message, place=place) from None
    except (jsonschema_rs.ReferencingError, ValueError) as error:
        raise InvalidSchema(str(error)) from None


def plain(text: str) -> Any:
    """The JSON of *text* as Python's own values; numbers too large for a float stay exact."""
    return json.loads(text, parse_float=_number)


def _number(text: str) -> float | Decimal:
    number = float(text)
    return number if isfinite(number) else Decimal(text)


def _path(parts: list[str | int]) -> str:
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
