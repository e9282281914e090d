"""Descriptors as text: what clients without a file register."""

import base64
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2 as pb
from tests.schemas.formats.protobuf.oracle import CORPUS, compiled

from headwater.schemas.formats.contract import InvalidSchema
from headwater.schemas.formats.protobuf import PROTOBUF
from headwater.schemas.formats.protobuf.from_descriptor import file_of
from headwater.schemas.formats.protobuf.parser import parse_file
from headwater.schemas.formats.protobuf.printer import print_file

PARTS = {
    str(path.relative_to(CORPUS)): path.read_text() for path in sorted(CORPUS.glob("parts/*.proto"))
}


def in_base64(proto: pb.FileDescriptorProto) -> str:
    return base64.b64encode(proto.SerializeToString()).decode()


def stored(text: str) -> str:
    """The text that is stored for protoc's descriptor of *text*."""
    proto = compiled(text, PARTS)
    _drop_json_names(proto)  # Python's generated code has none
    for message in proto.message_type:
        _drop_json_names_inside(message)
    return PROTOBUF.parse(in_base64(proto), PARTS).canonical


def _drop_json_names_inside(message: pb.DescriptorProto) -> None:
    _drop_json_names(message)
    for field in message.field:
        field.ClearField("json_name")
    for nested in message.nested_type:
        _drop_json_names_inside(nested)


def _drop_json_names(scope: pb.DescriptorProto | pb.FileDescriptorProto) -> None:
    for field in scope.extension:
        field.ClearField("json_name")


TEXTS = {
    "names are full, maps are messages, synthetic oneofs are gone": (
        (
            'syntax = "proto3"; package p; message A { optional int32 a = 1; map<string, B> b = 2; '
            "oneof o { B c = 3; string d = 4; } repeated E e = 5; message B {} enum E { X = 0; } }"
        ),
        (
            'syntax = "proto3";\npackage p;\n\nmessage A {\n  optional int32 a = 1;\n'
            "  repeated .p.A.BEntry b = 2;\n  repeated .p.A.E e = 5;\n\n  oneof o {\n"
            "    .p.A.B c = 3;\n    string d = 4;\n  }\n\n  message BEntry {\n"
            "    option map_entry = true;\n  \n    string key = 1;\n    .p.A.B value = 2;\n  }\n"
            "  message B {}\n  enum E {\n    X = 0;\n  }\n}\n"
        ),
    ),
    "proto2 says its labels and no syntax; defaults are normal": (
        (
            'syntax = "proto2"; message A { required int32 a = 1 [default = 0x10]; '
            'optional bytes b = 2 [default = "\\0\\"\\xff"]; optional float c = 3 [default = inf]; '
            "optional E d = 4 [default = Y]; optional bool e = 5 [default = true]; "
            'optional string f = 6 [default = "it\'s"]; enum E { X = 0; Y = 1; } }'
        ),
        (
            "\nmessage A {\n  required int32 a = 1 [default = 16];\n"
            '  optional bytes b = 2 [default = "\\000\\"\\377"];\n'
            "  optional float c = 3 [default = inf];\n  optional .A.E d = 4 [default = Y];\n"
            "  optional bool e = 5 [default = true];\n"
            '  optional string f = 6 [default = "it\\\'s"];\n\n'
            "  enum E {\n    X = 0;\n    Y = 1;\n  }\n}\n"
        ),
    ),
    "options stand in Confluent's order": (
        (
            'option optimize_for = SPEED; option java_package = "j"; option java_multiple_files '
            "= true;"
            'option go_package = "g"; message A { optional int64 a = 1 [deprecated = true, '
            "jstype = JS_STRING]; option deprecated = true; }"
        ),
        (
            '\noption java_package = "j";\noption java_multiple_files = true;\n'
            'option optimize_for = SPEED;\noption go_package = "g";\n\nmessage A {\n'
            "  option deprecated = true;\n\n  optional int64 a = 1 [\n    jstype = JS_STRING,\n"
            "    deprecated = true\n  ];\n}\n"
        ),
    ),
    "ranges, groups, extensions": (
        (
            'message A { reserved 1, 3 to 5; reserved "x"; extensions 100 to max; '
            "optional group G = 2 { optional int32 y = 1; } extend A { optional A z = 100; } } "
            "extend A { repeated int32 w = 101; optional group H = 102 {} }"
            "enum E { reserved 2, 4 to 5; X = 0; }"
        ),
        (
            '\nmessage A {\n  reserved 1;\n  reserved 3 to 5;\n  reserved "x";\n\n'
            "  optional group G = 2 {\n    optional int32 y = 1;\n  }\n\n"
            "  extensions 100 to max;\n\n"
            "  extend .A {\n    optional .A z = 100;\n  }\n}\nenum E {\n  reserved 2;\n"
            "  reserved 4 to 5;\n  X = 0;\n}\n\nextend .A {\n  repeated int32 w = 101;\n"
            "\n  optional group H = 102 {}\n}\n"
        ),
    ),
    "services": (
        "message A {} service S { rpc B (A) returns (stream A) { option deprecated = true; } }",
        (
            "\nmessage A {}\n\nservice S {\n  rpc B (.A) returns (stream .A) {\n"
            "    option deprecated = true;\n  };\n}\n"
        ),
    ),
    "Confluent's own options have names without an import": (
        (
            'syntax = "proto3"; import "confluent/meta.proto"; message A { int32 b = 1 '
            '[(confluent.field_meta) = { doc: "d" tags: "t" params: { key: "z" value: "1" } '
            'params: { key: "scale" value: "2" } }]; }'
        ),
        (
            'syntax = "proto3";\n\nimport "confluent/meta.proto";\n\nmessage A {\n'
            '  int32 b = 1 [(confluent.field_meta) = {\n    doc: "d",\n    params: [\n      {\n'
            '        value: "2",\n        key: "scale"\n      },\n      {\n        key: "z",\n'
            '        value: "1"\n      }\n    ],\n    tags: [\n      "t"\n    ]\n  }];\n}\n'
        ),
    ),
    "custom options have the names that the file or an import declares": (
        (
            'syntax = "proto2"; import "google/protobuf/descriptor.proto"; extend '
            "google.protobuf.FieldOptions { optional O o = 50001; repeated double d = 50002; } "
            "message O { optional E e = 1; optional float f = 2; optional bytes g = 3; "
            "optional O o = 4; repeated bool h = 5; extensions 9; enum E { X = 3; } } "
            "extend O { optional string x = 9; } "
            "message A { optional int32 a = 1 [(o) = { e: X f: 1.1 g: '\\xff' o { [x]: 'y' } "
            "h: [true, false] }, (d) = 1e20, (d) = -inf]; }"
        ),
        (
            '\nimport "google/protobuf/descriptor.proto";\n\nmessage O {\n  optional .O.E e = 1;\n'
            "  optional float f = 2;\n  optional bytes g = 3;\n  optional .O o = 4;\n"
            "  repeated bool h = 5;\n\n  extensions 9;\n\n  enum E {\n    X = 3;\n  }\n}\n"
            "message A {\n  optional int32 a = 1 [\n    (o) = {\n      e: X,\n      f: 1.1,\n"
            '      g: "\\377",\n      o: {\n        [x]: "y"\n      },\n      h: [\n        true,\n'
            "        false\n      ]\n    },\n    (d) = 1e+20,\n    (d) = -inf\n  ];\n}\n\n"
            "extend .google.protobuf.FieldOptions {\n  optional .O o = 50001;\n"
            "  repeated double d = 50002;\n}\nextend .O {\n  optional string x = 9;\n}\n"
        ),
    ),
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.values(), ids=TEXTS)
def test_the_text_of_a_descriptor(text: str, expected: str) -> None:
    if "confluent" in text:  # protoc has no such file; ours makes the descriptor
        serialized = PROTOBUF.parse(text, {}).rendered("serialized")
        assert PROTOBUF.parse(serialized, {}).canonical == expected
    else:
        assert stored(text) == expected


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.proto")), ids=lambda path: path.stem)
def test_text_and_descriptor_describe_each_other(path: Path) -> None:
    """What is registered as text and read as a descriptor is the same schema when it comes back."""
    once = PROTOBUF.parse(PROTOBUF.parse(path.read_text(), PARTS).rendered("serialized"), PARTS)
    twice = PROTOBUF.parse(once.rendered("serialized"), PARTS)
    assert once.canonical == twice.canonical
    assert once.rendered("serialized") == twice.rendered("serialized")


