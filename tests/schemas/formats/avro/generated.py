"""Schemas by dice, as JSON: full of names that collide, near misses and everything optional."""

from random import Random
from typing import Any

Json = Any  # a schema's text as Python has it: JSON edge

PRIMITIVES = ["null", "boolean", "int", "long", "float", "double", "bytes", "string"]
SPACES = [None, "a", "a.b", "c"]
SIMPLE_NAMES = ["P", "Q", "R", "int2", "record"]
FIELD_NAMES = ["f", "g", "h"]
SYMBOLS = ["RED", "GREEN", "BLUE", "_1"]
LOGICAL: list[dict[str, Json]] = [
    {"logicalType": "date"},
    {"logicalType": "timestamp-millis"},
    {"logicalType": "uuid"},
    {"logicalType": "decimal", "precision": 4, "scale": 2},
    {"precision": 4, "logicalType": "decimal", "scale": 0},
    {"logicalType": "decimal", "precision": 0},
]
EXTRA: list[dict[str, Json]] = [
    {"connect.name": "x", "avro.java.string": "String"},
    {"zeta": [1, 2.5, {"b": None, "a": True}], "alpha": {"y": 1e20, "x": -0.0}},
    {"name": "reserved", "note": '"quoted"\n\u001f/\u2028'},
]


class SchemaMaker:
    """One random schema after the other; *pick* decides everything.

    *is_plain* leaves out logical types and properties, which readers of data act on.
    """

    def __init__(self, pick: Random, *, is_plain: bool = False) -> None:
        self._pick = pick
        self._is_plain = is_plain
        self._defined: dict[str, str] = {}
        """Full names of the types written so far, with the namespace."""
        self._depth = 0

    def schema(self, depth_max: int = 3) -> Json:
        """A schema that parses, up to unions that turn out to have a branch twice."""
        self._defined = {}
        return self._type(None, depth_max, is_branch=False)

    def _type(self, space: str | None, depth: int, *, is_branch: bool) -> Json:
        pick = self._pick
        if depth <= 0 or pick.random() < 0.35:
            return self._primitive()
        kinds = ["record", "record", "enum", "fixed", "array", "map", "name", "primitive"]
        kind = pick.choice(kinds if is_branch else [*kinds, "union", "union"])
        match kind:
            case "primitive":
                return self._primitive()
            case "array":
                items = self._type(space, depth - 1, is_branch=False)
                return self._extra({"type": "array", "items": items})
            case "map":
                values = self._type(space, depth - 1, is_branch=False)
                return self._extra({"type": "map", "values": values})
            case "union":
                return self._union(space, depth)
            case "name":
                near = [full for full in self._defined if pick.random() < 0.5]
                return pick.choice(near) if near else self._primitive()
            case _:
                return self._named(kind, space, depth)

    def _primitive(self) -> Json:
        kind = self._pick.choice(PRIMITIVES)
        if self._is_plain or self._pick.random() < 0.7:
            return kind
        logical = self._pick.choice(LOGICAL) if self._pick.random() < 0.5 else {}
        return self._extra({"type": kind, **logical})

    def _union(self, space: str | None, depth: int) -> Json:
        branches: dict[str, Json] = {}
        for _ in range(self._pick.randrange(1, 4)):
            branch = self._type(space, depth - 1, is_branch=True)
            branches[_branch_key(branch)] = branch
        return list(branches.values())

    def _named(self, kind: str, space: str | None, depth: int) -> Json:
        pick = self._pick
        own_space = pick.choice(SPACES) if pick.random() < 0.5 else space
        free = [
            name
            for name in SIMPLE_NAMES
            if (name if own_space is None else f"{own_space}.{name}") not in self._defined
        ]
        if not free:
            return self._primitive()
        simple = pick.choice(free)
        full = simple if own_space is None else f"{own_space}.{simple}"
        self._defined[full] = kind
        schema: dict[str, Json] = {"type": kind, "name": simple}
        if own_space is not None and pick.random() < 0.3:
            schema["name"] = full
        elif own_space != space:
            schema["namespace"] = own_space or ""
        if pick.random() < 0.3:
            schema["doc"] = pick.choice(["", "what it is", 'say "é"'])
        if pick.random() < 0.3:
            schema["aliases"] = pick.sample(["P", "a.Q", "c.R", "Old"], pick.randrange(3))
        return self._extra(schema | self._body(kind, own_space, depth))

    def _body(self, kind: str, space: str | None, depth: int) -> dict[str, Json]:
        pick = self._pick
        if kind == "record":
            names = pick.sample(FIELD_NAMES, pick.randrange(4))
            return {"fields": [self._field(name, space, depth) for name in names]}
        if kind == "fixed":
            is_logical = not self._is_plain and pick.random() < 0.4
            return {
                "size": pick.choice([4, 12, 16]),
                **(pick.choice(LOGICAL) if is_logical else {}),
            }
        symbols = pick.sample(SYMBOLS, pick.randrange(1, 4))
        return {"symbols": symbols, **({"default": symbols[0]} if pick.random() < 0.3 else {})}

    def _field(self, name: str, space: str | None, depth: int) -> Json:
        pick = self._pick
        field: dict[str, Json] = {
            "name": name,
            "type": self._type(space, depth - 1, is_branch=False),
        }
        if pick.random() < 0.2:
            field["doc"] = pick.choice(["", "of a field"])
        if pick.random() < 0.4:
            default = self._default(field["type"])
            if default is not _NONE:
                field["default"] = default
        if pick.random() < 0.2:
            field["order"] = pick.choice(["ascending", "descending", "ignore"])
        if pick.random() < 0.2:
            field["aliases"] = pick.sample([*FIELD_NAMES, "old"], pick.randrange(1, 3))
        return self._extra(field)

    def _default(self, schema: Json) -> Json:
        """A value of the type, or _NONE where that takes thought."""
        if isinstance(schema, list):
            return self._default(self._pick.choice(schema))
        kind = schema["type"] if isinstance(schema, dict) else schema
        if kind == "enum":
            return schema["symbols"][0]
        if kind == "fixed":
            return "\u0000" * schema["size"]
        return self._pick.choice(_DEFAULTS.get(kind, [_NONE]))

    def _extra(self, schema: dict[str, Json]) -> dict[str, Json]:
        if not self._is_plain and self._pick.random() < 0.15:
            return {**self._pick.choice(EXTRA), **schema}
        return schema


