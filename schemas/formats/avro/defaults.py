"""Do the defaults of new schemas fit their fields? After Java's ``Schema.isValidDefault`` (1.12).

A union's default may be of any branch. What a record's default leaves out comes from the defaults
of its fields; a default that needs itself in this way is refused (Java's stack overflows).
Symbols of enums, letters of bytes and sizes of fixed are not looked at, as in Java.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from ..contract import InvalidSchema
from .canonical import canonical_text
from .json_text import JsonValue, written
from .model import (
    Array,
    Definition,
    Definitions,
    Enum,
    Field,
    Fixed,
    Map,
    Model,
    Named,
    Primitive,
    PrimitiveKind,
    Record,
    Type,
    Union,
)

DEPTH_MAX: Final = 100
"""Values in each other, those that fields' defaults put in place among them."""

_INT: Final = range(-(2**31), 2**31)
_LONG: Final = range(-(2**63), 2**63)
_SHOWN_CHARS_MAX: Final = 200


def check_defaults(definitions: Iterable[Definition], table: Definitions) -> None:
    """Raises InvalidSchema when a field's default, in one of *definitions*, is not of its type."""
    checking = _Checking(table)
    for definition in definitions:
        if not isinstance(definition, Record):
            continue
        for field in definition.fields:
            if field.has_default and not checking.field_fits(definition, field):
                shown = written(field.default)[:_SHOWN_CHARS_MAX]
                wanted = canonical_text(Model(root=field.type, definitions=table))
                raise InvalidSchema(
                    f"Invalid default for field {field.name}: {shown} "
                    f"not a {wanted[:_SHOWN_CHARS_MAX]}",
                    place=f"field {field.name} of {definition.name.full}",
                )


class _Checking:
    """Each pair of a value and a named type is looked at once: unions would multiply the work."""

    def __init__(self, table: Definitions) -> None:
        self._table = table
        self._fields: dict[tuple[str, str], bool | None] = {}
        """None while its default is being looked at."""
        self._named: dict[tuple[int, str], bool] = {}
        """By the identity of a value, which the table keeps alive."""
        self._depth = 0

    def field_fits(self, record: Record, field: Field) -> bool:
        """Is the field's default of its type?"""
        key = (record.name.full, field.name)
        if key in self._fields:
            known = self._fields[key]
            if known is None:
                raise InvalidSchema(
                    f"Invalid default for field {field.name}: it needs itself, without end",
                    place=f"field {field.name} of {record.name.full}",
                )
            return known
        self._fields[key] = None
        fits = self._fields[key] = self._fits(field.type, field.default)
        return fits

    def _fits(self, schema: Type, value: JsonValue) -> bool:
        if self._depth > DEPTH_MAX:
            raise InvalidSchema(f"Defaults nest deeper than {DEPTH_MAX} levels")
        self._depth += 1
        try:
            return self._fits_here(schema, value)
        finally:
            self._depth -= 1

    def _fits_here(self, schema: Type, value: JsonValue) -> bool:
        match schema:
            case Primitive():
                return _is_primitive(schema.kind, value)
            case Union():
                return any(self._fits(branch, value) for branch in schema.branches)
            case Array():
                return isinstance(value, list) and all(
                    self._fits(schema.items, item) for item in value
                )
            case Map():
                return isinstance(value, Mapping) and all(
                    self._fits(schema.values, item) for item in value.values()
                )
            case Named():
                key = (id(value), schema.name.full)
                known = self._named.get(key)
                if known is None:
                    definition = self._table[schema.name.full]
                    known = self._named[key] = self._fits_definition(definition, value)
                return known

    def _fits_definition(self, definition: Definition, value: JsonValue) -> bool:
        match definition:
            case Enum() | Fixed():
                return isinstance(value, str)
            case Record():
                return isinstance(value, Mapping) and all(
                    self._fits(field.type, value[field.name])
                    if field.name in value
                    else field.has_default and self.field_fits(definition, field)
                    for field in definition.fields
                )


def _is_primitive(kind: PrimitiveKind, value: JsonValue) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match kind:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "int":
            return is_number and isinstance(value, int) and value in _INT
        case "long":
            return is_number and isinstance(value, int) and value in _LONG
        case "float" | "double":
            return is_number
        case "string" | "bytes":
            return isinstance(value, str)
