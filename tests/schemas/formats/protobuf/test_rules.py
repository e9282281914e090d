"""New files: protoc refuses what is refused here, and each reason has its place."""

import pytest
from hypothesis import given
from tests.schemas.formats.protobuf.files import files
from tests.schemas.formats.protobuf.oracle import RefusedByProtoc, compiled

from headwater.schemas.formats.contract import InvalidSchema
from headwater.schemas.formats.protobuf import PROTOBUF
from headwater.schemas.formats.protobuf.elements import ProtoFile
from headwater.schemas.formats.protobuf.printer import print_file

P2 = 'syntax = "proto2";\n'
P3 = 'syntax = "proto3";\n'

REFUSED = [
    (P3 + "message A { Gone b = 1; }", "Could not resolve type: Gone (at line 2, column 13)"),
    (P3 + "message A { int32 b = 0; }", "field numbers are from 1 to 536870911, not 0"),
    (P3 + "message A { int32 b = 536870912; }", "not 536870912 (at line 2, column 13)"),
    (P3 + "message A { int32 b = 19000; }", "number 19000 is protobuf's own"),
    (P3 + "message A { int32 b = 19999; }", "number 19999 is protobuf's own"),
    (
        P3 + "message A { int32 b = 1;\n  int32 c = 1; }",
        "number 1 of field 'c' is already that of 'b' in message 'A' (at line 3, column 3)",
    ),
    (P3 + "message A { int32 b = 1; oneof o { int32 c = 1; } }", "is already that of 'b'"),
    (P3 + "message A { int32 b = 1; int32 b = 2; }", "'b' is already defined in this message 'A'"),
    (P3 + "message A { oneof b { int32 c = 1; } int32 b = 2; }", "'b' is already defined"),
    (P3 + "message A { message b {} int32 b = 2; }", "'b' is already defined"),
    (P3 + "message A {} enum A { X = 0; }", "'A' is already defined in this file"),
    (P3 + "enum A { X = 0; } enum B { X = 0; }", "'X' is already defined in this file"),
    (P3 + "message A { map<int32, int32> b = 1; message BEntry {} }", "'BEntry' is already"),
    (P2 + "message A { optional group B = 1 {} optional int32 b = 2; }", "'b' is already"),
    (P3 + "message A { reserved 1 to 3; int32 b = 3; }", "'b' has number 3, which is reserved"),
    (P3 + "message A { reserved 7; int32 b = 7; }", "'b' has number 7, which is reserved"),
    (P3 + 'message A { reserved "b"; int32 b = 7; }', "the name 'b' is reserved"),
    (P3 + "message A { reserved 5 to 3; }", "the range 5 to 3 is none"),
    (P3 + "message A { reserved 0; }", "the range 0 to 0 is none"),
    (P3 + "message A { reserved 1 to 3, 3; }", "number 3 is twice in ranges"),
    (P2 + "message A { extensions 1 to 3; optional int32 b = 2; }", "which is for extensions"),
    (P3 + "message A { extensions 1 to 3; }", "proto3 has no extension ranges"),
    (P3 + "message A { oneof o {} }", "oneof 'o' has no field"),
    (P3 + "message A { int32 a_b = 1; int32 aB = 2; }", "are both 'aB' in JSON"),
    (P3 + 'message A { int32 a = 1 [json_name = "b"]; int32 b = 2; }', "are both 'b' in JSON"),
    (P3 + "message A { int32 b = 1 [default = 1]; }", "proto3 has no defaults"),
    (P3 + "message A { required int32 b = 1; }", "proto3 has no required fields"),
    (P3 + "message A { group B = 1 {} }", "proto3 has no groups"),
    (P2 + "message A { repeated int32 b = 1 [default = 1]; }", "repeated fields have no default"),
    (P2 + "message A { optional A b = 1 [default = 1]; }", "messages have no default"),
    (P2 + "message A { optional int32 b = 1 [default = 1.5]; }", "default '1.5' is no int32"),
    (P2 + "message A { optional int32 b = 1 [default = 2147483648]; }", "is no int32"),
    (P2 + "message A { optional sint64 b = 1 [default = 0x8000000000000000]; }", "is no sint64"),
    (P2 + "message A { optional uint32 b = 1 [default = -1]; }", "default '-1' is no uint32"),
    (P2 + "message A { optional fixed64 b = 1 [default = 0x10000000000000000]; }", "is no fixed64"),
    (P2 + 'message A { optional bool b = 1 [default = "true"]; }', "is no bool"),
    (P2 + "message A { optional string b = 1 [default = 1]; }", "default '1' is no string"),
    (P2 + "message A { optional float b = 1 [default = much]; }", "default 'much' is no float"),
    (P2 + "enum E { X = 0; } message A { optional E b = 1 [default = Y]; }", "'Y' is no E"),
    (P3 + "enum E { }", "enum 'E' has no value"),
    (P3 + "enum E { X = 1; }", "the first value of an enum is 0 in proto3"),
    (P3 + "enum E { X = 0; Y = 0; }", "say 'option allow_alias = true;' if it shall"),
    (P3 + "enum E { reserved -2 to -1; X = 0; Y = -1; }", "'Y' has number -1, which is reserved"),
    (P3 + 'enum E { reserved "X"; X = 0; }', "the name 'X' is reserved"),
    (P2 + "extend Gone { optional int32 b = 1; }", "Could not resolve type: Gone"),
    (P2 + "enum E { X = 0; } extend E { optional int32 b = 1; }", "'E' is no message to extend"),
    (P2 + "message A { extensions 5 to 6; } extend A { optional int32 b = 7; }", "number 7"),
    (P2 + "message A { extensions 5 to 6; } extend A { optional int32 b = 4; }", "number 4"),
    (P2 + "message A { extensions 5; } extend A { required int32 b = 5; }", "cannot be required"),
    (P3 + "message A {} extend A { int32 b = 5; }", "proto3 extends options only"),
    (P3 + "message A {} service S { rpc B (A) returns (Gone); }", "Could not resolve type: Gone"),
    (P3 + "message A {} enum E { X = 0; } service S { rpc B (E) returns (A); }", "is no message"),
    (
        P3 + "import 'google/protobuf/descriptor.proto';\n"
        "message A { google.protobuf.FieldDescriptorProto.Type b = 1; }",
        "of proto2 cannot be used in proto3",
    ),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=[text[19:] for text, _ in REFUSED])
