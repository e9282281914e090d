"""The text of a model, as Java's ``Schema.toString`` writes it (Avro 1.12).

A named type is written out where it comes first, by name afterwards. Its namespace stands there
only where it is not that of the type around it. One deviation: an alias without a namespace in a
type that has one keeps its dot (".X"), which Java drops and then reads as another name.
"""

from collections.abc import Iterable
from typing import Final

from ..contract import InvalidSchema
from .json_text import JsonObject, quoted, written
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
    Record,
    Type,
    Union,
)
from .names import Name

DEPTH_MAX: Final = 100
"""Types in each other once each stands where it comes first: bounds our recursion and readers'."""


def canonical_text(model: Model, known: Iterable[str] = ()) -> str:
    """*model* in one line; the types with full names in *known* are not written out.

    Raises InvalidSchema when types nest too deep, which names can bring about in a flat text.
    """
    writer = _Writer(model.definitions, set(known))
    writer.type(model.root, None, 0)
    return "".join(writer.parts)


def shallow_text(definition: Definition) -> str:
    """One definition, with every type that it uses by its name."""
    writer = _Writer({}, set())
    writer.definition(definition, None, 0)
    return "".join(writer.parts)


class _Writer:
    """Writes each type of the table once; what the table lacks, by name only."""

    def __init__(self, definitions: Definitions, known: set[str]) -> None:
        self.parts: list[str] = []
        self._definitions = definitions
        self._known = known

    def type(self, schema: Type, space: str | None, depth: int) -> None:
        if depth > DEPTH_MAX:
            raise InvalidSchema(f"types nest deeper than {DEPTH_MAX} levels, names put in place")
        match schema:
            case Primitive():
                self._primitive(schema)
            case Array():
                self._container("array", "items", schema.items, schema.props, space, depth)
            case Map():
                self._container("map", "values", schema.values, schema.props, space, depth)
            case Union():
                self._union(schema, space, depth)
            case Named():
                self._named(schema.name, space, depth)

    def definition(self, definition: Definition, space: str | None, depth: int) -> None:
        name, parts = definition.name, self.parts
        is_error = isinstance(definition, Record) and definition.is_error
        word = "error" if is_error else type(definition).__name__.lower()
        parts.append(f'{{"type":"{word}","name":{quoted(name.simple)}')
        if name.space != space:
            parts.append(f',"namespace":{quoted(name.space or "")}')
        if definition.doc is not None:
            parts.append(f',"doc":{quoted(definition.doc)}')
        match definition:
            case Record():
                self._fields(definition, depth)
            case Enum():
                parts.append(f',"symbols":{written(list(definition.symbols))}')
                if definition.default is not None:
                    parts.append(f',"default":{quoted(definition.default)}')
            case Fixed():
                parts.append(f',"size":{definition.size_bytes}')
        self._props(definition.props)
        if definition.aliases:
            parts.append(f',"aliases":{written([_alias(one, name) for one in definition.aliases])}')
        parts.append("}")

    def _primitive(self, schema: Primitive) -> None:
        if not schema.props:
            self.parts.append(f'"{schema.kind}"')
            return
        self.parts.append(f'{{"type":"{schema.kind}"')
        self._props(schema.props)
        self.parts.append("}")

    def _container(
        self, word: str, key: str, inner: Type, props: JsonObject, space: str | None, depth: int
    ) -> None:
        self.parts.append(f'{{"type":"{word}","{key}":')
        self.type(inner, space, depth + 1)
        self._props(props)
        self.parts.append("}")

    def _union(self, union: Union, space: str | None, depth: int) -> None:
        self.parts.append("[")
        for index, branch in enumerate(union.branches):
            if index:
                self.parts.append(",")
            self.type(branch, space, depth + 1)
        self.parts.append("]")

    def _named(self, name: Name, space: str | None, depth: int) -> None:
        definition = self._definitions.get(name.full)
        if definition is None or name.full in self._known:
            self.parts.append(quoted(name.seen_from(space)))
            return
        self._known.add(name.full)
        self.definition(definition, space, depth)

    def _fields(self, record: Record, depth: int) -> None:
        self.parts.append(',"fields":[')
        for index, field in enumerate(record.fields):
            if index:
                self.parts.append(",")
            self.parts.append(f'{{"name":{quoted(field.name)},"type":')
            self.type(field.type, record.name.space, depth + 1)
            self._rest_of_field(field)
        self.parts.append("]")

    def _rest_of_field(self, field: Field) -> None:
        if field.doc is not None:
            self.parts.append(f',"doc":{quoted(field.doc)}')
        if field.has_default:
            self.parts.append(f',"default":{written(field.default)}')
        if field.order != "ascending":
            self.parts.append(f',"order":"{field.order}"')
        if field.aliases:
            self.parts.append(f',"aliases":{written(list(field.aliases))}')
        self._props(field.props)
        self.parts.append("}")

    def _props(self, props: JsonObject) -> None:
        for key, value in props.items():
            self.parts.append(f",{quoted(key)}:{written(value)}")


def _alias(alias: Name, name: Name) -> str:
    if alias.space is None and name.space is not None:
        return f".{alias.simple}"
    return alias.seen_from(name.space)
