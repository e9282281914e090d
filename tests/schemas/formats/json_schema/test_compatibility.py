"""Which changes break readers, how they are told, and that they do break them."""

import json
from typing import Any

import pytest

from headwater.schemas.formats.contract import Incompatibility
from headwater.schemas.formats.json_schema import JSON_SCHEMA, validator

from .changes import (
    BREAKING,
    INTEGER,
    MODERN,
    NUMBER,
    STRING,
    Breaking,
    closed,
    items,
    partial,
    properties,
)

DRAFT_4 = {"$schema": "http://json-schema.org/draft-04/schema#"}


def found(writer: Any, reader: Any, *, lenient: bool = False) -> list[Incompatibility]:
    """What the format says of a change."""
    parsed = [JSON_SCHEMA.parse(json.dumps(s), {}, is_new=True) for s in (writer, reader)]
    return JSON_SCHEMA.incompatibilities(writer=parsed[0], reader=parsed[1], lenient=lenient)


def told(writer: Any, reader: Any, *, lenient: bool = False) -> list[tuple[str, str]]:
    """Kinds and paths of it."""
    return [(i.kind, i.path) for i in found(writer, reader, lenient=lenient)]


@pytest.mark.parametrize("case", BREAKING, ids=lambda case: f"{case.kind} {case.path}")
def test_a_breaking_change_is_told_and_a_value_shows_it(case: Breaking) -> None:
    """The kind stands at its path, and some value of the writer is refused by the reader."""
    assert (case.kind, case.path) in told(case.writer, case.reader)
    assert validator(json.dumps(case.writer), {}).is_valid(case.witness)
    assert not validator(json.dumps(case.reader), {}).is_valid(case.witness)


@pytest.mark.parametrize("case", BREAKING, ids=lambda case: f"{case.kind} {case.path}")
def test_no_schema_breaks_itself(case: Breaking) -> None:
    """Every schema suits its own readers."""
    assert told(case.writer, case.writer) == []
    assert told(case.reader, case.reader) == []


@pytest.mark.parametrize("case", BREAKING, ids=lambda case: f"{case.kind} {case.path}")
def test_a_change_is_told_where_it_lies(case: Breaking) -> None:
    """Inside a property the path grows by the way to it, and nothing else changes."""
    head = {k: v for s in (case.writer, case.reader) if isinstance(s, dict) for k, v in s.items()}
    draft = {"$schema": head["$schema"]} if "$schema" in head else {}
    inner = [
        {k: v for k, v in s.items() if k != "$schema"} if isinstance(s, dict) else s
        for s in (case.writer, case.reader)
    ]
    expected = [
        (kind, ("#/properties/deep" + path[1:]).rstrip("/"))
        for kind, path in told(case.writer, case.reader)
    ]

    assert expected == told(*({**draft, **closed(deep=schema)} for schema in inner))


@pytest.mark.parametrize(
    ("writer", "reader"),
    [
        pytest.param(properties(a=STRING), {}, id="anything may become the empty schema"),
        pytest.param(False, STRING, id="false may become anything"),
        pytest.param(INTEGER, NUMBER, id="integer to number"),
        pytest.param(
            {"title": "a", "description": "b", "$id": "http://x.example/a"}, {}, id="words"
        ),
        pytest.param({"type": "number", "maximum": 3}, {"type": "number", "maximum": 3.5}, id="up"),
        pytest.param(
            {"type": "number", "multipleOf": 1.5},
            {"type": "number", "multipleOf": 0.5},
            id="divisor",
        ),
        pytest.param({"enum": [1, "a"]}, {"enum": ["a", 2, 1.0]}, id="enum extended"),
        pytest.param({"not": NUMBER}, {"not": INTEGER}, id="not narrowed"),
        pytest.param(
            {"type": "string", "enum": ["a"]}, STRING, id="one part of an allOf is enough"
        ),
        pytest.param(STRING, {"oneOf": [NUMBER, STRING]}, id="single to oneOf"),
        pytest.param({"type": ["object"]}, {"type": ["object", "array"]}, id="a type more"),
        pytest.param({"oneOf": [STRING]}, {"allOf": [STRING]}, id="singletons of any kind"),
        pytest.param({"allOf": [STRING, {"maxLength": 2}]}, {"oneOf": [STRING]}, id="one of all"),
        pytest.param({"allOf": [INTEGER, NUMBER]}, {"anyOf": [NUMBER]}, id="fewer, of an allOf"),
        pytest.param({"oneOf": [STRING]}, {"oneOf": [NUMBER, STRING]}, id="oneOf extended"),
        pytest.param({"oneOf": [STRING, NUMBER]}, {"anyOf": [NUMBER, STRING]}, id="oneOf to anyOf"),
        pytest.param({"anyOf": [STRING, STRING]}, {"anyOf": [STRING]}, id="twice the same branch"),
        pytest.param(closed(a=STRING), closed(a=STRING, b=NUMBER), id="optional to closed"),
        pytest.param(
            closed(),
            {**closed(a={"type": "string", "default": ""}), "required": ["a"]},
            id="required with a default to closed",
        ),
        pytest.param(
            closed(a=STRING),
            {**closed(a={"type": "string", "default": ""}), "required": ["a"]},
            id="required with a default",
        ),
        pytest.param(
            properties(a=STRING),
            {**properties(a=STRING), "required": ["b"]},
            id="required of a member that nobody declares",
        ),
        pytest.param(properties(), properties(a={}), id="empty schema to open"),
        pytest.param(properties(a=STRING), properties(), id="removed from open"),
        pytest.param(closed(a=False), closed(), id="a property that nobody could write"),
        pytest.param(partial(INTEGER), partial(INTEGER, a=NUMBER), id="covered addition"),
        pytest.param(closed(a=INTEGER), partial(NUMBER), id="covered removal"),
        pytest.param(
            closed(S_1=INTEGER),
            {**closed(), "patternProperties": {"^S_": NUMBER}},
            id="removal covered by a pattern",
        ),
        pytest.param({"items": [STRING, NUMBER]}, {"items": [STRING]}, id="item removed from open"),
        pytest.param(
            items(STRING, rest=False), items(STRING, NUMBER, rest=False), id="item to closed"
        ),
        pytest.param(
            {**MODERN, "prefixItems": [STRING], "items": INTEGER},
            {**MODERN, "prefixItems": [STRING, NUMBER], "items": INTEGER},
            id="covered item",
        ),
        pytest.param(
            {"type": "string", "connect.type": "bytes"},
            {"type": "number", "connect.type": "bytes"},
            id="Connect's bytes",
        ),
        pytest.param(
            {**DRAFT_4, "maximum": 3, "exclusiveMaximum": True},
            {"exclusiveMaximum": 3},
            id="draft 4's exclusive bound",
        ),
        pytest.param(
            {"$ref": "#/definitions/a", "definitions": {"a": STRING}},
            STRING,
            id="no reference more",
        ),
    ],
)
def test_a_change_that_breaks_nobody_is_not_told(writer: Any, reader: Any) -> None:
    """The compatible half of the registry's table."""
    assert told(writer, reader) == []


