"""The format as the registry sees it."""

import base64
from collections.abc import Mapping
from typing import Any

import pytest
from google.protobuf import descriptor_pb2 as pb
from google.protobuf import message_factory

from headwater.schemas.formats.contract import Format, InvalidSchema, ParsedSchema
from headwater.schemas.formats.protobuf import PROTOBUF, ProtobufFormat, ProtobufSchema
from headwater.schemas.model import SchemaFormat

P3 = 'syntax = "proto3";\n'
TEXT = P3 + "package p;\n// told\nenum E { X = 0; } message A { int32 b = 1; } message C {}"


def parsed(text: str, references: Mapping[str, str] | None = None) -> ProtobufSchema:
    return ProtobufFormat().parse(text, references or {})


def test_it_is_a_format_with_schemas() -> None:
    schema: ParsedSchema = PROTOBUF.parse(TEXT, {})
    a_format: Format = PROTOBUF
    assert schema.format is SchemaFormat.PROTOBUF
    assert a_format.incompatibilities(reader=schema, writer=schema, lenient=True) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (TEXT, "p.A"),
        ("message A { message B {} }", "A"),
        ("package p.q; enum E { X = 0; } enum F { Y = 0; }", "p.q.E"),
        ("package p;", None),
    ],
)
def test_its_name_is_the_first_message_or_else_the_first_enum(text: str, name: str | None) -> None:
    assert parsed(text).name == name


def test_the_forms_of_a_schema() -> None:
    schema = parsed(TEXT)
    assert schema.rendered("") == schema.rendered("resolved") == schema.canonical
    assert schema.canonical == (
        P3 + "package p;\n\nmessage A {\n  int32 b = 1;\n}\nmessage C {}\nenum E {\n  X = 0;\n}\n"
    )
    assert schema.rendered("ignore_extensions") == schema.canonical
    proto = pb.FileDescriptorProto.FromString(base64.b64decode(schema.rendered("serialized")))
    assert proto == schema.descriptor
    assert (proto.name, proto.package) == ("default", "p")
    assert not proto.message_type[0].field[0].HasField("json_name")


def test_what_was_a_descriptor_is_stored_as_text() -> None:
    schema = parsed(TEXT)
    for text in (schema.rendered("serialized"), f"\n{schema.rendered('serialized')} \n"):
        assert parsed(text).canonical == schema.canonical
        assert PROTOBUF.parse(text, {}, is_new=True).canonical == schema.canonical


def test_an_error_in_a_descriptor_has_its_place_in_the_text_that_it_makes() -> None:
    serialized = parsed(P3 + "message A { int32 b = 0; }").rendered("serialized")
    with pytest.raises(InvalidSchema, match="not 0") as refused:
        PROTOBUF.parse(serialized, {}, is_new=True)
    assert refused.value.place == "line 4, column 3"


def test_messages_by_name_and_by_indexes() -> None:
    schema = parsed(P3 + "package p; message A { message B {} } message C {}")
    assert schema.message_indexes("p.A.B") == (0, 0)
    assert schema.message_name((1,)) == "p.C"


def test_a_pool_makes_messages() -> None:
    """References, known files and files that they import are in it."""
    references = {
        "q.proto": P3 + 'package q; import "google/type/date.proto";'
        "message B { google.type.Date day = 1; }"
    }
    text = P3 + 'import "q.proto"; message A { q.B b = 1; }'
    schema = PROTOBUF.parse(text, references, is_new=True)
    assert isinstance(schema, ProtobufSchema)
    message: Any = message_factory.GetMessageClass(schema.pool.FindMessageTypeByName("A"))()
    message.b.day.year = 2013
    assert message.SerializeToString() == b"\x0a\x05\x0a\x03\x08\xdd\x0f"


def test_a_stored_schema_without_a_valid_descriptor_has_no_pool() -> None:
    with pytest.raises(InvalidSchema, match="no valid file"):
        _ = parsed(P3 + "message A { Gone b = 1; }").pool


def test_an_error_in_a_reference_names_it() -> None:
    with pytest.raises(InvalidSchema) as refused:
        parsed(TEXT, {"q.proto": "message {"})
    assert str(refused.value) == (
        "reference 'q.proto': expected a message's name, found '{' (at line 1, column 9)"
    )


def test_references_may_be_descriptors() -> None:
    """Another registry may have stored them so."""
    serialized = parsed(P3 + "package q; message B {}").rendered("serialized")
    text = P3 + 'import "q.proto"; message A { q.B b = 1; }'
    assert PROTOBUF.parse(text, {"q.proto": serialized}, is_new=True).canonical.endswith("}\n")


def test_equal_texts_give_equal_schemas() -> None:
    one, other = parsed(TEXT), parsed(TEXT)
    assert one.file == other.file
    assert one.canonical == other.canonical
    assert one.descriptor == other.descriptor
