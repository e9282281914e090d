"""From a schema's text to its model, refusing what Java's ``Schema.Parser`` (Avro 1.12) refuses.

Two deviations. A name inside the record that it names means that record even where another is
called so without a namespace, as the specification has it. And types nest 100 deep at most; Java's
stack ends somewhere.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from .attributes import (
    Path,
    aliases,
    aliases_of_type,
    checked_at,
    default_double,
    invalid,
    is_object,
    name_at,
    optional_text,
    order,
    own_name,
    props,
    required_text,
    shown,
)
from .canonical import shallow_text
from .defaults import check_defaults
from .json_text import JsonObject, JsonValue, read
from .model import (
    PRIMITIVES,
    Array,
    Definition,
    Enum,
    Field,
    Fixed,
    Map,
    Model,
    Named,
    Primitive,
    Record,
    Type,
    Union,
)

TYPE_DEPTH_MAX: Final = 100
"""Types in each other, as written; Python's stack holds more, Java's also."""
FIXED_BYTES_MAX: Final = 2**31 - 9
"""Java's longest array, less what virtual machines keep of it."""

_RESERVED: Final = frozenset(
    ("doc", "fields", "items", "name", "namespace", "size", "symbols", "values", "type", "aliases")
)
_ENUM_RESERVED: Final = _RESERVED | {"default"}
_FIELD_RESERVED: Final = frozenset(("default", "doc", "name", "order", "type", "aliases"))


def parse(text: str, known: Mapping[str, Definition], *, is_new: bool = False) -> Model:
    """The model of *text*, which may name the types in *known*; of new ones defaults must fit.

    The table of the model holds *known* too. A type may be defined again if it stays the same.
    Raises InvalidSchema with a JSON pointer into the text.
    """
    reading = _Reading(known)
    root = reading.type(read(text), None, ())
    reading.settle()
    model = Model(root=root, definitions=reading.definitions)
    if is_new:
        check_defaults(reading.written_here, model.definitions)
    return model


