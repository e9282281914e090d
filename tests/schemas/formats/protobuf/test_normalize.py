"""normalize=true: one order, full names, one spelling."""

from pathlib import Path

import pytest
from hypothesis import given
from tests.schemas.formats.protobuf.files import files
from tests.schemas.formats.protobuf.oracle import CORPUS

from headwater.schemas.formats.protobuf import PROTOBUF, ProtobufSchema
from headwater.schemas.formats.protobuf.elements import ProtoFile
from headwater.schemas.formats.protobuf.link import link
from headwater.schemas.formats.protobuf.normalize import without_extensions
from headwater.schemas.formats.protobuf.parser import parse_file
from headwater.schemas.formats.protobuf.printer import print_file

PARTS = {
    str(path.relative_to(CORPUS)): path.read_text() for path in sorted(CORPUS.glob("parts/*.proto"))
}
OPTIONS = """
syntax = "proto3";
package p;
import "google/protobuf/descriptor.proto";
message Opt { Sub sub = 1; repeated string tags = 2; int32 n = 3; double d = 4; }
message Sub { int32 x = 1; int32 y = 2; }
extend google.protobuf.FieldOptions { Opt one = 50001; repeated Opt many = 50002; }
"""
NORMAL = {
    "fields, oneofs and reserved by number": (
        (
            'syntax = "proto3"; message A { int32 c = 3; oneof p { int32 f = 6; int32 e = 5; } '
            'oneof o { int32 d = 4; } int32 a = 1; reserved 20, 10 to 12, "z", 8 to 8; '
            'reserved "y"; }'
        ),
        (
            'syntax = "proto3";\n\nmessage A {\n  reserved 8;\n  reserved 10 to 12;\n'
            "  reserved 20;\n"
            '  reserved "y";\n  reserved "z";\n\n  int32 a = 1;\n  int32 c = 3;\n\n  oneof o {\n'
            "    int32 d = 4;\n  }\n  oneof p {\n    int32 e = 5;\n    int32 f = 6;\n  }\n}\n"
        ),
    ),
    "messages keep their order, for indexes count it": (
        'syntax = "proto3"; message B {} message A { message D {} message C {} }',
        'syntax = "proto3";\n\nmessage B {}\nmessage A {\n  message D {}\n  message C {}\n}\n',
    ),
    "imports once and sorted, proto2 unsaid": (
        (
            'syntax = "proto2"; import "b"; import "a"; import public "d"; import public "c"; '
            'import "b"; message A {}'
        ),
        '\nimport "a";\nimport "b";\nimport public "c";\nimport public "d";\n\nmessage A {}\n',
    ),
    "types by full name": (
        (
            'syntax = "proto3"; package p; message A { B b = 1; repeated p.A a = 2; '
            "map<string, B> m = 3; "
            "message B {} } service S { rpc C (A.B) returns (A); }"
        ),
        (
            'syntax = "proto3";\npackage p;\n\nmessage A {\n  .p.A.B b = 1;\n'
            "  repeated .p.A a = 2;\n"
            "  map<string, .p.A.B> m = 3;\n\n  message B {}\n}\n\nservice S {\n"
            "  rpc C (.p.A.B) returns (.p.A);\n}\n"
        ),
    ),
    "entries of maps are maps": (
        (
            'syntax = "proto3"; message A { repeated BEntry b = 1; message BEntry { '
            "option map_entry = true; string key = 1; A value = 2; } }"
        ),
        'syntax = "proto3";\n\nmessage A {\n  map<string, .A> b = 1;\n}\n',
    ),
    "values of enums by number and name": (
        "enum E { option deprecated = true; option allow_alias = true; C = 1; B = 1; A = -1; }",
        (
            "\nenum E {\n  option allow_alias = true;\n  option deprecated = true;\n  A = -1;\n"
            "  B = 1;\n  C = 1;\n}\n"
        ),
    ),
    "but zero first in proto3": (
        'syntax = "proto3"; enum E { A = 0; B = 1; C = -1; }',
        'syntax = "proto3";\n\nenum E {\n  A = 0;\n  C = -1;\n  B = 1;\n}\n',
    ),
    "extensions by what they extend": (
        (
            "message A { extensions 9 to 12, 5; extensions 3 to 3; } "
            "extend A { optional A b = 11; } "
            "extend .A { optional int32 c = 10; }"
        ),
        (
            "\nmessage A {\n  extensions 3;\n  extensions 5;\n  extensions 9 to 12;\n}\n\n"
            "extend .A {\n  optional int32 c = 10;\n  optional .A b = 11;\n}\n"
        ),
    ),
    "groups by number": (
        (
            "message A { optional group C = 2 { optional int32 y = 2; optional int32 x = 1; } "
            "optional group B = 1 {} }"
        ),
        (
            "\nmessage A {\n  optional group B = 1 {}\n  optional group C = 2 {\n"
            "    optional int32 x = 1;\n    optional int32 y = 2;\n  }\n}\n"
        ),
    ),
    "numbers of options in one spelling": (
        (
            "option (a) = 0x1F; option (b) = 010; option (c) = 1.50; option (d) = 1e3; "
            "option (e) = 0.00001; option (f) = -inf; option (g) = 1e999999999;"
        ),
        (
            "\noption (a) = 31;\noption (b) = 8;\noption (c) = 1.5;\noption (d) = 1000;\n"
            "option (e) = 0.00001;\noption (f) = -inf;\noption (g) = 1e999999999;\n"
        ),
    ),
}


