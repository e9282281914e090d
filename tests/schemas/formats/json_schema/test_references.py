"""Where a ``$ref`` leads: within the document, by id, by anchor, among the references."""

import json
from typing import Any

import pytest

from headwater.schemas.formats.json_schema import JSON_SCHEMA, validator

STRING = {"type": "string"}
MODERN = "https://json-schema.org/draft/2020-12/schema"


def suits(writer: Any, reader: Any, **references: Any) -> bool:
    """Does all that *writer* allows suit *reader*? Both refer to the same documents."""
    named = {name.replace("__", "."): json.dumps(value) for name, value in references.items()}
    parsed = [JSON_SCHEMA.parse(json.dumps(s), named, is_new=True) for s in (writer, reader)]
    return not JSON_SCHEMA.incompatibilities(writer=parsed[0], reader=parsed[1])


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/definitions/a", "definitions": {"a": STRING}},
        {"$ref": "#/definitions/a%20~1~0b", "definitions": {"a /~b": STRING}},
        {"$ref": "#/x/1", "x": [1, STRING]},
        {"$ref": "#a", "definitions": {"x": {"$id": "#a", **STRING}}},
        {"$schema": MODERN, "$ref": "#a", "$defs": {"x": {"$anchor": "a", **STRING}}},
        {"$schema": MODERN, "$dynamicRef": "#a", "$defs": {"x": {"$dynamicAnchor": "a", **STRING}}},
        {"$schema": MODERN, "$ref": "x", "$defs": {"x": {"$id": "x", **STRING}}},
        {
            "$schema": MODERN,
            "$id": "http://h.example/a/root",
            "$ref": "/b/x",
            "$defs": {"x": {"$id": "http://h.example/b/x", **STRING}},
        },
        {
            "$schema": MODERN,
            "$ref": "x#/$defs/y",
            "$defs": {"x": {"$id": "x", "$defs": {"y": {"$ref": "#/$defs/z"}, "z": STRING}}},
        },
        {"$ref": "#/definitions/a", "definitions": {"a": {"$ref": "#/definitions/b"}, "b": STRING}},
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "$ref": "#a",
            "definitions": {"x": {"id": "#a", **STRING}},
        },
    ],
    ids=lambda schema: str(schema.get("$ref") or schema.get("$dynamicRef")),
)
def test_a_reference_means_what_it_leads_to(schema: dict[str, Any]) -> None:
    """In a comparison as in a validation."""
    assert suits(schema, STRING)
    assert suits(STRING, schema)
    assert not suits({"type": "number"}, schema)
    assert validator(json.dumps(schema), {}).is_valid("a")
    assert not validator(json.dumps(schema), {}).is_valid(1)


@pytest.mark.parametrize(
    ("root", "reference"),
    [
        ({}, "text__json"),
        ({}, "./text__json"),
        ({"$id": "http://h.example/a/root.json"}, "text__json"),
        ({"$id": "http://h.example/a/root.json"}, "http://h.example/a/text__json"),
    ],
)
def test_references_are_found_by_name_whatever_the_id(root: dict[str, Any], reference: str) -> None:
    """By the name itself, and by the name against the schema's own id."""
    reference = reference.replace("__", ".")
    schema = {**root, "properties": {"a": {"$ref": reference}}}

    assert suits(schema, {"properties": {"a": STRING}}, text__json=STRING)
    assert not suits(schema, {"properties": {"a": {"type": "null"}}}, text__json=STRING)
    compiled = validator(json.dumps(schema), {"text.json": json.dumps(STRING)})
    assert compiled.is_valid({"a": "x"})
    assert not compiled.is_valid({"a": 1})


def test_references_refer_to_each_other_and_to_their_own_parts() -> None:
    """A part of a reference, seen from another reference."""
    schema = {"properties": {"a": {"$ref": "one.json"}}}
    one = {"items": {"$ref": "two.json#/definitions/t"}}
    two = {"definitions": {"t": {"$ref": "#/definitions/u"}, "u": STRING}}

    plain = {"properties": {"a": {"items": STRING}}}
    assert suits(schema, plain, one__json=one, two__json=two)
    assert suits(plain, schema, one__json=one, two__json=two)
    texts = {"one.json": json.dumps(one), "two.json": json.dumps(two)}
    assert not validator(json.dumps(schema), texts).is_valid({"a": [1]})


def test_a_reference_found_by_its_own_id() -> None:
    """The name may be anything when the document says who it is."""
    schema = {"properties": {"a": {"$ref": "http://h.example/t"}}}
    named = {"$id": "http://h.example/t", **STRING}

    assert suits(schema, {"properties": {"a": STRING}}, whatever=named)
    assert not validator(json.dumps(schema), {"whatever": json.dumps(named)}).is_valid({"a": 1})


def test_what_stands_beside_a_reference_counts_from_2019_on() -> None:
    """Draft 7 passes it over."""
    schema = {"$ref": "#/definitions/a", "maxLength": 1, "definitions": {"a": STRING}}

    assert suits(STRING, schema)
    assert not suits(STRING, {"$schema": MODERN, **schema})


def test_a_default_beside_a_reference_counts_in_every_draft() -> None:
    """It says nothing of a value, but who may leave the member out."""
    writer = {"type": "object", "additionalProperties": False}
    link = {"$ref": "#/definitions/a", "default": ""}
    reader = {**writer, "properties": {"m": link}, "required": ["m"], "definitions": {"a": STRING}}

    assert suits(writer, reader)
    assert not suits(writer, {**reader, "properties": {"m": {"$ref": "#/definitions/a"}}})


def test_ids_inside_data_name_nothing() -> None:
    """An enum's value may look like a schema."""
    schema = {
        "properties": {"a": {"$ref": "http://h.example/x"}},
        "enum": [{"$id": "http://h.example/x"}],
    }

    parsed = JSON_SCHEMA.parse(json.dumps(schema), {})

    assert parsed.canonical  # stored schemas load; a new one is refused
    with pytest.raises(Exception, match="leads nowhere"):
        JSON_SCHEMA.parse(json.dumps(schema), {}, is_new=True)


def test_an_id_beside_a_reference_moves_nothing_up_to_draft_7() -> None:
    """The reference is resolved against the id around it."""
    link = {"$id": "http://h.example/b/", "$ref": "t.json"}
    schema = {"$id": "http://h.example/a/", "properties": {"m": link}}
    texts = {
        "http://h.example/a/t.json": json.dumps(STRING),
        "http://h.example/b/t.json": '{"type":"null"}',
    }
    parsed, plain = (
        JSON_SCHEMA.parse(json.dumps(s), texts, is_new=True)
        for s in (schema, {"properties": {"m": STRING}})
    )

    assert JSON_SCHEMA.incompatibilities(writer=parsed, reader=plain) == []
    assert validator(json.dumps(schema), texts).is_valid({"m": "a"})
