"""The stored text. Layouts are those that Confluent's registry answers with, byte by byte."""

from pathlib import Path

import pytest
from hypothesis import given
from tests.schemas.formats.protobuf.files import files
from tests.schemas.formats.protobuf.oracle import CORPUS

from headwater.schemas.formats.protobuf.elements import (
    Option,
    ProtoFile,
    Scalar,
    ValueKind,
    of_kind,
)
from headwater.schemas.formats.protobuf.parser import parse_file
from headwater.schemas.formats.protobuf.printer import print_file

STORED = {
    "options go before types, nested enums behind fields": (
        """
        syntax = "proto3"; option csharp_namespace = "Shop.Documents";
        import "google/protobuf/timestamp.proto";
        message Buyer { enum Kind { WEB = 0; SHOP = 1; } string id = 1; /* c */ Kind kind = 8;
          google.protobuf.Timestamp created = 3; }
        """,
        (
            'syntax = "proto3";\n\nimport "google/protobuf/timestamp.proto";\n\n'
            'option csharp_namespace = "Shop.Documents";\n\nmessage Buyer {\n  string id = 1;\n'
            "  Kind kind = 8;\n  google.protobuf.Timestamp created = 3;\n\n  enum Kind {\n"
            "    WEB = 0;\n    SHOP = 1;\n  }\n}\n"
        ),
    ),
    "messages before enums, nothing between them": (
        'syntax = "proto3"; package p; enum E { X = 0; } message A {} message B {}',
        'syntax = "proto3";\npackage p;\n\nmessage A {}\nmessage B {}\nenum E {\n  X = 0;\n}\n',
    ),
    "no syntax and no package leave a blank line": (
        "message A { optional int64 b = 1; reserved 5000 to 6000, 7; extensions 100 to 200, 9; }",
        (
            "\nmessage A {\n  reserved 5000 to 6000, 7;\n\n  optional int64 b = 1;\n\n"
            "  extensions 100 to 200, 9;\n}\n"
        ),
    ),
    "public imports go last": (
        'import public "b"; import "c"; import "a"; message A {}',
        '\nimport "c";\nimport "a";\nimport public "b";\n\nmessage A {}\n',
    ),
    "blank lines inside of nested declarations are indented": (
        (
            'syntax = "proto3"; message A { message B { int32 c = 1; message D {} } '
            "oneof o { option (x) = 1; int32 e = 2; } }"
        ),
        (
            'syntax = "proto3";\n\nmessage A {\n  oneof o {\n    option (x) = 1;\n  \n'
            "    int32 e = 2;\n  }\n\n  message B {\n    int32 c = 1;\n  \n    message D {}\n"
            "  }\n}\n"
        ),
    ),
    "one option stands on the line, several have lines of their own": (
        (
            'syntax = "proto3"; message A { int32 b = 1 [deprecated=true]; '
            'int32 c = 2 [json_name = "d", deprecated = true, (x.y).z = "it\'s"]; }'
        ),
        (
            'syntax = "proto3";\n\nmessage A {\n  int32 b = 1 [deprecated = true];\n'
            "  int32 c = 2 [\n"
            '    deprecated = true,\n    (x.y).z = "it\\\'s",\n    json_name = "d"\n  ];\n}\n'
        ),
    ),
    "messages of options": (
        (
            'syntax = "proto3"; message A { int32 b = 1 [(confluent.field_meta) = { '
            'doc: "d", params: [ { key: "precision" value: "8" } ] tags: "a" tags: ["b"] }]; }'
        ),
        (
            'syntax = "proto3";\n\nmessage A {\n  int32 b = 1 [(confluent.field_meta) = {\n'
            '    doc: "d",\n    params: [\n      {\n        key: "precision",\n        value: "8"\n'
            '      }\n    ],\n    tags: [\n      "a",\n      "b"\n    ]\n  }];\n}\n'
        ),
    ),
    "numbers and words of options are kept as they are written": (
        (
            "option (a) = 0x1F; option (b) = { c: 1e3 d: -inf e: WORD f: true g {} h: [] };"
            "message A { optional double i = 0x2 [default = 1.50]; }"
        ),
        (
            "\noption (a) = 0x1F;\noption (b) = {\n  c: 1e3,\n  d: -inf,\n  e: WORD,\n  f: true,\n"
            "  g: {\n  },\n  h: [\n  ]\n};\n\nmessage A {\n"
            "  optional double i = 2 [default = 1.50];\n}\n"
        ),
    ),
    "reserved and options of enums have no blank lines": (
        'enum E { A = 1; option allow_alias = true; B = 1; reserved 2, 5 to max; reserved "C"; }',
        (
            '\nenum E {\n  reserved 2, 5 to max;\n  reserved "C";\n  option allow_alias = true;\n'
            "  A = 1;\n  B = 1;\n}\n"
        ),
    ),
    "maps, groups and extensions": (
        (
            "message A { map < string , .p.B > m = 1; "
            "repeated group G = 2 { required int32 x = 1; } "
            "extend A { optional int32 e = 100; } extensions 100 to max; } "
            "extend A { repeated string f = 101; }"
        ),
        (
            "\nmessage A {\n  map<string, .p.B> m = 1;\n\n  repeated group G = 2 {\n"
            "    required int32 x = 1;\n  }\n\n  extensions 100 to max;\n\n  extend A {\n"
            "    optional int32 e = 100;\n  }\n}\n\nextend A {\n  repeated string f = 101;\n}\n"
        ),
    ),
    "services": (
        (
            "message A {} service S { option deprecated = true; rpc B (A) returns (stream .A) {} "
            "rpc C (stream A) returns (A) { option idempotency_level = IDEMPOTENT; } } service T {}"
        ),
        (
            "\nmessage A {}\n\nservice S {\n  option deprecated = true;\n\n"
            "  rpc B (A) returns (stream .A);\n  rpc C (stream A) returns (A) {\n"
            "    option idempotency_level = IDEMPOTENT;\n  };\n}\nservice T {}\n"
        ),
    ),
}


@pytest.mark.parametrize(("written", "stored"), STORED.values(), ids=STORED)
def test_the_stored_text(written: str, stored: str) -> None:
    assert print_file(parse_file(written)) == stored


@pytest.mark.parametrize(("written", "stored"), STORED.values(), ids=STORED)
def test_the_stored_text_is_stored_as_it_is(written: str, stored: str) -> None:
    assert print_file(parse_file(stored)) == stored


@pytest.mark.parametrize("path", sorted(CORPUS.rglob("*.proto")), ids=lambda path: path.stem)
def test_what_is_read_again_has_the_same_text(path: Path) -> None:
    stored = print_file(parse_file(path.read_text()))
    assert print_file(parse_file(stored)) == stored


@pytest.mark.slow
@given(file=files())
def test_any_file_is_read_again(file: ProtoFile) -> None:
    """Not only the text is the same: files() draws members in the order that is printed."""
    stored = print_file(file)
    assert print_file(parse_file(stored)) == stored


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("\x01\x7f", r"\001\177"),
        ("\udcff", r"\377"),
        ("\a\b\f\n\r\t\v\\'\"", r"\a\b\f\n\r\t\v\\\'" + r"\""),
        ("é😀?", "é😀?"),
    ],
)
def test_strings_are_printed_so_that_they_mean_the_same(text: str, printed: str) -> None:
    file = parse_file(f'option (a) = "{printed}";')
    (option,) = of_kind(file.body, Option)
    assert option.value == Scalar(ValueKind.STRING, text)
    assert print_file(file) == f'\noption (a) = "{printed}";\n'
