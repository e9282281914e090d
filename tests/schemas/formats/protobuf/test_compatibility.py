"""What may change: Confluent's kinds, paths and sentences, and the few places that are stricter."""

import pytest

from headwater.schemas.formats.contract import Incompatibility
from headwater.schemas.formats.protobuf import PROTOBUF

P2 = 'syntax = "proto2";\n'
P3 = 'syntax = "proto3";\n'


def reasons(old: str, new: str) -> list[Incompatibility]:
    """Why *new* cannot read data of *old*."""
    return PROTOBUF.incompatibilities(
        reader=PROTOBUF.parse(new, {}), writer=PROTOBUF.parse(old, {})
    )


def told(old: str, new: str) -> list[str]:
    return [f"{reason.kind} {reason.path}" for reason in reasons(old, new)]


def in_message(fields: str) -> str:
    return P3 + f"message A {{ string a = 1; {fields} }} message B {{}} enum E {{ X = 0; }}"


COMPATIBLE = {
    "field added": ("", "string b = 2;"),
    "field removed": ("string b = 2;", ""),
    "field renamed": ("string b = 2;", "string c = 2;"),
    "number changed": ("string b = 2;", "string b = 3;"),
    "numbers": ("int32 b = 2;", "uint64 b = 2;"),
    "number to bool": ("int32 b = 2;", "bool b = 2;"),
    "number to enum": ("int32 b = 2;", "E b = 2;"),
    "enum to number": ("E b = 2;", "int64 b = 2;"),
    "signed": ("sint32 b = 2;", "sint64 b = 2;"),
    "four bytes": ("fixed32 b = 2;", "sfixed32 b = 2;"),
    "eight bytes": ("fixed64 b = 2;", "sfixed64 b = 2;"),
    "text to bytes": ("string b = 2;", "bytes b = 2;"),
    "text to a list": ("string b = 2;", "repeated string b = 2;"),
    "message to a list": ("B b = 2;", "repeated B b = 2;"),
    "presence": ("int32 b = 2;", "optional int32 b = 2;"),
    "spelling of a type": ("B b = 2;", ".B b = 2;"),
    "value of a map": ("map<int32, string> b = 2;", "map<bool, bytes> b = 2;"),
    "message added": ("", "message C {}"),
    "message moved": ("message C {} message D {}", "message D {} message C {}"),
    "enum added": ("", "enum F { Y = 0; }"),
    "enum removed": ("enum F { Y = 0; }", ""),
    "value renamed": ("enum F { Y = 0; }", "enum F { Z = 0; }"),
    "value removed": ("enum F { Y = 0; Z = 1; }", "enum F { Y = 0; }"),
    "one field into a new oneof": ("string b = 2;", "oneof o { string b = 2; int32 c = 3; }"),
    "oneof dissolved": ("oneof o { string b = 2; int32 c = 3; }", "string b = 2; int32 c = 3;"),
    "oneof removed": ("oneof o { string b = 2; int32 c = 3; }", ""),
    "oneof renamed": ("oneof o { string b = 2; }", "oneof p { string b = 2; }"),
    "field added to a oneof": ("oneof o { int32 b = 2; }", "oneof o { int32 b = 2; int32 c = 3; }"),
    "field taken out of a oneof": (
        "oneof o { int32 b = 2; int32 c = 3; }",
        "oneof o { int32 b = 2; } int32 c = 3;",
    ),
    "one oneof made two": (
        "oneof o { int32 b = 2; int32 c = 3; }",
        "oneof o { int32 b = 2; } oneof p { int32 c = 3; }",
    ),
}


@pytest.mark.parametrize(("old", "new"), COMPATIBLE.values(), ids=COMPATIBLE)
def test_what_may_change(old: str, new: str) -> None:
    assert told(in_message(old), in_message(new)) == []


