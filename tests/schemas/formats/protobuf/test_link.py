"""Which files a schema has, and which declaration a name means."""

import pytest

from headwater.schemas.formats.contract import InvalidSchema
from headwater.schemas.formats.protobuf import PROTOBUF
from headwater.schemas.formats.protobuf.known import KNOWN_PATHS, known_file, known_path_of
from headwater.schemas.formats.protobuf.link import FILES_MAX, link
from headwater.schemas.formats.protobuf.parser import parse_file
from headwater.schemas.formats.protobuf.scope import MAIN, NAME_CHARS_MAX, Scope

P3 = 'syntax = "proto3";\n'


def linked(text: str, **references: str) -> Scope:
    return link(parse_file(P3 + text), {name: parse_file(P3 + r) for name, r in references.items()})


def test_files_come_after_those_that_they_import() -> None:
    scope = linked('import "a";', c="", a='import "b"; import "c";', b='import "c";')
    assert list(scope.files) == ["c", "b", "a", MAIN]


def test_references_that_nobody_imports_are_there_too() -> None:
    """Confluent's registry sees the types of every reference, imported or not."""
    scope = linked("message A { q.B b = 1; }", unused="package q; message B {}")
    assert scope.resolve("q.B", "A") is not None


def test_files_that_import_each_other_are_refused() -> None:
    with pytest.raises(InvalidSchema, match="'a' imports itself through others"):
        linked('import "a";', a='import "b";', b='import "a";')


def test_a_schema_has_so_many_references_and_no_more() -> None:
    many = {str(number): parse_file("") for number in range(FILES_MAX + 1)}
    with pytest.raises(InvalidSchema, match="1001 references; 1000 are the most"):
        link(parse_file(""), many)


def test_a_chain_of_references_may_be_long() -> None:
    chain = {str(n): parse_file(f'import "{n + 1}";') for n in range(FILES_MAX)}
    assert len(link(parse_file('import "0";'), chain).files) == FILES_MAX + 1


@pytest.mark.parametrize("path", sorted(KNOWN_PATHS))
def test_known_files_are_imported_without_a_reference(path: str) -> None:
    text = f'{P3}import "{path}"; message A {{}}'
    schema = PROTOBUF.parse(text, {}, is_new=True)
    assert schema.canonical == f'{P3}\nimport "{path}";\n\nmessage A {{}}\n'


def test_confluent_s_known_files_are_there() -> None:
    assert len(KNOWN_PATHS) == 29
    assert {"confluent/meta.proto", "google/type/timeofday.proto"} < KNOWN_PATHS
    assert known_file("google/type/date.proto").package == "google.type"


def test_a_reference_goes_before_the_known_file_of_its_name() -> None:
    path = "google/type/date.proto"
    own = parse_file(P3 + "package google.type; message Date { string own = 1; }")
    user = parse_file(P3 + f'import "{path}"; message A {{ google.type.Date d = 1; }}')
    scope = link(user, {path: own})
    found = scope.resolve("google.type.Date", "A")
    assert found is not None
    assert found.element in own.body


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("google.protobuf.Timestamp", "google/protobuf/timestamp.proto"),
        ("google.protobuf.FieldDescriptorProto.Type", "google/protobuf/descriptor.proto"),
        ("google.type.Nothing", None),
        ("p.Timestamp", None),
    ],
)
def test_known_types_by_name(name: str, path: str | None) -> None:
    assert known_path_of(name) == path


@pytest.mark.parametrize(
    ("name", "inside", "found"),
    [
        ("B", "p.q.A", "p.q.A.B"),
        ("B", "p.q", "p.q.B"),
        ("A.B", "p.q.A", "p.q.A.B"),
        ("q.B", "p.q.A", "p.q.B"),
        (".p.q.B", "p.q.A", "p.q.B"),
        ("p.q.B", "", "p.q.B"),
        ("E", "p.q.A.B", "p.q.A.E"),
        ("G", "p.q.A", "p.q.A.G"),
        ("B.C", "p.q.A", "p.q.B.C"),
        (".B", "p.q.A", None),
        ("C", "p.q.A", None),
    ],
)
def test_a_name_is_looked_for_from_the_inside_out(
    name: str, inside: str, found: str | None
) -> None:
    """``B.C`` is found although an inner ``B`` has no ``C``, where protoc gives up."""
    text = (
        "package p.q; message A { message B {} enum E { X = 0; } oneof o { group G = 1 {} } }"
        "message B { message C {} }"
    )
    declared = link(parse_file(text), {}).resolve(name, inside)
    assert (None if declared is None else declared.full_name) == found


def test_extensions_have_names_where_they_are_declared() -> None:
    scope = link(parse_file("package p; message A { extend A { optional int32 x = 1; } }"), {})
    extension = scope.resolve_extension("x", "p.A")
    assert extension is not None
    assert (extension.full_name, extension.extendee) == ("p.A.x", "A")
    assert scope.resolve_extension("x", "p") is None


def test_full_names_have_a_bound() -> None:
    """Each type repeats the names around it: a short text could ask for gigabytes."""
    linked(f"message {'A' * NAME_CHARS_MAX} {{}}")
    with pytest.raises(InvalidSchema, match="has 1002 characters; 1000 are the most"):
        linked(f"package {'p' * (NAME_CHARS_MAX - 1)}; message AB {{}}")
