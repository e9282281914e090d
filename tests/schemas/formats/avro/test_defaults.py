"""New schemas need defaults that fit; stored ones are taken as they are."""

import json

import pytest
from tests.schemas.formats.avro.build import Json, enum, field, parsed, record, refusal

PAIR = record("S", field("a", "int", default=1), field("b", "int"))


@pytest.mark.parametrize(
    ("schema", "default"),
    [
        ("int", 2**31),
        ("int", 1.0),
        ("int", True),
        ("long", -(2**63) - 1),
        ("boolean", 1),
        ("string", None),
        ("null", 0),
        ("float", True),
        ({"type": "array", "items": "int"}, [1, "a"]),
        ({"type": "map", "values": "int"}, {"a": None}),
        (["null", "int"], "x"),
        ([], None),
        (PAIR, {}),
        (PAIR, {"b": "x"}),
        (PAIR, []),
        (record("S", field("n", ["null", "int"])), {}),
        (enum("E", "A"), 1),
    ],
)
def test_a_default_of_another_type_is_refused_in_new_schemas_only(
    schema: Json, default: Json
) -> None:
    whole = record("R", field("f", schema, default=default))
    error = refusal(json.dumps(whole), is_new=True)
    assert error.reason.startswith("Invalid default for field f: ")
    assert error.place == "field f of R"
    assert "default" in parsed(whole).canonical


@pytest.mark.parametrize(
    ("schema", "default"),
    [
        ("int", 2**31 - 1),
        ("long", -(2**63)),
        ("double", 1),
        ("double", "NaN"),
        (["null", "int"], 5),
        (["int", "null"], None),
        (PAIR, {"b": 2, "unknown": 1}),
        ([{"type": "array", "items": PAIR}, "null"], [{"b": 1}]),
        (enum("E", "A"), "B"),
    ],
)
def test_a_default_that_fits_is_taken(schema: Json, default: Json) -> None:
    parsed(record("R", field("f", schema, default=default)), is_new=True)


def test_a_default_that_needs_itself_is_refused() -> None:
    error = refusal(json.dumps(record("R", field("f", "R", default={}))), is_new=True)
    assert "it needs itself, without end" in error.reason
    parsed(record("R", field("f", ["null", "R"], default=None)), is_new=True)


def test_defaults_of_fields_are_looked_at_once() -> None:
    """Each record has two fields of the next: looked at through each path, 2**40 of them."""
    chain = [
        record(
            f"R{index}",
            field("a", f"R{index + 1}", default={}),
            field("b", f"R{index + 1}", default={}),
        )
        for index in range(40)
    ]
    parsed([*chain, record("R40")], is_new=True)


def test_branches_of_unions_are_looked_at_once() -> None:
    """Three branches that contain the union: looked at through each, 3**45 of them."""
    value: Json = {}
    for _ in range(45):
        value = {"x": value, "y": 0}
    union = ["A", "B", "C"]
    branches = [
        record(name, field("x", union), field("y", "int"), field("z", "int")) for name in union
    ]
    whole = record("R", field("f", branches, default=value))
    assert "Invalid default" in str(refusal(json.dumps(whole), is_new=True))


def test_defaults_cannot_nest_without_end() -> None:
    chain = [
        record(f"R{index}", field("a", ["null", f"R{index + 1}"], default={}))
        for index in range(60)
    ]
    text = json.dumps([*chain, record("R60")])
    assert refusal(text, is_new=True).reason == "Defaults nest deeper than 100 levels"