INCOMPATIBLE = {
    "number to text": ("int32 b = 2;", "string b = 2;", ["FIELD_SCALAR_KIND_CHANGED #/A/2"]),
    "number to signed": ("int32 b = 2;", "sint32 b = 2;", ["FIELD_SCALAR_KIND_CHANGED #/A/2"]),
    "other sizes": ("fixed32 b = 2;", "fixed64 b = 2;", ["FIELD_SCALAR_KIND_CHANGED #/A/2"]),
    "float to double": ("float b = 2;", "double b = 2;", ["FIELD_SCALAR_KIND_CHANGED #/A/2"]),
    "enum to text": ("E b = 2;", "string b = 2;", ["FIELD_SCALAR_KIND_CHANGED #/A/2"]),
    "number to message": ("int32 b = 2;", "B b = 2;", ["FIELD_KIND_CHANGED #/A/2"]),
    "message to bytes": ("B b = 2;", "bytes b = 2;", ["FIELD_KIND_CHANGED #/A/2"]),
    "map to message": ("map<int32, int32> b = 2;", "B b = 2;", ["FIELD_KIND_CHANGED #/A/2"]),
    "other message": ("B b = 2;", "A b = 2;", ["FIELD_NAMED_TYPE_CHANGED #/A/2"]),
    "other message of the same name": (
        "B b = 2;",
        "B b = 2; message B {}",
        ["FIELD_NAMED_TYPE_CHANGED #/A/2"],
    ),
    "unknown message": ("Gone b = 2;", "Lost b = 2;", ["FIELD_NAMED_TYPE_CHANGED #/A/2"]),
    "number to a list": (
        "optional int32 b = 2;",
        "repeated int32 b = 2;",
        ["FIELD_NUMERIC_LABEL_CHANGED #/A/2"],
    ),
    "list of enums to one": (
        "repeated E b = 2;",
        "E b = 2;",
        ["FIELD_NUMERIC_LABEL_CHANGED #/A/2"],
    ),
    "key of a map": (
        "map<int32, int32> b = 2;",
        "map<string, int32> b = 2;",
        ["FIELD_SCALAR_KIND_CHANGED #/A/2"],
    ),
    "value of a map": (
        "map<int32, B> b = 2;",
        "map<int32, A> b = 2;",
        ["FIELD_NAMED_TYPE_CHANGED #/A/2"],
    ),
    "message removed": ("message C { message D {} }", "", ["MESSAGE_REMOVED #/A/C"]),
    "inner message removed": (
        "message C { message D {} }",
        "message C {}",
        ["MESSAGE_REMOVED #/A/C/D"],
    ),
    "inside of an inner message": (
        "message C { int32 c = 7; }",
        "message C { string c = 7; }",
        ["FIELD_SCALAR_KIND_CHANGED #/A/C/7"],
    ),
    "field removed from a oneof": (
        "oneof o { int32 b = 2; int32 c = 3; }",
        "oneof o { int32 b = 2; }",
        ["ONEOF_FIELD_REMOVED #/A/o/3"],
    ),
    "type changed in a oneof": (
        "oneof o { int32 b = 2; }",
        "oneof o { string b = 2; }",
        ["FIELD_SCALAR_KIND_CHANGED #/A/o/2"],
    ),
    "type changed on the way into a oneof": (
        "int32 b = 2;",
        "oneof o { string b = 2; }",
        ["FIELD_SCALAR_KIND_CHANGED #/A/2"],
    ),
    "several fields into a oneof": (
        "int32 b = 2; int32 c = 3;",
        "oneof o { int32 b = 2; int32 c = 3; }",
        ["MULTIPLE_FIELDS_MOVED_TO_ONEOF #/A/o"],
    ),
    "a field into a oneof that was there": (
        "int32 b = 2; oneof o { int32 c = 3; }",
        "oneof o { int32 b = 2; int32 c = 3; }",
        ["FIELD_MOVED_TO_EXISTING_ONEOF #/A/o"],
    ),
    "two oneofs made one": (
        "oneof o { int32 b = 2; } oneof p { int32 c = 3; }",
        "oneof o { int32 b = 2; int32 c = 3; }",
        ["MULTIPLE_FIELDS_MOVED_TO_ONEOF #/A/o"],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), INCOMPATIBLE.values(), ids=INCOMPATIBLE)
def test_what_may_not_change(old: str, new: str, expected: list[str]) -> None:
    assert told(in_message(old), in_message(new)) == expected


PROTO2 = {
    "required added": ("", "required string b = 2;", ["REQUIRED_FIELD_ADDED #/A/2"]),
    "required removed": ("required string b = 2;", "", ["REQUIRED_FIELD_REMOVED #/A/2"]),
    "optional text to required": (
        "optional string b = 2;",
        "required string b = 2;",
        ["REQUIRED_FIELD_ADDED #/A/2"],
    ),
    "optional number to required": (
        "optional int32 b = 2;",
        "required int32 b = 2;",
        ["FIELD_NUMERIC_LABEL_CHANGED #/A/2"],
    ),
    "required text to optional": ("required string b = 2;", "optional string b = 2;", []),
    "required into a oneof": ("required string b = 2;", "oneof o { string b = 2; }", []),
    "out of a oneof to required": (
        "oneof o { string b = 2; }",
        "required string b = 2;",
        ["REQUIRED_FIELD_ADDED #/A/2"],
    ),
    "inside of a group": (
        "optional group G = 2 { optional int32 x = 1; }",
        "optional group H = 2 { optional string x = 1; }",
        ["FIELD_SCALAR_KIND_CHANGED #/A/2/1"],
    ),
    "group to message": (
        "optional group G = 2 {}",
        "optional A g = 2;",
        ["FIELD_KIND_CHANGED #/A/2"],
    ),
    "group removed": ("optional group G = 2 {}", "", []),
    "group required": (
        "optional group G = 2 {}",
        "required group G = 2 {}",
        ["REQUIRED_FIELD_ADDED #/A/2"],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), PROTO2.values(), ids=PROTO2)
