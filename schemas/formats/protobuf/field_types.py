"""What fields hold, seen as the wire sees it: which types read each other's bytes.

Source: "Updating A Message Type" of the language guide; the kinds are Confluent's
(``FieldSchemaDiff``), groups beside them.
"""

from dataclasses import dataclass
from enum import Enum as PythonEnum
from enum import auto
from typing import Final

from .elements import Enum, Field, Group
from .parser import SCALAR_TYPES
from .scope import DeclaredType, Scope


class Kind(PythonEnum):
    SCALAR = auto()
    MESSAGE = auto()
    MAP = auto()
    GROUP = auto()


NUMBERS: Final = "number"
TEXT: Final = "text"
_SCALAR_KINDS: Final = {
    **dict.fromkeys(("int32", "int64", "uint32", "uint64", "bool"), NUMBERS),
    **dict.fromkeys(("sint32", "sint64"), "signed"),
    **dict.fromkeys(("string", "bytes"), TEXT),
    **dict.fromkeys(("fixed32", "sfixed32"), "fixed32"),
    **dict.fromkeys(("fixed64", "sfixed64"), "fixed64"),
    "float": "float",
    "double": "double",
}
"""Scalars that read each other's bytes, by group; enums are numbers ("Updating A Message Type")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldType:
    """What a field holds. Scalars that read each other have one *scalar_kind*."""

    kind: Kind
    text: str
    scalar_kind: str | None = None
    declared: DeclaredType | None = None
    map_types: tuple["FieldType", ...] = ()
    """Key and value."""


def type_of(scope: Scope, field: Field | Group, inside: str) -> FieldType:
    """What *field* holds, its type's name resolved inside *inside*.

    A name that resolves to nothing is a message of which nothing else is known.
    """
    if isinstance(field, Group):
        return FieldType(kind=Kind.GROUP, text=f"group {field.name}")
    if field.map_key is not None:
        return _map_type(scope, field.map_key, field.type, inside)
    named = _named(scope, field.type, inside)
    entry = None if named.declared is None else named.declared.map_types
    if named.declared is None or entry is None:
        return named
    return _map_type(scope, *entry, named.declared.full_name)


def _named(scope: Scope, name: str, inside: str) -> FieldType:
    if name in SCALAR_TYPES:
        return FieldType(kind=Kind.SCALAR, text=name, scalar_kind=_SCALAR_KINDS[name])
    declared = scope.resolve(name, inside)
    if declared is None:
        return FieldType(kind=Kind.MESSAGE, text=name)
    if isinstance(declared.element, Enum):
        return FieldType(kind=Kind.SCALAR, text=declared.full_name, scalar_kind=NUMBERS)
    return FieldType(kind=Kind.MESSAGE, text=declared.full_name, declared=declared)


def _map_type(scope: Scope, key: str, value: str, inside: str) -> FieldType:
    return FieldType(
        kind=Kind.MAP,
        text=f"map<{key}, {value}>",
        map_types=(_named(scope, key, inside), _named(scope, value, inside)),
    )


def types_of_same_kind(writer: FieldType) -> list[str]:
    """What *writer*, a scalar, may become, for a sentence."""
    names = [name for name, kind in _SCALAR_KINDS.items() if kind == writer.scalar_kind]
    if writer.scalar_kind == NUMBERS:
        names.append("an enum")
    return [name for name in names if name != writer.text] or ["nothing else"]
