"""A ``.proto`` file as values: what was written, in the order it was written, comments dropped.

Between text and descriptor: the descriptor has no word for how a type was spelt or where an option
stood, and the stored text keeps both. Names are as written (relative, or with a leading dot);
``scope.py`` resolves them. Every element knows the offset of its first character, which is no part
of its value: two files that differ in layout alone are equal.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

FIELD_NUMBER_MAX = 2**29 - 1
"""Three bits of a varint of 32 are the wire type."""
ENUM_NUMBER_MAX = 2**31 - 1

T = TypeVar("T")


class Label(StrEnum):
    """What stands before a field's type; proto3's implicit presence has none."""

    OPTIONAL = "optional"
    REQUIRED = "required"
    REPEATED = "repeated"


class ValueKind(StrEnum):
    """How a scalar of an option was written; what it means its option's type decides."""

    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    IDENTIFIER = "identifier"


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value of an option: ``true``, ``-1.5e3``, ``"text"``, ``SPEED``.

    *text* of a string is decoded, with bytes that are no UTF-8 as lone surrogates
    (``surrogateescape``); of the others it is the spelling.
    """

    kind: ValueKind
    text: str


@dataclass(frozen=True, slots=True)
class Aggregate:
    """``{ key: value … }`` in the text format; a key given twice has a list."""

    entries: tuple[tuple[str, "Value"], ...]


@dataclass(frozen=True, slots=True)
class ListValue:
    """``[ value, … ]`` in the text format."""

    values: tuple["Value", ...]


Value = Scalar | Aggregate | ListValue


@dataclass(frozen=True, slots=True)
class NamePart:
    """``foo`` or ``(foo.bar)`` of an option's name."""

    text: str
    is_extension: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """``name = value``, in brackets or after the word *option*."""

    name: tuple[NamePart, ...]
    value: Value
    at: int = field(default=0, compare=False)

    @property
    def is_custom(self) -> bool:
        """Whether its first part is an extension of the options message."""
        return self.name[0].is_extension


def simple_option(name: str, value: Value) -> Option:
    """The option called *name*, no extension."""
    return Option(name=(NamePart(name),), value=value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of a message, of a oneof or of an extend block.

    A map has *map_key*, and *type* is the type of its values.
    """

    label: Label | None = None
    type: str
    map_key: str | None = None
    name: str
    number: int
    default: Scalar | None = None
    json_name: str | None = None
    options: tuple[Option, ...] = ()
    at: int = field(default=0, compare=False)

    @property
    def type_text(self) -> str:
        """The type as it is printed: ``map<string, .a.B>``."""
        return self.type if self.map_key is None else f"map<{self.map_key}, {self.type}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """proto2's field and message in one; the field is called as the message, in lower case."""

    label: Label | None
    name: str
    number: int
    options: tuple[Option, ...] = ()
    body: tuple["Member", ...] = ()
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Oneof:
    """Fields of which one at most is set."""

    name: str
    body: tuple[Field | Group | Option, ...]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class NumberRange:
    """``first to last``, both included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """Numbers and names that nobody may use again."""

    values: tuple[int | NumberRange | str, ...]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extensions:
    """Numbers that other files may give to fields of this message."""

    ranges: tuple[int | NumberRange, ...]
    options: tuple[Option, ...] = ()
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extend:
    """Fields added to a message that is declared elsewhere."""

    name: str
    body: tuple[Field | Group, ...]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumValue:
    """A name with its number."""

    name: str
    number: int
    options: tuple[Option, ...] = ()
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Enum:
    """An enum with everything in it."""

    name: str
    body: tuple[EnumValue | Reserved | Option, ...]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message with everything in it."""

    name: str
    body: tuple["Member", ...]
    at: int = field(default=0, compare=False)


Member = Field | Group | Oneof | Reserved | Extensions | Extend | Option | Message | Enum


@dataclass(frozen=True, slots=True, kw_only=True)
class Rpc:
    """One call of a service."""

    name: str
    request: str
    request_streams: bool = False
    response: str
    response_streams: bool = False
    options: tuple[Option, ...] = ()
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A service; it means nothing to data, and is kept in the text."""

    name: str
    body: tuple[Rpc | Option, ...]
    at: int = field(default=0, compare=False)


class ImportKind(StrEnum):
    """Who sees what is imported: this file, or also those who import this one (public)."""

    PLAIN = ""
    PUBLIC = "public"
    WEAK = "weak"


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """Another file by its path, which is the name of a reference."""

    path: str
    kind: ImportKind = ImportKind.PLAIN
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtoFile:
    """A whole file. Without *syntax* it is proto2, and nothing is printed for it."""

    syntax: str | None = None
    package: str = ""
    imports: tuple[Import, ...] = ()
    body: tuple[Message | Enum | Extend | Service | Option, ...] = ()

    @property
    def is_proto3(self) -> bool:
        """Whether the rules of proto3 hold."""
        return self.syntax == "proto3"


def of_kind(body: Iterable[object], kind: type[T]) -> list[T]:
    """Those of *body* that are of *kind*, in order."""
    return [member for member in body if isinstance(member, kind)]


def fields_of(body: Iterable[object]) -> Iterator[Field | Group]:
    """All fields of a message, those of its oneofs too, in the order of the text."""
    for member in body:
        if isinstance(member, Field | Group):
            yield member
        elif isinstance(member, Oneof):
            yield from fields_of(member.body)


def flag(options: Iterable[Option], name: str) -> bool:
    """Whether the boolean option *name* is set to true; the last one given counts."""
    value = False
    for option in options:
        if option.name == (NamePart(name),):
            value = option.value == Scalar(ValueKind.BOOLEAN, "true")
    return value
