"""How a message class declares its wire form.

A message is a ``msgspec.Struct`` that a reader, mypy and an editor see as it is; beside each
field's type stands its wire type and the versions that have it::

    class MetadataRequestTopic(WireStruct, kw_only=True):
        topic_id: Annotated[bytes, uuid("10+", ignorable=True)] = NO_ID
        name: Annotated[str | None, string("0+", nullable="10+")] = ""

``codec`` compiles these declarations. One class serves all versions of a message: a field that a
version lacks keeps its default when read, and must have it when written unless it is *ignorable*.
The meaning of every word here is that of Kafka's message definitions; KIP-482 adds tagged fields
and flexible versions.

Deviation: Kafka can declare a field untagged in some versions and tagged in others. No message
does, so a field with a tag is tagged in all its versions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Any, ClassVar, Final, Self, get_args, get_origin, get_type_hints

import msgspec

VERSION_MAX: Final = 2**15 - 1
"""Versions are int16; ``3+`` means up to here."""

INT32_MIN: Final = -(2**31)
INT32_MAX: Final = 2**31 - 1
INT64_MAX: Final = 2**63 - 1

NO_ID: Final = bytes(16)
"""The zero uuid, Kafka's *no id*."""


@dataclass(frozen=True, slots=True)
class Versions:
    """A range of versions, both ends included; empty when ``first > last``."""

    first: int
    last: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """The range behind ``3``, ``0-5``, ``4+`` or ``none``. Raises ValueError for other text."""
        if text == "none":
            return cls(0, -1)
        if text.endswith("+"):
            return cls(int(text[:-1]), VERSION_MAX)
        first, dash, last = text.partition("-")
        return cls(int(first), int(last) if dash else int(first))

    def __contains__(self, version: int) -> bool:
        return self.first <= version <= self.last

    def __str__(self) -> str:
        if self.first > self.last:
            return "none"
        if self.last == VERSION_MAX:
            return f"{self.first}+"
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


def versions(text: str) -> Versions:
    """Short for ``Versions.parse`` in declarations."""
    return Versions.parse(text)


class WireStruct(msgspec.Struct, kw_only=True, gc=False):
    """A struct inside a message. Subclasses repeat ``kw_only=True``: msgspec does not hand it on.

    ``gc=False`` keeps messages out of the cycle collector, which on large requests costs more than
    decoding them: a message is a tree and cannot hold a cycle.
    """


class Message(WireStruct, kw_only=True):
    """A message with its own versions: a request, a response, a record of a log."""

    API_KEY: ClassVar[int] = -1
    """The request's key, or the record type within its log; -1 where there is none."""

    VERSIONS: ClassVar[Versions]
    """Versions that can be read and written."""

    FLEXIBLE: ClassVar[Versions]
    """Versions with compact lengths and tagged fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field's wire form; sits in ``Annotated`` beside the field's type."""

    kind: "Kind"
    element: "Kind | None"
    """What an array holds; None for everything else."""
    versions: Versions
    nullable: Versions
    tag: int | None
    ignorable: bool


@dataclass(frozen=True, slots=True)
class Kind:
    """A wire type. Called with versions it declares a field."""

    name: str

    def __call__(
        self,
        versions: str,
        *,
        nullable: str = "none",
        tag: int | None = None,
        ignorable: bool = False,
    ) -> Field:
        return Field(
            kind=self,
            element=None,
            versions=Versions.parse(versions),
            nullable=Versions.parse(nullable),
            tag=tag,
            ignorable=ignorable,
        )


int8: Final = Kind("int8")
int16: Final = Kind("int16")
int32: Final = Kind("int32")
int64: Final = Kind("int64")
uint16: Final = Kind("uint16")
uint32: Final = Kind("uint32")
float64: Final = Kind("float64")
boolean: Final = Kind("bool")
uuid: Final = Kind("uuid")
string: Final = Kind("string")
inflexible_string: Final = Kind("inflexible_string")
"""A string whose length takes two bytes in flexible versions too: the client id of a request."""
binary: Final = Kind("bytes")
record_batches: Final = Kind("records")
"""Bytes that are handed through without a copy: a view of the frame on the way in, the caller's
buffer on the way out. Kafka calls the type *records*, which is also the name of such fields."""
struct: Final = Kind("struct")
"""A nested struct; its class is the field's annotation."""
_ARRAY: Final = Kind("array")


def array(
    element: Kind,
    versions: str,
    *,
    nullable: str = "none",
    tag: int | None = None,
    ignorable: bool = False,
) -> Field:
    """A list of *element*; of structs, the class is the annotation's."""
    return Field(
        kind=_ARRAY,
        element=element,
        versions=Versions.parse(versions),
        nullable=Versions.parse(nullable),
        tag=tag,
        ignorable=ignorable,
    )


def is_array(wire: Field) -> bool:
    """Whether the field holds a list."""
    return wire.kind is _ARRAY


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundField:
    """A field of one class with all that a compiler needs to know of it."""

    name: str
    wire: Field
    default: Callable[[], Any]
    """Makes the value that the field has when a version or a sender leaves it out."""
    struct_class: type[WireStruct] | None
    """The class of a struct, or of an array's structs."""


@cache
def fields_of(cls: type[WireStruct]) -> tuple[BoundField, ...]:
    """The class's fields in wire order.

    Raises TypeError when a field has no wire form: every field of a wire struct goes on the wire.
    """
    hints = get_type_hints(cls, include_extras=True)
    return tuple(_bind(cls, field, hints[field.name]) for field in msgspec.structs.fields(cls))


def _bind(cls: type[WireStruct], field: msgspec.structs.FieldInfo, hint: Any) -> BoundField:
    wire = next((extra for extra in get_args(hint)[1:] if isinstance(extra, Field)), None)
    if wire is None:
        raise TypeError(f"{cls.__name__}.{field.name} declares no wire type")
    holds_structs = struct in (wire.kind, wire.element)
    return BoundField(
        name=field.name,
        wire=wire,
        default=_default_of(cls, field),
        struct_class=_struct_class(get_args(hint)[0]) if holds_structs else None,
    )


def _default_of(cls: type[WireStruct], field: msgspec.structs.FieldInfo) -> Callable[[], Any]:
    if field.default_factory is not msgspec.NODEFAULT:
        factory: Callable[[], Any] = field.default_factory
        return factory
    if field.default is msgspec.NODEFAULT:
        raise TypeError(f"{cls.__name__}.{field.name} has no default")
    value = field.default
    return lambda: value


def _struct_class(annotation: Any) -> type[WireStruct]:
    """The one struct class inside ``Topic``, ``Topic | None``, ``list[Topic]`` and so on."""
    if get_origin(annotation) is None:
        found: type[WireStruct] = annotation
        return found
    inner = [part for part in get_args(annotation) if part is not NoneType]
    return _struct_class(inner[0])
