"""The order that ``normalize=true`` asks for: properties and aliases sorted, empty docs gone.

After Confluent's ``AvroSchemaUtils.toNormalizedString``. A logical type that Avro knows comes
before the sorted properties. A numeric default of a double is written as a double. Three
deviations, where Confluent changes what a schema means: kept are a union's default that is not of
its first branch, the missing namespace of a type inside one that has a namespace, and the word
"error".
"""

from collections.abc import Mapping
from dataclasses import replace

from .json_text import JsonObject, JsonValue
from .logical import leading_props
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
from .numbers import narrowed


def normalized_model(model: Model) -> Model:
    """The same schema, in order. Twice is as good as once."""
    return Model(
        root=_type(model.root),
        definitions={
            full: _definition(definition, model.definitions)
            for full, definition in model.definitions.items()
        },
    )


def _type(schema: Type) -> Type:
    match schema:
        case Primitive():
            leading = leading_props(schema.kind, schema.props)
            return Primitive(schema.kind, _sorted_props(schema.props, leading))
        case Array():
            return Array(_type(schema.items), _sorted_props(schema.props))
        case Map():
            return Map(_type(schema.values), _sorted_props(schema.props))
        case Union():
            return Union(tuple(_type(branch) for branch in schema.branches))
        case Named():
            return schema


def _definition(definition: Definition, table: Definitions) -> Definition:
    doc = definition.doc or None
    aliases = tuple(sorted(definition.aliases, key=lambda name: _as_java(_alias(name, definition))))
    match definition:
        case Record():
            return replace(
                definition,
                doc=doc,
                aliases=aliases,
                props=_sorted_props(definition.props),
                fields=tuple(_field(field, table) for field in definition.fields),
            )
        case Enum():
            return replace(
                definition, doc=doc, aliases=aliases, props=_sorted_props(definition.props)
            )
        case Fixed():
            leading = leading_props("fixed", definition.props, size_bytes=definition.size_bytes)
            props = _sorted_props(definition.props, leading)
            return replace(definition, doc=doc, aliases=aliases, props=props)


def _field(field: Field, table: Definitions) -> Field:
    return replace(
        field,
        type=_type(field.type),
        default=_default(field.default, field.type, table),
        aliases=tuple(sorted(field.aliases, key=_as_java)),
        props=_sorted_props(field.props),
    )


def _default(value: JsonValue, schema: Type | None, table: Definitions) -> JsonValue:
    """*value* with sorted keys, and numbers as a field of that type holds them."""
    if isinstance(schema, Union):
        return _default(value, schema.branches[0] if schema.branches else None, table)
    if isinstance(value, list):
        items = schema.items if isinstance(schema, Array) else None
        return [_default(item, items, table) for item in value]
    if isinstance(value, Mapping):
        return {
            key: _default(value[key], _member(schema, key, table), table)
            for key in sorted(value, key=_as_java)
        }
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    match schema:
        case Primitive(kind="double"):
            return _double(value)
        case Primitive(kind="float"):
            return narrowed(_double(value))
        case _:
            return value


def _double(number: float) -> float:
    try:
        return float(number)
    except OverflowError:  # an integer beyond all doubles
        return float("inf") if number > 0 else float("-inf")


def _member(schema: Type | None, key: str, table: Definitions) -> Type | None:
    if isinstance(schema, Map):
        return schema.values
    definition = table[schema.name.full] if isinstance(schema, Named) else None
    if isinstance(definition, Record):
        return next((one.type for one in definition.fields if one.name == key), None)
    return None


def _sorted_props(props: JsonObject, leading: list[str] | None = None) -> JsonObject:
    ordered = [*(leading or []), *sorted(props, key=_as_java)]
    return {key: _sorted_value(props[key]) for key in dict.fromkeys(ordered)}


def _sorted_value(value: JsonValue) -> JsonValue:
    match value:
        case list():
            return [_sorted_value(item) for item in value]
        case Mapping():
            return {key: _sorted_value(value[key]) for key in sorted(value, key=_as_java)}
        case _:
            return value


def _alias(alias: Name, definition: Definition) -> str:
    is_bare = alias.space is None and definition.name.space is not None
    return f".{alias.simple}" if is_bare else alias.full


def _as_java(text: str) -> bytes:
    """What Java's order of strings compares: UTF-16 units."""
    return text.encode("utf-16-be", "surrogatepass")