def test_what_protoc_refuses_is_refused(text: str, reason: str) -> None:
    with pytest.raises(RefusedByProtoc):
        compiled(text)
    with pytest.raises(InvalidSchema) as refused:
        PROTOBUF.parse(text, {}, is_new=True)
    assert reason in str(refused.value)
    assert refused.value.place is not None


def test_a_name_of_another_file_is_taken() -> None:
    other = P3 + "package p; message A {}"
    text = P3 + 'package p; import "other.proto"; message A {}'
    with pytest.raises(RefusedByProtoc):
        compiled(text, {"other.proto": other})
    with pytest.raises(InvalidSchema, match=r"'p.A' is already defined in 'other.proto'"):
        PROTOBUF.parse(text, {"other.proto": other}, is_new=True)


ACCEPTED = [
    P3 + "message A { int32 b = 536870911; int32 c = 18999; int32 d = 20000; }",
    P3 + "message A { reserved 1 to 2, 4 to max; int32 b = 3; }",
    P3 + "message A { message B { int32 a = 1; } int32 a = 1; }",
    P3 + "enum E { option allow_alias = true; X = 0; Y = 0; }",
    P2 + "enum E { X = 5; } message A { optional E b = 1 [default = X]; }",
    P2 + "message A { optional int32 b = 1 [default = -2147483648]; }",
    P2 + "message A { optional uint64 b = 1 [default = 0xFFFFFFFFFFFFFFFF]; }",
    P2 + "message A { optional double b = 1 [default = 1]; optional float c = 2 [default = inf]; }",
    P2 + "message A { optional int32 a_b = 1; optional int32 a__b = 2; }",
    P2 + "message A { extensions 5 to 6, 8; } extend A { optional int32 b = 5; repeated A c = 8; }",
]


@pytest.mark.parametrize("text", ACCEPTED, ids=[text[19:] for text in ACCEPTED])
def test_what_is_just_allowed_is_taken(text: str) -> None:
    compiled(text)
    PROTOBUF.parse(text, {}, is_new=True)


@pytest.mark.slow
@given(file=files())
def test_valid_files_are_taken(file: ProtoFile) -> None:
    PROTOBUF.parse(print_file(file), {}, is_new=True)


STORED = [
    P3 + "message A { Gone b = 1; }",
    P3 + "message A { int32 b = 1; int32 b = 1; }",
    P3 + "enum E { X = 1; }",
    P3 + "message A {} extend A { int32 b = 5; }",
    P3 + "message A { int32 b = 2147483647; }",
]


@pytest.mark.parametrize("text", STORED)
def test_what_confluent_once_stored_still_loads(text: str) -> None:
    """Its registry holds new schemas to less; such schemas print, compare and describe themselves.

    A stored topic is taken over as it is, and nobody can correct a version that has an id.
    """
    schema = PROTOBUF.parse(text, {})
    assert PROTOBUF.parse(schema.canonical, {}).canonical == schema.canonical
    assert PROTOBUF.incompatibilities(reader=schema, writer=schema.normalized()) == []
    assert schema.rendered("serialized")
