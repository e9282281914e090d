"""Values of schemas by dice, in the shape that fastavro writes."""

from random import Random
from typing import Any

Json = Any  # a schema as Python has it: JSON edge

DEPTH_MAX = 8

_PRIMITIVE_VALUES: dict[str, list[Json]] = {
    "null": [None],
    "boolean": [True, False],
    "int": [0, -(2**31), 2**31 - 1],
    "long": [0, -(2**63), 2**63 - 1],
    "float": [0.0, -1.5, 1e30],
    "double": [0.0, -1.5, 1e300],
    "string": ["", "é"],
    "bytes": [b"", b"a"],  # what is not UTF-8 is read as no string
}


class Endless(Exception):
    """A record that contains itself without a way out, as far as the dice went."""


class ValueMaker:
    """One random value of a schema after the other."""

    def __init__(self, schema: Json, pick: Random) -> None:
        self._schema = schema
        self._pick = pick
        self._definitions: dict[str, Json] = {}
        self._collect(schema, None)

    def value(self) -> Json:
        """A value. Raises Endless."""
        return self._value(self._schema, None, 0)

    def _collect(self, schema: Json, space: str | None) -> None:
        if isinstance(schema, list):
            for branch in schema:
                self._collect(branch, space)
        elif isinstance(schema, dict):
            full = _full_name(schema, space)
            if schema["type"] in ("record", "enum", "fixed"):
                self._definitions[full] = schema
                space = full.rpartition(".")[0] or None
            for field in schema.get("fields", ()):
                self._collect(field["type"], space)
            for key in ("items", "values"):
                if key in schema:
                    self._collect(schema[key], space)

    def _value(self, schema: Json, space: str | None, depth: int) -> Json:
        if depth > DEPTH_MAX:
            raise Endless
        pick = self._pick
        if isinstance(schema, list):
            branch = pick.choice(schema)
            return (self._branch_name(branch, space), self._value(branch, space, depth + 1))
        return self._of_kind(self._definition(schema, space), space, depth)

    def _of_kind(self, schema: Json, space: str | None, depth: int) -> Json:
        pick = self._pick
        kind = schema if isinstance(schema, str) else schema["type"]
        if kind == "record":
            inner = _full_name(schema, space).rpartition(".")[0] or None
            return {
                field["name"]: self._value(field["type"], inner, depth + 1)
                for field in schema["fields"]
            }
        if kind == "array":
            items = range(pick.randrange(3))
            return [self._value(schema["items"], space, depth + 1) for _ in items]
        if kind == "map":
            return {key: self._value(schema["values"], space, depth + 1) for key in "ab"}
        if kind == "fixed":
            return bytes(schema["size"])
        return pick.choice(schema["symbols"] if kind == "enum" else _PRIMITIVE_VALUES[kind])

    def _definition(self, schema: Json, space: str | None) -> Json:
        """What a name means; where it is defined in another namespace, with that one."""
        if not isinstance(schema, str):
            return schema
        for full in (f"{space}.{schema}", schema):
            if full in self._definitions:
                return {**self._definitions[full], "name": full, "namespace": ""}
        return schema

    def _branch_name(self, branch: Json, space: str | None) -> str:
        schema = self._definition(branch, space)
        return schema if isinstance(schema, str) else _full_name(schema, space)


def _full_name(schema: Json, space: str | None) -> str:
    if "name" not in schema:
        return str(schema["type"])
    name = str(schema["name"])
    if "." in name:
        return name
    own_space = schema.get("namespace", space)
    return f"{own_space}.{name}" if own_space else name
