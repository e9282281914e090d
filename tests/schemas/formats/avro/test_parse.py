"""What is refused, where, and how much of anything is looked at."""

import json

import pytest
from tests.schemas.formats.avro.build import Json, enum, field, fixed, parsed, record, refusal

from headwater.schemas.formats.avro import AVRO
from headwater.schemas.formats.contract import InvalidSchema


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            json.dumps(record("R", field("f", ["null", "x.Missing"]))),
            (
                'Undefined schema: "x.Missing"; define it, or add a reference to its schema '
                "(at /fields/0/type/1)"
            ),
        ),
        (
            json.dumps(record("R", field("f", {"type": "array", "items": {"type": "map"}}))),
            'Map has no values type: {"type":"map"} (at /fields/0/type/items)',
        ),
        (json.dumps(["int", ["null"]]), "Nested union (at /1)"),
        (json.dumps(["int", "int"]), "Duplicate in union: int (at /)"),
        (
            json.dumps(record("R", field("f", "int"), field("f", "int"))),
            "Duplicate field f in record R (at /fields/1)",
        ),
        (json.dumps(record("a b")), "Illegal character in: a b (at /)"),
        (
            json.dumps(record("X", namespace="a.1b")),
            'Namespace part "1b" is invalid: Illegal initial character: 1b (at /)',
        ),
        (json.dumps(enum("E", "A", "A")), "Duplicate enum symbol: A (at /symbols/1)"),
        (
            json.dumps(record("R", field("a", enum("E", "A")), field("b", enum("E", "B")))),
            "Can't redefine: E (at /fields/1/type)",
        ),
        (
            json.dumps(record("R", field("f", "int", order="up"))),
            'No order: "up"; it is ascending, descending or ignore (at /fields/0/order)',
        ),
        ('{"type":"int",}', "not JSON: Expecting property name enclosed in double quotes"),
        ('{"type":"int","x":NaN}', "not JSON: NaN is no number there; write it as a string"),
        ("1" * 5_000, "not JSON we take: a number has thousands of digits"),
    ],
)
def test_a_refusal_says_what_and_where(text: str, said: str) -> None:
    assert str(refusal(text)).startswith(said)


def test_a_bad_reference_is_named() -> None:
    with pytest.raises(InvalidSchema, match='reference "x": Undefined schema: "Missing"'):
        AVRO.parse('"int"', {"x": '"Missing"'})


def test_references_come_in_order() -> None:
    with pytest.raises(InvalidSchema, match='reference "ref0"'):
        parsed("A", record("A", field("b", "B")), record("B"))
    assert parsed("A", record("B"), record("A", field("b", "B"))).canonical == '"A"'


def test_a_name_means_the_record_around_it_first() -> None:
    """Java 1.12 first takes what it has read in full, which is another type."""
    schema = parsed([record("R"), record("a.R", field("f", ["null", "R"]))])
    assert '{"name":"f","type":["null","R"]}' in schema.canonical
    reader = parsed([record("R"), record("a.R", field("f", ["null", "a.R"]))])
    assert reader == schema  # their texts are the same either way


def test_a_type_may_be_defined_again_if_it_stays_the_same() -> None:
    first = record("S", field("f", "int", x=1, y=2), doc="one")
    again = record("S", field("f", "int", y=2, x=1), doc="two", aliases=["T"])
    schema = parsed(record("R", field("a", first), field("b", again)))
    assert schema.canonical.endswith('{"name":"b","type":"S"}]}')
    other = record("S", field("f", "int", x=1))
    assert "redefine" in str(refusal(json.dumps([record("R", field("a", first)), other])))


def test_comments_pass_but_not_in_strings() -> None:
    text = '/* a */ {"type": // "b"\n "int", "x": "/* c */"} // d'
    assert AVRO.parse(text, {}).canonical == '{"type":"int","x":"/* c */"}'


def test_comments_do_not_move_places() -> None:
    assert refusal("/* a\n b */ {,}").place == "line 2, column 8"


@pytest.mark.parametrize("depth", [99, 100])
def test_types_nest_a_hundred_deep(depth: int) -> None:
    text = '{"type":"array","items":' * depth + '"int"' + "}" * depth
    if depth < 100:
        assert AVRO.parse(text, {}).canonical == text
    else:
        assert refusal(text).reason == "Types nest deeper than 100 levels"


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, '{"type":"int","x":' + "[" * 250]
)
def test_json_that_nests_too_deep_is_refused(text: str) -> None:
    assert refusal(text).reason == "JSON nests deeper than 250 levels"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "int", "x": "DEEP"},
        record("R", field("f", "double", default="DEEP")),
        record("R", field("f", {"type": "map", "values": "int"}, default={"k": "DEEP"})),
    ],
)
def test_what_nests_as_deep_as_it_may_goes_all_the_way(schema: Json) -> None:
    """With much of the stack in use already, as it is behind a server."""
    text = json.dumps(schema)
    room = 250 - text.partition('"DEEP"')[0].count("{") - 1  # one level is the list of fields
    deep = '[{"k":' * (room // 2) + "1" + "}]" * (room // 2)

    def whole(frames: int) -> str:
        if frames:
            return whole(frames - 1)
        return AVRO.parse(text.replace('"DEEP"', deep), {}).normalized().rendered("resolved")

    assert whole(150).count('"k"') >= room // 2


def test_types_nest_through_names_as_deep_as_they_may() -> None:
    chain = [record(f"R{index}", field("f", f"R{index + 1}")) for index in range(98)]

    def whole(frames: int) -> str:
        return (
            whole(frames - 1) if frames else parsed([*chain, record("R98")]).normalized().canonical
        )

    assert whole(150).count("record") == 99


@pytest.mark.parametrize(
    "text", ['"' + '\\"' * 100_000, "/* " * 100_000, "// " * 100_000, '"' + "\\" * 9]
)
def test_what_is_left_open_is_read_once(text: str) -> None:
    """Looked at again from each place in it, this would take minutes."""
    assert "not JSON" in str(refusal(text))


def test_sizes_of_fixed_are_javas() -> None:
    assert parsed(fixed("F", 2**31 - 9)).canonical.endswith('"size":2147483639}')
    assert "Invalid or no size" in str(refusal(json.dumps(fixed("F", 2**31 - 8))))
    assert "Invalid or no size" in str(refusal('{"type":"fixed","name":"F","size":true}'))


def test_an_error_repeats_only_the_beginning_of_a_large_text() -> None:
    assert len(str(refusal(json.dumps({"type": "array", "x": "a" * 500_000})))) < 300
