"""JSON Schema: parsing, normal form, compatibility by content models, validation of data."""

from typing import Final

from ..contract import Format
from .schema import JsonSchemaFormat
from .validation import DataValidator, Problem, validator

JSON_SCHEMA: Final[Format] = JsonSchemaFormat()

__all__ = ["JSON_SCHEMA", "DataValidator", "Problem", "validator"]
