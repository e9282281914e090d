"""Can a reader read what a writer wrote? Java's answers, in Java's and Confluent's words."""

import io
import json
from typing import Any

import fastavro
import pytest
from tests.schemas.formats.avro.build import enum, field, fixed, parsed, reasons, record
from tests.schemas.formats.avro.recordings import Json, recorded

from headwater.schemas.formats.avro import AVRO, compatibility

PAIRS = recorded("pairs")


@pytest.mark.parametrize("entry", PAIRS, ids=lambda entry: f"{entry['reader']}<{entry['writer']}")
def test_reasons_are_javas(entry: Json) -> None:
    found = AVRO.incompatibilities(
        reader=AVRO.parse(entry["reader"], {}), writer=AVRO.parse(entry["writer"], {})
    )
    assert [(one.kind, one.path) for one in found] == [
        (kind, path) for kind, path, _ in entry["reasons"]
    ]
    for one, (_, _, info) in zip(found, entry["reasons"], strict=True):
        assert one.message.endswith(f", additionalInfo:'{info}'}}")
        assert one.hint


_SENTENCES = [
    (
        fixed("F", 4),
        fixed("F", 8),
        "FIXED_SIZE_MISMATCH",
        (
            "The size of FIXED type field at path '/size' in the new schema does not match "
            "with the old schema"
        ),
        "expected: 8, found: 4",
    ),
    (
        "int",
        "string",
        "TYPE_MISMATCH",
        "The type (path '/') of a field in the new schema does not match with the old schema",
        "reader type: INT not compatible with writer type: STRING",
    ),
    (
        record("a.New"),
        record("a.Old"),
        "NAME_MISMATCH",
        "The name of the schema has changed (path '/name')",
        "expected: a.Old",
    ),
    (
        enum("E", "A"),
        enum("E", "C", "A", "B"),
        "MISSING_ENUM_SYMBOLS",
        "The new schema is missing enum symbols '[B, C]' at path '/symbols' in the old schema",
        "[B, C]",
    ),
    (
        ["null", "int"],
        ["null", "string"],
        "MISSING_UNION_BRANCH",
        "The new schema is missing a type inside a union field at path '/1' in the old schema",
        "reader union lacking writer type: STRING",
    ),
    (
        record("R", field("added", "int")),
        record("R"),
        "READER_FIELD_MISSING_DEFAULT_VALUE",
        (
            "The field 'added' at path '/fields/0' in the new schema has no default value and is "
            "missing in the old schema"
        ),
        "added",
    ),
]


@pytest.mark.parametrize(("reader", "writer", "kind", "description", "info"), _SENTENCES)
def test_the_sentence_is_confluents(
    reader: Json, writer: Json, kind: str, description: str, info: str
) -> None:
    (one,) = AVRO.incompatibilities(reader=parsed(reader), writer=parsed(writer))
    assert one.told(reader="new", writer="old") == (
        f"{{errorType:'{kind}', description:'{description}', additionalInfo:'{info}'}}"
    )


def test_hints_name_the_way_out() -> None:
    (one,) = AVRO.incompatibilities(
        reader=parsed(record("R", field("f", "int"))), writer=parsed(record("R"))
    )
    assert one.hint == "give field 'f' a default, or the alias of the field that it was"


def test_places_are_json_pointers() -> None:
    reader = record("R", field("a", {"type": "map", "values": {"type": "array", "items": "int"}}))
    writer = json.loads(json.dumps(reader).replace('"int"', '"string"'))
    assert reasons(reader, writer) == [("TYPE_MISMATCH", "/fields/0/type/values/items")]


def test_types_of_references_are_compared() -> None:
    reader = parsed("S", record("S", field("f", "int")))
    writer = parsed("S", record("S", field("f", "string")))
    (one,) = AVRO.incompatibilities(reader=reader, writer=writer)
    assert one.path == "/fields/0/type"


def test_a_field_that_was_two_is_refused() -> None:
    reader = record("R", field("f", "int", aliases=["g"]))
    writer = record("R", field("f", "int"), field("g", "int"))
    (one,) = AVRO.incompatibilities(reader=parsed(reader), writer=parsed(writer))
    assert one.kind == "AMBIGUOUS_FIELD"
    assert "matches multiple fields in writer record schema R" in one.message
    assert one.hint == "keep only one of f, g among the name and aliases of 'f'"


def test_nothing_rests_on_what_was_refuted() -> None:
    """Java says that the reader can; what it writes here cannot be read.

    While n.A is compared with A, n.B counts as fit for B because n.A does for A. Then n.A turns out
    not to be, and Java still takes m.A, whose field is an n.B.
    """
    writer = record("A", field("b", record("B", field("a", ["null", "A"]))))
    first = record("n.A", field("b", record("n.B", field("a", ["null", "n.A"]))), field("n", "int"))
    reader = [first, record("m.A", field("b", "n.B"))]
    assert reasons(reader, writer) == [("MISSING_UNION_BRANCH", "/")]
    needy = record("n.A", field("b", "n.B"), field("n", "int"))
    value = {"b": {"a": ("A", {"b": {"a": None}})}}
    with pytest.raises(fastavro.read.SchemaResolutionError):
        _read(value, writer, record("m.A", field("b", record("n.B", field("a", ["null", needy])))))


