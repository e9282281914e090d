"""What "compatible" promises, tried out: values are written with one schema, read with another.

fastavro writes and reads; Apache's own Python library gives a second opinion on verdicts.
"""

import io
import json
from random import Random

import avro.compatibility
import avro.errors
import avro.schema
import fastavro
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.schemas.formats.avro.build import Json, drawn, enum, field, fixed, parsed, record
from tests.schemas.formats.avro.data import Endless, ValueMaker
from tests.schemas.formats.avro.generated import PRIMITIVES, SchemaMaker, evolved

from headwater.schemas.formats.avro import AVRO, AvroSchema

VALUES = 5


@settings(max_examples=150, deadline=None)
@given(st.randoms(use_true_random=False))
@pytest.mark.slow
def test_data_of_a_compatible_writer_is_read(pick: Random) -> None:
    written = SchemaMaker(pick, is_plain=True).schema()
    writer, reader = drawn(written, is_new=True), drawn(evolved(written, pick), is_new=True)
    assume(AVRO.incompatibilities(reader=reader, writer=writer) == [])
    values = ValueMaker(json.loads(writer.canonical), pick)
    for _ in range(VALUES):
        try:
            value = values.value()
        except (Endless, IndexError):  # IndexError: of an empty union
            return
        _read(_bytes(value, writer), writer, reader)


@pytest.mark.parametrize("writer", PRIMITIVES)
@pytest.mark.parametrize("reader", PRIMITIVES)
def test_a_primitive_is_read_just_when_we_say_so(reader: str, writer: str) -> None:
    is_compatible = not AVRO.incompatibilities(reader=parsed(reader), writer=parsed(writer))
    value = ValueMaker(writer, Random(0)).value()
    data = _bytes(value, parsed(writer))
    if is_compatible:
        _read(data, parsed(writer), parsed(reader))
        return
    with pytest.raises(fastavro.read.SchemaResolutionError):
        _read(data, parsed(writer), parsed(reader))


@pytest.mark.parametrize(
    ("reader", "writer", "value"),
    [
        (enum("E", "A"), enum("E", "A", "B"), "B"),
        (fixed("F", 2), fixed("F", 1), b"x"),
        (record("R", field("f", "int")), record("R"), {}),
        (record("R", field("f", "int")), record("R", field("g", "int")), {"g": 1}),
        (["null", "int"], "string", "x"),
        ("int", ["null", "int"], None),
        ({"type": "array", "items": "int"}, {"type": "array", "items": "string"}, ["x"]),
        ({"type": "map", "values": "int"}, {"type": "map", "values": "string"}, {"k": "x"}),
    ],
)
def test_what_we_refuse_has_a_value_that_cannot_be_read(
    reader: Json, writer: Json, value: Json
) -> None:
    assert AVRO.incompatibilities(reader=parsed(reader), writer=parsed(writer))
    with pytest.raises(fastavro.read.SchemaResolutionError):
        _read(_bytes(value, parsed(writer)), parsed(writer), parsed(reader))


@pytest.mark.parametrize(
    ("reader", "writer", "value", "seen"),
    [
        (enum("E", "A", default="A"), enum("E", "A", "B"), "B", "A"),
        (record("R", field("f", "int", default=7)), record("R"), {}, {"f": 7}),
        (record("x.R", field("f", "int")), record("y.R", field("f", "int")), {"f": 1}, {"f": 1}),
        (
            record("R", field("f", "long", aliases=["g"])),
            record("R", field("g", "int")),
            {"g": 1},
            {"f": 1},
        ),
    ],
)
def test_what_we_take_is_read_as_meant(reader: Json, writer: Json, value: Json, seen: Json) -> None:
    assert AVRO.incompatibilities(reader=parsed(reader), writer=parsed(writer)) == []
    assert _read(_bytes(value, parsed(writer)), parsed(writer), parsed(reader)) == seen


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
@pytest.mark.slow
def test_apaches_python_library_takes_nothing_that_we_refuse(pick: Random) -> None:
    """The other way it does not hold: that library knows no aliases of fixed, for one.

    Where a field is ambiguous by its aliases it takes the first; Java does not.
    """
    written = SchemaMaker(pick, is_plain=True).schema()
    writer, reader = drawn(written, is_new=True), drawn(evolved(written, pick), is_new=True)
    found = AVRO.incompatibilities(reader=reader, writer=writer)
    assume(found)
    assume("aliases" not in reader.canonical)
    try:
        schemas: Json = [avro.schema.parse(one.canonical) for one in (reader, writer)]
    except avro.errors.SchemaParseException:  # of a name without namespace below one that has it
        assume(False)
    checker: Json = avro.compatibility.ReaderWriterCompatibilityChecker  # without types
    result = checker().get_compatibility(*schemas)
    assert result.compatibility is avro.compatibility.SchemaCompatibilityType.incompatible


def _bytes(value: Json, writer: AvroSchema) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, json.loads(writer.canonical), value)
    return out.getvalue()


def _read(data: bytes, writer: AvroSchema, reader: AvroSchema) -> Json:
    return fastavro.schemaless_reader(
        io.BytesIO(data), json.loads(writer.canonical), json.loads(reader.canonical)
    )
