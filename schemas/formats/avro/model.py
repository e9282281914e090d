"""Avro types as values: a tree whose leaves are primitives and names, and a table of the named.

Source: the Avro specification, 1.12. A name stands where Java has a pointer into a graph with
cycles; so everything here is immutable and a recursive type costs no recursion.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from .json_text import JsonObject, JsonValue
from .names import Name

PrimitiveKind: TypeAlias = Literal[
    "string", "bytes", "int", "long", "float", "double", "boolean", "null"
]
PRIMITIVES: Final[Mapping[str, PrimitiveKind]] = {
    "string": "string",
    "bytes": "bytes",
    "int": "int",
    "long": "long",
    "float": "float",
    "double": "double",
    "boolean": "boolean",
    "null": "null",
}

Order: TypeAlias = Literal["ascending", "descending", "ignore"]


@dataclass(frozen=True, slots=True)
class Primitive:
    """A type without parts. *props* is what the specification does not name, in the text's order.

    ``logicalType`` is such a property everywhere: an unknown one means the bare type.
    """

    kind: PrimitiveKind
    props: JsonObject


@dataclass(frozen=True, slots=True)
class Array:
    """Values of one type, in order."""

    items: "Type"
    props: JsonObject


@dataclass(frozen=True, slots=True)
class Map:
    """Values of one type, by strings."""

    values: "Type"
    props: JsonObject


@dataclass(frozen=True, slots=True)
class Union:
    """One of several types, of which none is a union and no two are called the same."""

    branches: tuple["Type", ...]


@dataclass(frozen=True, slots=True)
class Named:
    """A record, an enum or a fixed, which stands in the table under its full name."""

    name: Name


Type: TypeAlias = Primitive | Array | Map | Union | Named


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a record. *default* means something only where *has_default* says so."""

    name: str
    type: Type
    doc: str | None
    has_default: bool
    default: JsonValue
    order: Order
    aliases: tuple[str, ...]
    props: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Named fields in order; *is_error* when the text calls it "error"."""

    name: Name
    doc: str | None
    fields: tuple[Field, ...]
    aliases: tuple[Name, ...]
    props: JsonObject
    is_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Enum:
    """One of several symbols; *default* is read for symbols that the reader does not know."""

    name: Name
    doc: str | None
    symbols: tuple[str, ...]
    default: str | None
    aliases: tuple[Name, ...]
    props: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """So many bytes."""

    name: Name
    doc: str | None
    size_bytes: int
    aliases: tuple[Name, ...]
    props: JsonObject


Definition: TypeAlias = Record | Enum | Fixed
Definitions: TypeAlias = Mapping[str, Definition]
"""Named types by their full names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A whole schema: its root, and every named type that it can reach, its references' too."""

    root: Type
    definitions: Definitions


def kind_of(schema: Type, definitions: Definitions) -> str:
    """What Java calls the type: RECORD, ENUM, ARRAY, …, INT."""
    match schema:
        case Primitive():
            return schema.kind.upper()
        case Named():
            return type(definitions[schema.name.full]).__name__.upper()
        case _:
            return type(schema).__name__.upper()
