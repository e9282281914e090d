"""Recursive, wide and hostile schemas: the right answer, or none, soon."""

import json
from typing import Any

import pytest

from headwater.schemas.formats.json_schema import JSON_SCHEMA


def told(writer: Any, reader: Any) -> list[tuple[str, str]]:
    """Kinds and paths."""
    parsed = [JSON_SCHEMA.parse(json.dumps(schema), {}) for schema in (writer, reader)]
    found = JSON_SCHEMA.incompatibilities(writer=parsed[0], reader=parsed[1])
    return [(i.kind, i.path) for i in found]


def tree(leaf: str) -> dict[str, Any]:
    """A node with children of its own kind."""
    members = {"leaf": {"type": leaf}, "children": {"type": "array", "items": {"$ref": "#"}}}
    return {"type": "object", "properties": members, "additionalProperties": False}


def product(id_type: str, refers_to: str) -> dict[str, Any]:
    """An object with an id and a reference to another one."""
    union = {"oneOf": [{"$ref": f"#/definitions/{refers_to}"}]}
    return {"type": "object", "properties": {"id": {"type": id_type}, "ref": union}}


def market(size: int, first_id: str) -> dict[str, Any]:
    """Types that all refer to all, in unions written out at every place."""
    names = [f"T{index}" for index in range(size)]
    union = {"oneOf": [{"$ref": f"#/definitions/{name}"} for name in names]}
    types: dict[str, Any] = {
        name: {
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                name: {"const": name},
                "under": union,
                "over": union,
            },
        }
        for name in names
    }
    types["T0"]["properties"]["id"] = {"type": first_id}
    return {"definitions": types, "properties": {"root": union}}


def test_a_recursive_schema_suits_itself_and_its_change_is_told_once() -> None:
    """Not once per level that anybody could write."""
    assert told(tree("string"), tree("string")) == []
    assert told(tree("integer"), tree("number")) == []
    assert told(tree("number"), tree("integer")) == [("TYPE_NARROWED", "#/properties/leaf")]


def test_a_cycle_does_not_hide_a_change_behind_it() -> None:
    """T0 → T2 → T0: that (T0, T0) seemed fine while it was looked at must not stay believed."""

    def schema(first: str, second: str) -> dict[str, Any]:
        root = {"oneOf": [{"$ref": "#/definitions/T0"}, {"$ref": "#/definitions/T1"}]}
        types = {
            "T0": product(first, "T2"),
            "T1": product(second, "T2"),
            "T2": product("integer", "T0"),
        }
        return {"definitions": types, "properties": {"root": root}}

    assert told(schema("integer", "boolean"), schema("boolean", "number")) == [
        ("COMBINED_TYPE_SUBSCHEMAS_CHANGED", "#/properties/root")
    ]


def test_unions_of_everything_are_compared_soon() -> None:
    """Thirty types, each with two unions of all thirty."""
    assert told(market(30, "string"), market(30, "string")) == []
    assert told(market(30, "string"), market(30, "null")) == [
        ("COMBINED_TYPE_SUBSCHEMAS_CHANGED", "#/properties/root")
    ]


def test_references_lead_as_deep_as_they_like() -> None:
    """No stack follows them; what lies too deep to be told is told where the telling ends."""

    def chain(leaf: str) -> dict[str, Any]:
        links = {
            f"d{i}": {"properties": {"next": {"$ref": f"#/definitions/d{i + 1}"}}}
            for i in range(500)
        }
        return {"$ref": "#/definitions/d0", "definitions": links | {"d500": {"type": leaf}}}

    assert told(chain("string"), chain("string")) == []
    [(kind, path)] = told(chain("string"), chain("null"))
    assert kind == "TYPE_CHANGED"
    assert path.startswith("#/properties/next/properties/next/")
    assert len(path) < 5_000


@pytest.mark.parametrize(
    "loop",
    [
        {"$ref": "#"},
        {"$ref": "#/definitions/a", "definitions": {"a": {"$ref": "#"}}},
        {"allOf": [{"$ref": "#"}]},
        {"not": {"$ref": "#"}},
    ],
    ids=json.dumps,
)
def test_references_in_circles_end(loop: dict[str, Any]) -> None:
    """Whatever they mean."""
    assert told(loop, loop) == []
    told({"type": "string"}, loop)
    told(loop, {"type": "string"})


@pytest.mark.slow
def test_too_many_questions_are_refused() -> None:
    """Ten unions of three hundred, no two alike: nobody waits for the answer."""
    wide = [
        {"anyOf": [{"type": "string", "maxLength": k * 300 + n} for n in range(300)]}
        for k in range(10)
    ]
    schema = {"properties": {f"p{index}": union for index, union in enumerate(wide)}}

    parsed = JSON_SCHEMA.parse(json.dumps(schema), {})
    [refusal] = JSON_SCHEMA.incompatibilities(writer=parsed, reader=parsed)
    assert "too entangled" in refusal.hint


def test_patterns_that_explode_cost_no_time() -> None:
    """Python's own engine would not come back."""
    writer = {"properties": {"a" * 60: {"type": "string"}}, "additionalProperties": False}
    reader: dict[str, Any] = {"patternProperties": {"^(?=(a+)+$)(a|a)*b$": {}, "(a*)*c": {}}}

    told(writer, {**writer, **reader})
    told({**writer, **reader}, {"properties": {"a" * 50: {"type": "string"}}})


def test_an_answer_has_a_bound() -> None:
    """Two hundred reasons are enough."""
    writer, reader = (
        {"properties": {f"p{index}": {"type": name} for index in range(300)}}
        for name in ("string", "null")
    )

    assert len(told(writer, reader)) == 200


def test_the_same_change_is_told_at_every_path() -> None:
    """Equal schemas are compared once, but each place needs its own hint."""
    writer, reader = (
        {"properties": {f"p{index}": {"type": name} for index in range(20)}}
        for name in ("string", "null")
    )

    assert told(writer, reader) == [("TYPE_CHANGED", f"#/properties/p{n}") for n in range(20)]