_NONE = object()
_DOUBLES = [0, 1.5, 1e7, 123456.789, 1e-3, 9.5e-4, -1e21, 0.1]
_DEFAULTS: dict[str, list[Json]] = {
    "null": [None],
    "boolean": [True, False],
    "int": [0, -1, 2**31 - 1],
    "long": [0, 2**40, -(2**63)],
    "float": _DOUBLES,
    "double": _DOUBLES,
    "string": ["", "x", "\u00ff\t"],
    "bytes": ["", "x", "\u00ff\t"],
    "array": [[]],
    "map": [{}],
}


def evolved(schema: Json, pick: Random) -> Json:
    """*schema* with something changed somewhere, as people change schemas; it may not parse."""
    if isinstance(schema, list):
        return _evolved_union(schema, pick)
    if isinstance(schema, str):
        return pick.choice(PRIMITIVES) if schema in PRIMITIVES and pick.random() < 0.2 else schema
    if pick.random() < 0.05:
        return ["null", schema]
    changed = dict(schema)
    for key in {"items", "values"} & schema.keys():
        changed[key] = evolved(schema[key], pick)
    if schema["type"] in PRIMITIVES and pick.random() < 0.2:
        changed["type"] = pick.choice(PRIMITIVES)
    if "fields" in schema:
        changed["fields"] = _evolved_fields(schema["fields"], pick)
    if "symbols" in schema and pick.random() < 0.3:
        changed |= {"symbols": pick.sample(SYMBOLS, 3), "default": None}
        changed["default"] = pick.choice([None, changed["symbols"][0]])
    if "size" in schema and pick.random() < 0.1:
        changed["size"] = 8
    return _renamed(changed, pick)


def _evolved_union(branches: Json, pick: Random) -> Json:
    changed = [evolved(branch, pick) for branch in branches]
    if pick.random() < 0.2 and changed:
        changed.pop(pick.randrange(len(changed)))
    if pick.random() < 0.2:
        changed.append(pick.choice(PRIMITIVES))
    return changed


def _renamed(schema: Json, pick: Random) -> Json:
    if schema["type"] not in ("record", "enum", "fixed") or pick.random() >= 0.1:
        return schema
    aliases = {"aliases": [schema["name"]]} if pick.random() < 0.5 else {}
    return {**schema, "name": "Renamed", **aliases}


def _evolved_fields(fields: Json, pick: Random) -> Json:
    changed = [{**field, "type": evolved(field["type"], pick)} for field in fields]
    if changed and pick.random() < 0.2:
        changed.pop(pick.randrange(len(changed)))
    if changed and pick.random() < 0.1:
        pick.choice(changed).pop("default", None)
    free = [
        name for name in [*FIELD_NAMES, "added"] if name not in {one["name"] for one in changed}
    ]
    if free and pick.random() < 0.3:
        added: dict[str, Json] = {"name": pick.choice(free), "type": "int"}
        changed.append({**added, "default": 1} if pick.random() < 0.6 else added)
    if changed and pick.random() < 0.1:
        one = pick.choice(changed)
        one["aliases"] = [one["name"]]
        one["name"] = "renamed"
    return changed


def _branch_key(branch: Json) -> str:
    if isinstance(branch, str):
        return branch
    return str(branch.get("name") or branch["type"])