def test_lenient_lets_pass_what_neither_side_promised() -> None:
    """The LENIENT policy: members beside the declared ones are nobody's promise."""
    for writer, reader in [
        (properties(), properties(a=STRING)),
        (properties(), {**properties(a={"type": "string", "default": ""}), "required": ["a"]}),
        (properties(), closed()),
        (properties(), partial(STRING)),
        (closed(a=STRING), closed()),
    ]:
        assert told(writer, reader) != []
        assert told(writer, reader, lenient=True) == []


def test_lenient_still_tells_a_required_member_and_a_changed_type() -> None:
    """What readers need, or read otherwise, breaks them under any policy."""
    required = {**properties(a=STRING), "required": ["a"]}

    assert told(properties(), required, lenient=True)
    assert told(closed(a=STRING), closed(a=NUMBER), lenient=True)


def test_the_message_is_the_registry_s_sentence() -> None:
    """Sentences that tools look for, both sides named by the caller."""
    [added] = found(properties(), properties(a=STRING))
    [longer] = found(STRING, {"type": "string", "maxLength": 1})

    assert added.told(reader="new", writer="old") == (
        '{errorType:"OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", description:"The new schema '
        "has an open content model and has a property or item at path '#/properties/a' which is "
        "missing in the old schema'}"
    )
    assert longer.told(reader="old", writer="new") == (
        '{errorType:"MAX_LENGTH_ADDED", description:"The keyword at path \'#/maxLength\' in the '
        "old schema is not present in the new schema'}"
    )
    assert "LENIENT" in added.hint


def test_a_brace_in_a_name_is_no_placeholder_of_the_path() -> None:
    """A property may be called {path}: only the sentence's own place is filled."""
    [change] = found(closed(**{"{path}": STRING}), closed(**{"{path}": NUMBER}))

    assert change.path == "#/properties/{path}"
    assert change.message.count("{path}") == 1


def test_the_changes_of_one_object_are_told_in_the_registry_s_order() -> None:
    """Required members, properties, dependencies, strangers, sizes."""
    writer = {**partial(NUMBER, a=STRING), "maxProperties": 3}
    reader = {
        "maxProperties": 2,
        "additionalProperties": STRING,
        "dependencies": {"a": ["b"]},
        "properties": {"a": NUMBER},
        "required": ["a"],
        "type": "object",
    }

    assert [kind for kind, _ in told(writer, reader)] == [
        "REQUIRED_ATTRIBUTE_ADDED",
        "TYPE_CHANGED",
        "DEPENDENCY_ARRAY_ADDED",
        "TYPE_CHANGED",
        "MAX_PROPERTIES_DECREASED",
    ]


def test_every_change_is_told_in_the_order_of_the_schema() -> None:
    """All of it at once, so that one look is enough."""
    writer, reader = closed(a=STRING, b=closed(c=NUMBER)), closed(a=NUMBER, b=closed(c=STRING))

    assert told(writer, reader) == [
        ("TYPE_CHANGED", "#/properties/a"),
        ("TYPE_CHANGED", "#/properties/b/properties/c"),
    ]


def test_a_reference_that_leads_nowhere_only_suits_itself() -> None:
    """Stored schemas may refer to what was never registered: nothing is known of it."""
    here, there = ({"properties": {"a": {"$ref": f"http://{h}.example/x"}}} for h in "ab")
    parsed = [JSON_SCHEMA.parse(json.dumps(schema), {}) for schema in (here, there)]

    assert JSON_SCHEMA.incompatibilities(reader=parsed[0], writer=parsed[0]) == []
    assert JSON_SCHEMA.incompatibilities(reader=parsed[0], writer=parsed[1]) != []


def test_keywords_that_make_no_sense_are_passed_over_in_stored_schemas() -> None:
    """Draft 3 wrote ``required: true`` into the property: old registries are full of it."""
    odd = JSON_SCHEMA.parse(
        '{"properties":{"a":{"type":"string","required":true}},"maxLength":"x"}', {}
    )
    plain = JSON_SCHEMA.parse('{"properties":{"a":{"type":"string"}}}', {})

    assert JSON_SCHEMA.incompatibilities(reader=plain, writer=odd) == []
    assert JSON_SCHEMA.incompatibilities(reader=odd, writer=odd) == []