@pytest.mark.parametrize(("written", "normal"), NORMAL.values(), ids=NORMAL)
def test_the_normal_text(written: str, normal: str) -> None:
    assert PROTOBUF.parse(written, {}).normalized().canonical == normal


@pytest.mark.parametrize(
    "options",
    [
        "(one).sub.x = 1, (one).tags = 'a', (one).sub.y = 2, (one).tags = 'b'",
        "(p.one) = { tags: ['a', 'b'] sub { y: 2 x: 1 } }",
        "(.p.one) = { tags: 'a' }, (p.one).tags = 'b', (one).sub = { y: 2 }, (one).sub.x = 1",
    ],
)
def test_one_option_set_in_parts_is_one_value(options: str) -> None:
    """However it is written, the message of options has the same text, keys sorted."""
    text = OPTIONS + f"message A {{ int32 b = 1 [{options}]; }}"
    normal = PROTOBUF.parse(text, {}).normalized().canonical
    assert normal.endswith(
        "  int32 b = 1 [(p.one) = {\n    sub: {\n      x: 1,\n      y: 2\n    },\n"
        '    tags: [\n      "a",\n      "b"\n    ]\n  }];\n}\n\n'
        "extend .google.protobuf.FieldOptions {\n  .p.Opt one = 50001;\n"
        "  repeated .p.Opt many = 50002;\n}\n"
    )


def test_options_that_may_be_given_more_than_once_stay_apart() -> None:
    text = OPTIONS + "message A { int32 b = 1 [(many) = { n: 1 }, (many) = { n: 2 tags: ['a'] }]; }"
    normal = PROTOBUF.parse(text, {}).normalized().canonical
    assert (
        "  int32 b = 1 [\n    (p.many) = {\n      n: 1\n    },\n    (p.many) = {\n"
        '      n: 2,\n      tags: "a"\n    }\n  ];\n'
    ) in normal


def test_empty_lists_say_nothing_and_lists_of_one_are_values() -> None:
    text = "option (a) = { z: [] y: [1] x: [{ w: [] }] };"
    normal = PROTOBUF.parse(text, {}).normalized().canonical
    assert normal == "\noption (a) = {\n  x: {\n  },\n  y: 1\n};\n"


def test_what_resolves_to_nothing_keeps_its_name() -> None:
    text = 'syntax = "proto3";\n\nmessage A {\n  Gone b = 1 [(gone).c = 1];\n}\n'
    assert PROTOBUF.parse(text, {}).normalized().canonical == text


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.proto")), ids=lambda path: path.stem)
def test_normal_is_normal(path: Path) -> None:
    normal = PROTOBUF.parse(path.read_text(), PARTS).normalized()
    assert normal.normalized().canonical == normal.canonical
    read_again = PROTOBUF.parse(normal.canonical, PARTS, is_new=True)
    assert read_again.canonical == read_again.normalized().canonical == normal.canonical


@pytest.mark.slow
@given(file=files())
def test_the_descriptor_of_a_file_has_its_normal_text(file: ProtoFile) -> None:
    """Text and descriptor are two ways to register one schema; normalized they are one."""
    schema = ProtobufSchema(link(file, {}))
    described = PROTOBUF.parse(schema.rendered("serialized"), {})
    assert described.normalized().canonical == schema.normalized().canonical


def test_without_extensions() -> None:
    """Extend blocks, ranges and custom options go; Confluent's own options stay."""
    text = (
        "option (a) = 1; option java_package = 'j'; option (confluent.file_meta) = { doc: 'd' };"
        "message A { option (a) = 1; extensions 5; oneof o { option (a) = 1; int32 b = 1 [(a) = 1];"
        " group G = 2 { optional int32 x = 1 [(a) = 1]; } } extend A { optional A c = 5; } "
        "reserved 9;"
        " enum E { X = 0 [(a) = 1]; } } extend A { optional A d = 5; }"
        "service S { rpc B (A) returns (A) { option (a) = 1; option deprecated = true; } }"
    )
    assert print_file(without_extensions(parse_file(text))) == (
        '\noption java_package = "j";\noption (confluent.file_meta) = {\n  doc: "d"\n};\n\n'
        "message A {\n  reserved 9;\n\n  oneof o {\n    int32 b = 1;\n  \n    group G = 2 {\n"
        "      optional int32 x = 1;\n    }\n  }\n\n  enum E {\n    X = 0;\n  }\n}\n\n"
        "service S {\n  rpc B (A) returns (A) {\n    option deprecated = true;\n  };\n}\n"
    )
