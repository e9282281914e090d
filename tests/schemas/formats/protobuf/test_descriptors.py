"""Descriptors: what protoc makes of the same files, field by field."""

from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2 as pb
from hypothesis import given
from tests.schemas.formats.protobuf.files import files
from tests.schemas.formats.protobuf.oracle import CORPUS, as_protoc_writes, compiled

from headwater.schemas.formats.protobuf.descriptors import file_descriptor, filled_pool
from headwater.schemas.formats.protobuf.elements import ProtoFile
from headwater.schemas.formats.protobuf.link import link
from headwater.schemas.formats.protobuf.parser import parse_file
from headwater.schemas.formats.protobuf.printer import print_file

PARTS = {
    str(path.relative_to(CORPUS)): path.read_text() for path in sorted(CORPUS.glob("parts/*.proto"))
}


def described(text: str) -> pb.FileDescriptorProto:
    references = {path: parse_file(part) for path, part in PARTS.items()}
    return file_descriptor(link(parse_file(text), references))


def assert_protocs(text: str) -> None:
    ours, theirs = as_protoc_writes(described(text)), compiled(text, PARTS)
    assert str(ours) == str(theirs)  # this one says where
    assert ours == theirs  # this one sees custom options, which have no names here


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.proto")), ids=lambda path: path.stem)
def test_a_file_has_protocs_descriptor(path: Path) -> None:
    """Names resolved, options interpreted, maps and optional fields spelt out, defaults normal."""
    assert_protocs(path.read_text())


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.proto")), ids=lambda path: path.stem)
def test_the_stored_text_has_the_same_members(path: Path) -> None:
    """Sections are sorted in the stored text, and nothing else happens to it."""
    stored = print_file(parse_file(path.read_text()))
    assert_protocs(stored)


@pytest.mark.slow
@given(file=files())
def test_any_file_has_protocs_descriptor(file: ProtoFile) -> None:
    assert_protocs(print_file(file))


def test_a_name_that_means_nothing_stays_as_it_is_written() -> None:
    """What the registry once stored has a descriptor, if one that no pool takes."""
    proto = described('syntax = "proto3"; message A { Nobody b = 1; }')
    field = proto.message_type[0].field[0]
    assert (field.type_name, field.HasField("type")) == ("Nobody", False)


def test_an_import_that_is_not_there_is_left_out() -> None:
    proto = described('syntax = "proto3"; import "gone.proto"; message A { int32 b = 1; }')
    assert not proto.dependency


def test_an_import_that_is_there_twice_counts_once() -> None:
    text = 'import "parts/leaf.proto"; import public "parts/leaf.proto"; message A {}'
    proto = described(text)
    assert (list(proto.dependency), list(proto.public_dependency)) == (["parts/leaf.proto"], [])


def test_known_types_need_no_import() -> None:
    """Confluent's registry resolves them, so the descriptor has to depend on their files."""
    text = 'syntax = "proto3"; message A { google.protobuf.Timestamp at = 1; }'
    proto = described(text)
    assert list(proto.dependency) == ["google/protobuf/timestamp.proto"]
    assert filled_pool(link(parse_file(text), {})).FindMessageTypeByName("A").fields


def test_options_that_nobody_declares_stay_uninterpreted() -> None:
    """Numbers, words, texts and messages: none is lost."""
    proto = described(
        'syntax = "proto3"; option (gone).deep = -5; option (gone) = 7; option (gone) = 1.5;'
        'option (gone) = "text"; option (gone) = WORD; option (gone) = { a: 1 }; option odd = true;'
    )
    said = [
        (
            ".".join(part.name_part for part in option.name),
            option.negative_int_value,
            option.positive_int_value,
            option.double_value,
            option.string_value,
            option.identifier_value,
            option.aggregate_value,
        )
        for option in proto.options.uninterpreted_option
    ]
    assert said == [
        ("odd", 0, 0, 0.0, b"", "true", ""),
        ("gone.deep", -5, 0, 0.0, b"", "", ""),
        ("gone", 0, 7, 0.0, b"", "", ""),
        ("gone", 0, 0, 1.5, b"", "", ""),
        ("gone", 0, 0, 0.0, b"text", "", ""),
        ("gone", 0, 0, 0.0, b"", "WORD", ""),
        ("gone", 0, 0, 0.0, b"", "", "a: 1"),
    ]


def test_a_synthetic_oneof_avoids_names_that_are_taken() -> None:
    proto = described('syntax = "proto3"; message A { optional int32 a = 1; int32 _a = 2; }')
    assert [oneof.name for oneof in proto.message_type[0].oneof_decl] == ["X_a"]