def test_what_may_change_in_proto2(old: str, new: str, expected: list[str]) -> None:
    assert told(P2 + f"message A {{ {old} }}", P2 + f"message A {{ {new} }}") == expected


def test_a_package_may_not_change() -> None:
    old, new = P3 + "package p; message A { A a = 1; }", P3 + "package q; message A { A a = 1; }"
    assert told(old, new) == ["PACKAGE_CHANGED #/"]


def test_an_entry_spelt_as_a_message_is_a_map() -> None:
    """Descriptors spell it out, files do not: the one may follow the other."""
    spelt = P3 + (
        "message A { repeated A.BEntry b = 1; message BEntry { option map_entry = true; "
        "int32 key = 1; string value = 2; } }"
    )
    short = P3 + "message A { map<int32, string> b = 1; }"
    assert told(spelt, short) == told(short, spelt) == []
    assert told(spelt, short.replace("string", "int32")) == ["FIELD_SCALAR_KIND_CHANGED #/A/1"]


def test_an_entry_of_itself_is_bounded() -> None:
    text = P3 + (
        "message A { repeated E b = 1; message E { option map_entry = true; "
        "int32 key = 1; E value = 2; } }"
    )
    assert told(text, text) == []


MESSAGES = [
    (
        P3 + "package p;",
        P3,
        "The package at '#/' in the new schema does not match the package in the old schema",
        "keep package p, or use another subject",
    ),
    (
        in_message("message C {}"),
        in_message(""),
        "The new schema is missing a MESSAGE type at path '#/A/C' in the old schema",
        "keep message 'C', empty if need be",
    ),
    (
        in_message("B b = 2;"),
        in_message("int32 b = 2;"),
        "The type of a field at path '#/A/2' in the new schema does not match the old schema",
        "keep B, or give int32 a new number",
    ),
    (
        in_message("int32 b = 2;"),
        in_message("string b = 2;"),
        (
            "The kind of a SCALAR field at path '#/A/2' in the new schema does not "
            "match its kind in "
            "the old schema"
        ),
        "int32 may become an enum, bool, int64, uint32, uint64; another type needs a new number",
    ),
    (
        in_message("float b = 2;"),
        in_message("double b = 2;"),
        (
            "The kind of a SCALAR field at path '#/A/2' in the new schema does not "
            "match its kind in "
            "the old schema"
        ),
        "float may become nothing else; another type needs a new number",
    ),
    (
        in_message("A b = 2;"),
        in_message("B b = 2;"),
        (
            "The type of a MESSAGE field at path '#/A/2' in the new schema does "
            "not match its type in "
            "the old schema"
        ),
        "keep A as it was, or give B a new number",
    ),
    (
        in_message("int32 b = 2;"),
        in_message("repeated int32 b = 2;"),
        (
            "The label for a NUMERIC field at path '#/A/2' in the new schema does "
            "not match its label "
            "in the old schema"
        ),
        "leave field 'b' singular",
    ),
    (
        P2 + "message A {}",
        P2 + "message A { required int32 b = 2; }",
        "A required field  at path '#/A/2' in the new schema is missing in the old schema",
        "make field 'b' optional",
    ),
    (
        P2 + "message A { required int32 b = 2; }",
        P2 + "message A {}",
        "The new schema is missing a required field at path: '#/A/2' in the old schema",
        "keep field 'b'",
    ),
    (
        in_message("oneof o { int32 b = 2; int32 c = 3; }"),
        in_message("oneof o { int32 b = 2; }"),
        "The new schema is missing a oneof field at path '#/A/o/3' in the old schema",
        "keep field 'c' in oneof 'o'",
    ),
    (
        in_message("int32 b = 2; int32 c = 3;"),
        in_message("oneof o { int32 b = 2; int32 c = 3; }"),
        (
            "Multiple fields in the oneof at path '#/A/o' in the new schema are "
            "outside a oneof in the "
            "old schema"
        ),
        "leave 'b', 'c' where they are: they may be set together",
    ),
    (
        in_message("int32 b = 2; oneof o { int32 c = 3; }"),
        in_message("oneof o { int32 b = 2; int32 c = 3; }"),
        (
            "A field in the oneof at path '#/A/o' in the new schema is outside an "
            "existing oneof in "
            "the old schema"
        ),
        "leave field 'b' outside of oneof 'o'",
    ),
]


