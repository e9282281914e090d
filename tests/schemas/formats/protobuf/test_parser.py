"""The grammar: what is read, and where it breaks. What it means protoc says (test_descriptors)."""

import pytest

from headwater.schemas.formats.contract import InvalidSchema
from headwater.schemas.formats.protobuf.elements import (
    Enum,
    EnumValue,
    Field,
    Import,
    ImportKind,
    Message,
    Option,
    ProtoFile,
    Scalar,
    ValueKind,
    of_kind,
)
from headwater.schemas.formats.protobuf.parser import parse_file
from headwater.schemas.formats.protobuf.reader import NAME_PARTS_MAX, NESTING_MAX

P3 = 'syntax = "proto3";\n'


def only_message(text: str) -> Message:
    (message,) = of_kind(parse_file(text).body, Message)
    return message


def test_an_empty_file_is_a_file() -> None:
    assert parse_file("") == parse_file("\ufeff // nothing\n/* at all */ ;") == ProtoFile()


def test_statements_of_a_file_may_come_in_any_order() -> None:
    file = parse_file(P3 + 'message A {}\nimport weak "b"; package p . q ;import public "c";')
    assert file.package == "p.q"
    assert file.imports == (
        Import(path="b", kind=ImportKind.WEAK),
        Import(path="c", kind=ImportKind.PUBLIC),
    )


def test_comments_and_layout_are_no_part_of_a_file() -> None:
    one = parse_file(P3 + "message A{int32 b=1;}")
    other = parse_file(
        P3 + "// a\nmessage /* b */ A {\r\n\tint32 b /** c **/ = 1; // d\n /* * / */ }//"
    )
    assert one == other


def test_keywords_name_fields_and_types() -> None:
    """Nothing is reserved: only what opens a statement is looked at."""
    text = P3 + "message message { enum syntax { to = 0; } string message = 1; syntax max = 2; }"
    fields = of_kind(only_message(text).body, Field)
    assert [(field.type, field.name) for field in fields] == [
        ("string", "message"),
        ("syntax", "max"),
    ]


@pytest.mark.parametrize(
    ("written", "number"),
    [("7", 7), ("0x1F", 31), ("0X1f", 31), ("017", 15), ("00", 0), ("2147483647", 2**31 - 1)],
)
def test_numbers_in_ten_sixteen_and_eight(written: str, number: int) -> None:
    (field,) = of_kind(only_message(P3 + f"message A {{ int32 b = {written}; }}").body, Field)
    assert field.number == number


def test_numbers_of_enums_may_be_negative() -> None:
    (enum,) = of_kind(parse_file("enum A { B = -2147483648; C = - 0x1; }").body, Enum)
    assert [value.number for value in of_kind(enum.body, EnumValue)] == [-(2**31), -1]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('"a" \'b\' "c"', "abc"),
        (r'"\a\b\f\n\r\t\v\\\'\"\?"', "\a\b\f\n\r\t\v\\'\"?"),
        (r'"\0\12\1234"', "\0\nS4"),
        (r'"\x41\X4g"', "A\x04g"),
        (r'"\u00e9\U0001F600\ud83d\ude00"', "é😀😀"),
        (r'"\303\251"', "é"),
        (r'"\303"', "\udcc3"),
        ('"/* no comment // */"', "/* no comment // */"),
    ],
)
def test_strings(written: str, text: str) -> None:
    """Escapes make bytes; bytes that are no UTF-8 stay distinguishable."""
    (option,) = of_kind(parse_file(f"option a = {written};").body, Option)
    assert option.value == Scalar(ValueKind.STRING, text)


def test_default_and_json_name_are_no_options() -> None:
    text = 'message A { optional int32 b = 1 [lazy = true, json_name = "c", default = -5]; }'
    (field,) = of_kind(only_message(text).body, Field)
    assert field.default == Scalar(ValueKind.NUMBER, "-5")
    assert field.json_name == "c"
    assert len(field.options) == 1