class _Reading:
    """One text under way."""

    def __init__(self, known: Mapping[str, Definition]) -> None:
        self.definitions = dict(known)
        self.written_here: list[Definition] = []
        self._open: set[str] = set()
        """Full names of the records around the place that is being read."""
        self._awaited: list[tuple[str, Path]] = []
        """Names used before their types were seen, and where."""
        self._unions: list[tuple[Union, Path]] = []
        self._depth = 0
        self._readers: Mapping[str, Callable[[JsonObject, str | None, Path], Type]] = {
            "record": self._record,
            "error": self._record,
            "enum": self._enum,
            "fixed": self._fixed,
            "array": self._array,
            "map": self._map,
        }

    def type(self, value: JsonValue, space: str | None, path: Path) -> Type:
        """The type that *value* is, in namespace *space*."""
        if self._depth >= TYPE_DEPTH_MAX:
            raise invalid(f"Types nest deeper than {TYPE_DEPTH_MAX} levels", path)
        self._depth += 1
        try:
            return self._type(value, space, path)
        finally:
            self._depth -= 1

    def settle(self) -> None:
        """What only the whole text tells: every name is defined, no branch stands twice."""
        for full, path in self._awaited:
            if full not in self.definitions:
                raise invalid(
                    f'Undefined schema: "{full}"; define it, or add a reference to its schema', path
                )
        for union, path in self._unions:
            seen: set[str] = set()
            for branch in union.branches:
                name = _branch_name(branch)
                if name in seen:
                    raise invalid(f"Duplicate in union: {name}", path)
                seen.add(name)

    def _type(self, value: JsonValue, space: str | None, path: Path) -> Type:
        match value:
            case str():
                return self._named(value, space, path)
            case list():
                return self._union(value, space, path)
            case Mapping():
                word = required_text(value, "type", "No type", path)
                if word in PRIMITIVES:
                    return Primitive(PRIMITIVES[word], props(value, _RESERVED))
                reader = self._readers.get(word)
                return (
                    self._named(word, space, path) if reader is None else reader(value, space, path)
                )
            case _:
                raise invalid(f"Schema not yet supported: {shown(value)}", path)

    def _named(self, text: str, space: str | None, path: Path) -> Type:
        if text in PRIMITIVES:
            return Primitive(PRIMITIVES[text], {})
        near, bare = name_at(text, space, path), name_at(text, None, path)
        if near.full in self.definitions or near.full in self._open:
            return Named(near)
        if bare.full in self.definitions:
            return Named(bare)
        self._awaited.append((near.full, path))
        return Named(near)

    def _union(self, values: list[JsonValue], space: str | None, path: Path) -> Union:
        branches = []
        for index, value in enumerate(values):
            branch = self.type(value, space, (*path, index))
            if isinstance(branch, Union):
                raise invalid("Nested union", (*path, index))
            branches.append(branch)
        union = Union(tuple(branches))
        self._unions.append((union, path))
        return union

    def _array(self, value: JsonObject, space: str | None, path: Path) -> Array:
        if "items" not in value:
            raise invalid(f"Array has no items type: {shown(value)}", path)
        items = self.type(value["items"], space, (*path, "items"))
        return Array(items, props(value, _RESERVED))

    def _map(self, value: JsonObject, space: str | None, path: Path) -> Map:
        if "values" not in value:
            raise invalid(f"Map has no values type: {shown(value)}", path)
        values = self.type(value["values"], space, (*path, "values"))
        return Map(values, props(value, _RESERVED))

    def _record(self, value: JsonObject, space: str | None, path: Path) -> Named:
        name = own_name(value, space, path)
        fields = value.get("fields")
        if not isinstance(fields, list):
            raise invalid(f"Record has no fields: {shown(value)}", path)
        is_outermost = name.full not in self._open
        self._open.add(name.full)
        read_fields: dict[str, Field] = {}
        for index, given in enumerate(fields):
            place = (*path, "fields", index)
            field = self._field(given, name.space, place)
            if field.name in read_fields:
                raise invalid(f"Duplicate field {field.name} in record {name.full}", place)
            read_fields[field.name] = field
        if is_outermost:
            self._open.remove(name.full)
        record = Record(
            name=name,
            doc=optional_text(value, "doc"),
            fields=tuple(read_fields.values()),
            aliases=aliases_of_type(value, name, path),
            props=props(value, _RESERVED),
            is_error=value["type"] == "error",
        )
        return self._defined(record, path)

    def _field(self, value: JsonValue, space: str | None, path: Path) -> Field:
        if not is_object(value):
            raise invalid(f"No field name: {shown(value)}", path)
        name = checked_at(required_text(value, "name", "No field name", path), path)
        if "type" not in value:
            raise invalid(f"No field type: {shown(value)}", path)
        field_type = self.type(value["type"], space, (*path, "type"))
        default = value.get("default")
        if isinstance(field_type, Primitive) and field_type.kind in ("float", "double"):
            default = default_double(default, path)
        return Field(
            name=name,
            type=field_type,
            doc=optional_text(value, "doc"),
            has_default="default" in value,
            default=default,
            order=order(value, path),
            aliases=aliases(value, path),
            props=props(value, _FIELD_RESERVED),
        )

    def _enum(self, value: JsonObject, space: str | None, path: Path) -> Named:
        name = own_name(value, space, path)
        given = value.get("symbols")
        if not isinstance(given, list):
            raise invalid(f"Enum has no symbols: {shown(value)}", path)
        symbols: dict[str, None] = {}
        for index, symbol in enumerate(given):
            place = (*path, "symbols", index)
            if not isinstance(symbol, str):
                raise invalid(f"Enum symbol is not a string: {shown(symbol)}", place)
            if checked_at(symbol, place) in symbols:
                raise invalid(f"Duplicate enum symbol: {symbol}", place)
            symbols[symbol] = None
        default = optional_text(value, "default")
        if default is not None and default not in symbols:
            raise invalid(
                f"The Enum Default: {default} is not in the enum symbol set: {shown(given)}", path
            )
        enum = Enum(
            name=name,
            doc=optional_text(value, "doc"),
            symbols=tuple(symbols),
            default=default,
            aliases=aliases_of_type(value, name, path),
            props=props(value, _ENUM_RESERVED),
        )
        return self._defined(enum, path)

    def _fixed(self, value: JsonObject, space: str | None, path: Path) -> Named:
        name = own_name(value, space, path)
        size_bytes = value.get("size")
        is_int = isinstance(size_bytes, int) and not isinstance(size_bytes, bool)
        if not isinstance(size_bytes, int) or not is_int or not 0 <= size_bytes <= FIXED_BYTES_MAX:
            raise invalid(f"Invalid or no size: {shown(value)}", path)
        fixed = Fixed(
            name=name,
            doc=optional_text(value, "doc"),
            size_bytes=size_bytes,
            aliases=aliases_of_type(value, name, path),
            props=props(value, _RESERVED),
        )
        return self._defined(fixed, path)

    def _defined(self, definition: Definition, path: Path) -> Named:
        earlier = self.definitions.setdefault(definition.name.full, definition)
        if earlier is definition:
            self.written_here.append(definition)
        elif _meaning(earlier) != _meaning(definition):
            raise invalid(f"Can't redefine: {definition.name.full}", path)
        return Named(definition.name)


def _meaning(definition: Definition) -> str:
    """A text that two definitions share when they differ in words for people and aliases only."""
    bare = replace(definition, doc=None, aliases=(), props=dict(sorted(definition.props.items())))
    if isinstance(bare, Record):
        bare = replace(
            bare,
            fields=tuple(
                replace(field, doc=None, aliases=(), props=dict(sorted(field.props.items())))
                for field in bare.fields
            ),
        )
    return shallow_text(bare)


def _branch_name(branch: Type) -> str:
    match branch:
        case Primitive():
            return branch.kind
        case Named():
            return branch.name.full
        case _:
            return type(branch).__name__.lower()