def test_places_are_told_from_the_root() -> None:
    """Java would tell the second as "/name": it met the pair in the union first."""
    reader = record("R", field("a", ["null", record("New")]), field("b", "New"))
    writer = record("R", field("a", record("Old")), field("b", "Old"))
    assert reasons(reader, writer) == [
        ("MISSING_UNION_BRANCH", "/fields/0/type"),
        ("NAME_MISMATCH", "/fields/1/type/name"),
    ]


def test_recursive_types_are_compared_once() -> None:
    tree = record("T", field("left", ["null", "T"]), field("right", ["null", "T"]))
    grown = {**tree, "fields": [*tree["fields"], field("n", "int", default=0)]}
    assert reasons(grown, tree) == []
    assert reasons(tree, grown) == []
    needy = {**tree, "fields": [*tree["fields"], field("n", "int")]}
    assert reasons(needy, tree) == [("READER_FIELD_MISSING_DEFAULT_VALUE", "/fields/2")]


def test_pairs_may_lie_deeper_in_each_other_than_types() -> None:
    """Two rings of records, of 47 and 43: a pair comes again after 2021 steps, no stack holds."""
    assert reasons(_ring("r", 47), _ring("w", 43)) == []
    assert reasons(_ring("r", 47, field("n", "int")), _ring("w", 43)) != []


def test_a_reason_is_told_wherever_its_type_is_used() -> None:
    def whole(leaf: str) -> Json:
        inner = record("S", field("x", leaf))
        return record("R", field("a", inner), field("b", "S"))

    assert (
        reasons(whole("int"), whole("string"))
        == [("TYPE_MISMATCH", "/fields/0/type/fields/0/type")] * 2
    )


def test_reasons_that_double_end_somewhere() -> None:
    """Each record has two fields of the next: 2**40 places of one reason."""

    def whole(leaf: str) -> Json:
        last = record("R40", field("x", leaf))
        chain = [
            record(f"R{index}", field("a", f"R{index + 1}"), field("b", f"R{index + 1}"))
            for index in range(40)
        ]
        return record("All", *(field(f"f{i}", one) for i, one in enumerate([*chain, last])))

    found = reasons(whole("int"), whole("string"))
    assert len(found) == compatibility.INCOMPATIBILITIES_MAX + 1
    assert found[-1] == ("LIMIT_REACHED", "/")


def test_work_ends_somewhere() -> None:
    """A union against a union is the product of both: past the bound the answer is no."""
    fields = [field(f"f{index}", "int") for index in range(10)]
    model = parsed([record(f"R{index}", *fields) for index in range(60)]).model
    whole = compatibility.incompatibilities(reader=model, writer=model, steps_max=10_000)
    assert whole == []
    (one,) = compatibility.incompatibilities(reader=model, writer=model, steps_max=1_000)
    assert one.kind == "LIMIT_REACHED"
    assert "it takes more than 1000 steps" in one.message


@pytest.mark.parametrize("many", ["fields", "field aliases", "aliases", "symbols"])
def test_everything_that_is_looked_at_costs(many: str) -> None:
    """Many records against one that is large: the large one is looked at again for each."""
    words = [f"w{index}" for index in range(50)]
    large: dict[str, Json] = {
        "fields": record("R", *(field(word, "int", default=0) for word in words)),
        "field aliases": record("R", field("f", "int", default=0, aliases=words)),
        "aliases": record("R", aliases=words),
        "symbols": enum("R", *words),
    }
    reader = large[many]
    branches: list[Json] = [{**reader, "name": f"n{index}.R"} for index in range(20)]
    writer = enum("R", "unknown") if many == "symbols" else record("R", field("f", "int"))
    if many != "symbols":
        for branch in branches:
            branch["fields"] = [*branch["fields"], field("needed", "int")]
    (one,) = compatibility.incompatibilities(
        reader=parsed(branches).model, writer=parsed(writer).model, steps_max=500
    )
    assert one.kind == "LIMIT_REACHED"


def _ring(space: str, count: int, *more: Json) -> Json:
    names = [f"{space}{index}.A" for index in range(count)]
    return [
        "null",
        *(
            record(name, field("f", ["null", names[(index + 1) % count]]), *more)
            for index, name in enumerate(names)
        ),
    ]


def _read(value: Any, writer: Json, reader: Json) -> Any:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, writer, value)
    out.seek(0)
    return fastavro.schemaless_reader(out, writer, reader)