BROKEN = [
    ('edition = "2023";', "editions are not supported ('2023'): use proto2 or proto3", 1, 1),
    ('syntax = "proto4";', "unknown syntax 'proto4': it is 'proto2' or 'proto3'", 1, 1),
    ('package a;\nsyntax = "proto3";', "'syntax' must be the first statement of the file", 2, 1),
    ("package a; package b;", "a file has one package", 1, 12),
    ('import "a"', "expected ';', found end of file", 1, 11),
    ("import a;", "expected a path in quotes, found 'a'", 1, 8),
    ("oneof a {}", "expected a statement (message, enum, extend, service, option, import or", 1, 1),
    ("message {}", "expected a message's name, found '{'", 1, 9),
    ("message A {", "expected 'required', 'optional' or 'repeated', found end of file", 1, 12),
    ("message A {\n  int32 b = 1;\n}", "expected 'required', 'optional' or 'repeated'", 2, 3),
    (P3 + "message A { int32 b = ; }", "expected a field's number, found ';'", 2, 23),
    (P3 + "message A { int32 b = -1; }", "expected a field's number, found '-'", 2, 23),
    (P3 + "message A { int32 b = 1.0; }", "expected a field's number, found '1.0'", 2, 23),
    (P3 + "message A { int32 b = 2147483648; }", "a field's number is 2147483648, outside", 2, 23),
    (P3 + "message A { int32 b = 08; }", "08 is no octal number", 2, 23),
    (P3 + "message A { int32 b = 1 }", "expected ';', found '}'", 2, 25),
    (P3 + "message A { int32 = 1; }", "expected a field's name, found '='", 2, 19),
    (
        P3 + "message A { int32 b = 1 [default = 1, default = 2]; }",
        "a field has one default",
        2,
        39,
    ),
    (P3 + "message A { int32 b = 1 [json_name = c]; }", "json_name is a string of UTF-8", 2, 26),
    (P3 + "message A { int32 b = 1 [json_name = '\\xff']; }", "json_name is a string of", 2, 26),
    ('import "\\xff";', "a path is no UTF-8", 1, 8),
    ('message A { reserved "a", "\\xff"; }', "a reserved name is no UTF-8", 1, 27),
    (P3 + f"message A {{ int32 b = 0x{'f' * 9999}; }}", "a field's number is 9999", 2, 23),
    (P3 + "message A { map<float, int32> b = 1; }", "keys of a map are integers, bool or", 2, 17),
    (P3 + "message A { repeated map<int32, int32> b = 1; }", "a map has no label", 2, 13),
    (P3 + "message A { oneof o { map<int32, int32> b = 1; } }", "a map has no label", 2, 23),
    (
        P3 + "message A { oneof o { repeated int32 b = 1; } }",
        "fields of a oneof have no label",
        2,
        23,
    ),
    (P3 + "message A { required int32 b = 1; }", "proto3 has no required fields", 2, 13),
    ("message A { optional group b = 1 {} }", "a group's name begins with a capital letter", 1, 28),
    ("message A { reserved ; }", "expected a number, found ';'", 1, 22),
    ("message A { extensions 1 to ; }", "expected a number, found ';'", 1, 29),
    ("enum A { B }", "expected '=', found '}'", 1, 12),
    ("enum A { B = 99999999999; }", "a number is 99999999999, outside -2147483648 to", 1, 14),
    ("service A { int32 b = 1; }", "expected 'rpc', found 'int32'", 1, 13),
    ("service A { rpc B C returns (D); }", "expected '(', found 'C'", 1, 19),
    ("option = 1;", "expected an option's name, found '='", 1, 8),
    ("option (a = 1;", "expected ')', found '='", 1, 11),
    ("option a = [1];", "a list stands inside of { } only", 1, 12),
    ("option a = -b;", "-b is no number", 1, 14),
    ("option a = { b 1 };", "expected ':' after 'b', found '1'", 1, 16),
    ("option a = { b: [1 2] };", "expected ',' or ']', found '2'", 1, 20),
    ("option a = { b: 1", "expected a field's name, found end of file", 1, 18),
    ('option a = "b\n";', "string is not closed on its line", 1, 12),
    ('option a = "\\q";', "unknown escape in string", 1, 12),
    ('option a = "\\U00110000";', "escape is past the last code point", 1, 12),
    ("/* never closed", "comment is not closed", 1, 1),
    ("message Ä {}", "unexpected character 'Ä'", 1, 9),
    (P3 + "message A { int32 b = 1int32; }", "no space between '1' and a word", 2, 23),
    ("message \x00", "unexpected character '\\x00'", 1, 9),
]


@pytest.mark.parametrize(("text", "reason", "line", "column"), BROKEN, ids=[t for t, *_ in BROKEN])
def test_errors_say_what_was_expected_and_where(
    text: str, reason: str, line: int, column: int
) -> None:
    with pytest.raises(InvalidSchema) as broken:
        parse_file(text)
    assert broken.value.reason.startswith(reason)
    assert broken.value.place == f"line {line}, column {column}"


def test_every_part_of_a_file_is_a_file_or_is_refused() -> None:
    """Cut short anywhere, a file is told to be broken and nothing else happens."""
    text = P3 + 'message A { oneof o { string b = 1 [(c).d = { e: ["f", -1.5] }]; } reserved 7; }'
    for end in range(len(text)):
        try:
            parse_file(text[:end])
        except InvalidSchema:
            continue
        assert text[:end].strip() in ("", P3.strip())


@pytest.mark.parametrize(
    ("start", "step"),
    [
        ("", "message A {"),
        ("message A {", "optional group B = 1 {"),
        ("option a = {", "b {"),
        ("option a = {", "b: [ {"),
    ],
)
def test_depth_has_a_bound(start: str, step: str) -> None:
    """However deep the text goes, the answer is an error of ours, and quick."""
    with pytest.raises(InvalidSchema, match=f"nested more than {NESTING_MAX} deep"):
        parse_file(start + step * 100_000)


def test_the_parts_of_a_name_have_a_bound() -> None:
    parse_file("package " + ".".join(["a"] * NAME_PARTS_MAX) + ";")
    with pytest.raises(InvalidSchema, match="more than 32 parts"):
        parse_file("package " + ".".join(["a"] * (NAME_PARTS_MAX + 1)) + ";")