@pytest.mark.parametrize(("old", "new", "message", "hint"), MESSAGES)
def test_the_sentences(old: str, new: str, message: str, hint: str) -> None:
    """Confluent's for machines, the way out for people."""
    (reason,) = reasons(old, new)
    told = reason.told(reader="new", writer="old")
    assert told == f'{{errorType:"{reason.kind}", description:"{message}"}}'
    assert reason.hint == hint


# Types of other files

NO_FILES: dict[str, str] = {}


def user(package: str, type_name: str = "Home") -> str:
    return P3 + f'import "home.proto"; message A {{ {package}.{type_name} b = 1; }}'


def home(package: str, text: str) -> dict[str, str]:
    return {"home.proto": P3 + f"package {package}; {text}"}


def told_with(old: tuple[str, dict[str, str]], new: tuple[str, dict[str, str]]) -> list[str]:
    found = PROTOBUF.incompatibilities(reader=PROTOBUF.parse(*new), writer=PROTOBUF.parse(*old))
    return [f"{reason.kind} {reason.path}" for reason in found]


def test_a_type_of_another_file_is_compared_where_it_is_used() -> None:
    old = (user("p"), home("p", "message Home { int32 a = 1; }"))
    new = (user("p"), home("p", "message Home { string a = 1; }"))
    assert told_with(old, new) == [
        "FIELD_NAMED_TYPE_CHANGED #/A/1",
        "FIELD_SCALAR_KIND_CHANGED #/Home/1",
    ]


def test_the_package_of_another_file_may_change() -> None:
    old = (user("p", "O.Home"), home("p", "message O { message Home { int32 a = 1; } }"))
    new = (user("q", "O.Home"), home("q", "message O { message Home { int64 a = 1; } }"))
    assert told_with(old, new) == []


def test_a_type_that_nobody_uses_may_do_as_it_likes() -> None:
    old = (user("p"), home("p", "message Home {} message Other { int32 a = 1; }"))
    new = (user("p"), home("p", "message Home {}"))
    assert told_with(old, new) == []


def test_a_type_may_move_here_from_another_file_but_not_there() -> None:
    """The message is compared on both ways; what is missing afterwards is the message itself."""
    there = (user("p"), home("p", "message Home { int32 a = 1; }"))
    here = (P3 + "message A { Home b = 1; } message Home { int64 a = 1; }", NO_FILES)
    assert told_with(there, here) == []
    assert told_with(here, there) == ["MESSAGE_REMOVED #/Home"]


def test_types_that_use_each_other_are_told_once_and_their_users_each() -> None:
    """X uses Y, Y uses X; what is wrong with Y makes both of them, and every field, unreadable."""
    text = "message Home { Other o = 1; } message Other { Home h = 1; %s x = 2; Fine f = 3; }"
    text += "message Fine { Fine f = 1; }"
    source = P3 + 'import "home.proto"; message A { p.Home b = 1; p.Other c = 2; p.Fine d = 3; }'
    old, new = home("p", text % "int32"), home("p", text % "string")
    assert told_with((source, old), (source, new)) == [
        "FIELD_NAMED_TYPE_CHANGED #/A/1",
        "FIELD_NAMED_TYPE_CHANGED #/A/2",
        "FIELD_NAMED_TYPE_CHANGED #/Home/1",
        "FIELD_NAMED_TYPE_CHANGED #/Other/1",
        "FIELD_SCALAR_KIND_CHANGED #/Other/2",
    ]


@pytest.mark.slow
def test_chains_of_types_may_be_long() -> None:
    """No message is deep, so nothing bounds the chain; the comparison must not recurse over it."""
    count = 5_000
    chain = "".join(f"message M{i} {{ M{i + 1} m = 1; }} " for i in range(count))
    source = P3 + 'import "home.proto"; message A { p.M0 b = 1; }'
    old = home("p", chain + f"message M{count} {{ int32 a = 1; }}")
    new = home("p", chain + f"message M{count} {{ string a = 1; }}")
    assert len(told_with((source, old), (source, new))) == count + 2
    assert told_with((source, old), (source, old)) == []