def test_uninterpreted_options_become_options_again() -> None:
    text = (
        '\noption (a).b = 5;\noption (a) = -5;\noption (a) = 1.5;\noption (a) = "t";\n'
        "option (a) = W;\noption (a) = true;\noption (a) = {\n  b: 1\n};\n\nmessage A {}\n"
    )
    assert PROTOBUF.parse(PROTOBUF.parse(text, {}).rendered("serialized"), {}).canonical == text


def test_editions_are_refused() -> None:
    proto = pb.FileDescriptorProto(syntax="editions", edition=pb.EDITION_2023)
    with pytest.raises(InvalidSchema, match="editions is not supported: use proto2 or proto3"):
        file_of(proto, {})


def test_depth_has_a_bound() -> None:
    proto = pb.FileDescriptorProto()
    message = proto.message_type.add(name="A")
    for _ in range(40):
        message = message.nested_type.add(name="A")
    with pytest.raises(InvalidSchema, match="nested more than 32 deep"):
        file_of(proto, {})


@pytest.mark.parametrize("name", ["", "1", "a b", "A {} message B", "é", 'a"', "a;\nimport"])
def test_names_that_are_none_do_not_get_into_text(name: str) -> None:
    """A descriptor holds any string as a name; text of it could say something else."""
    proto = pb.FileDescriptorProto(syntax="proto3")
    proto.message_type.add(name="A").field.add(name=name, number=1, type=5, label=1)
    with pytest.raises(InvalidSchema):
        PROTOBUF.parse(in_base64(proto), {})


@pytest.mark.parametrize("default", ['a"b', "a\\", 'a"; option b = "'])
def test_a_default_that_is_not_escaped_is_refused(default: str) -> None:
    proto = pb.FileDescriptorProto()
    field = proto.message_type.add(name="A").field.add(name="a", number=1, type=12, label=1)
    field.default_value = default
    with pytest.raises(InvalidSchema):
        PROTOBUF.parse(in_base64(proto), {})


def test_a_oneof_that_is_not_declared_is_refused() -> None:
    proto = pb.FileDescriptorProto(syntax="proto3")
    proto.message_type.add(name="A").field.add(name="a", number=1, type=5, label=1, oneof_index=3)
    with pytest.raises(InvalidSchema, match="in a oneof that is not declared"):
        PROTOBUF.parse(in_base64(proto), {})


def test_what_is_neither_text_nor_a_descriptor_is_told_as_text() -> None:
    """The first error is the one that helps: people write files, machines make descriptors."""
    for text in ("AAAA", "Zm9v", "message", "====", "CgRhYmNk"):
        with pytest.raises(InvalidSchema, match=r"expected a (statement|message's name)"):
            PROTOBUF.parse(text, {})


def test_the_text_of_the_corpus_is_a_file() -> None:
    for path in CORPUS.glob("*.proto"):
        assert print_file(parse_file(stored(path.read_text())))
