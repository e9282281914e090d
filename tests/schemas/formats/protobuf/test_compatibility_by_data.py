"""Compatible means that it reads: bytes written with one schema, parsed with the other."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from google.protobuf import message_factory
from google.protobuf.descriptor import FieldDescriptor
from hypothesis import assume, event, given
from hypothesis import strategies as st
from tests.schemas.formats.protobuf.files import map_keys, scalars

from headwater.schemas.formats.protobuf import PROTOBUF, ProtobufSchema
from headwater.schemas.formats.protobuf.compatibility import incompatibilities
from headwater.schemas.formats.protobuf.elements import (
    Enum,
    EnumValue,
    Field,
    Group,
    Label,
    Message,
    Oneof,
    ProtoFile,
)
from headwater.schemas.formats.protobuf.link import link
from headwater.schemas.formats.protobuf.printer import print_file

# Zero and one are values of every type of the group, of closed enums too; the groups promise no
# more: a large int64 is cut when an int32 reads it.
SMALL = st.sampled_from([0, 1])
COLOR = Enum(name="Color", body=(EnumValue(name="RED", number=0), EnumValue(name="ONE", number=1)))
NUMBERS = [1, 2, 3, 4, 5]
TYPES = scalars | st.sampled_from(["Color", "Part", "Part"])
ONEOFS = st.sampled_from([None, None, "o", "p"])


@dataclass(frozen=True)
class Member:
    field: Field | Group
    oneof: str | None


Members = Mapping[int, Member]
Draw = Callable[[st.SearchStrategy[Any]], Any]


@st.composite
def members(draw: st.DrawFn, number: int, *, is_proto3: bool, is_part: bool) -> Member:
    type_name = draw(scalars) if is_part else draw(TYPES)
    field = Field(type=type_name, name=f"f{number}", number=number)
    shape = draw(st.sampled_from(["plain"] * 4 + ["map", "group", "oneof"]))
    if shape == "map":
        return Member(replace(field, map_key=draw(map_keys)), None)
    if shape == "oneof":
        return Member(field, draw(st.sampled_from(["o", "p"])))
    labels = [None, Label.OPTIONAL, Label.REPEATED] if is_proto3 else list(Label)
    label = draw(st.sampled_from(labels))
    if shape == "group" and not is_proto3:
        inner = Field(label=Label.OPTIONAL, type=draw(scalars), name="inner", number=1)
        return Member(Group(label=label, name=f"G{number}", number=number, body=(inner,)), None)
    return Member(replace(field, label=label), None)


@st.composite
def changed(draw: st.DrawFn, before: Members, *, is_proto3: bool, is_part: bool) -> Members:
    """*before* with a few changes, each of one kind."""
    after = dict(before)
    for number in draw(st.lists(st.sampled_from(NUMBERS), max_size=2, unique=True)):
        member = after.get(number)
        other = draw(members(number, is_proto3=is_proto3, is_part=is_part))
        change = draw(st.sampled_from(["drop", "replace", "type", "label", "move", "rename"]))
        if member is None or change == "replace":
            after[number] = other
        elif change == "drop":
            del after[number]
        elif change == "rename":
            after[number] = replace(member, field=replace(member.field, name=f"New{number}"))
        elif isinstance(member.field, Field) and isinstance(other.field, Field):
            if change == "type":
                after[number] = replace(member, field=replace(member.field, type=other.field.type))
            elif member.field.map_key is None and other.field.map_key is None:
                after[number] = relabelled(member, other, draw(ONEOFS), change, is_proto3=is_proto3)
    return after


def relabelled(
    member: Member, other: Member, oneof: str | None, change: str, *, is_proto3: bool
) -> Member:
    if change == "move" and oneof is not None:
        return Member(replace(member.field, label=None), oneof)
    label = other.field.label
    if label is None and not is_proto3:
        label = Label.OPTIONAL
    return Member(replace(member.field, label=label), None)


def message(name: str, fields: Members, *nested: Message | Enum) -> Message:
    oneofs = sorted({member.oneof for member in fields.values() if member.oneof is not None})
    return Message(
        name=name,
        body=(
            *(member.field for member in fields.values() if member.oneof is None),
            *(
                Oneof(name=oneof, body=tuple(m.field for m in fields.values() if m.oneof == oneof))
                for oneof in oneofs
            ),
            *nested,
        ),
    )


def file(main: Members, part: Members, *, is_proto3: bool) -> ProtoFile:
    return ProtoFile(
        syntax="proto3" if is_proto3 else "proto2",
        body=(message("Whole", main), message("Part", part), COLOR),
    )


@st.composite
def pairs(draw: st.DrawFn) -> tuple[ProtobufSchema, ProtobufSchema]:
    """Writer and reader; the reader is the writer with a few changes, in both its messages."""
    is_proto3 = draw(st.booleans())
    whole, part = (
        {
            number: draw(members(number, is_proto3=is_proto3, is_part=is_part))
            for number in draw(st.lists(st.sampled_from(NUMBERS), unique=True))
        }
        for is_part in (False, True)
    )
    new_whole = draw(changed(whole, is_proto3=is_proto3, is_part=False))
    new_part = draw(changed(part, is_proto3=is_proto3, is_part=True))
    writer = ProtobufSchema(link(file(whole, part, is_proto3=is_proto3), {}))
    reader = ProtobufSchema(link(file(new_whole, new_part, is_proto3=is_proto3), {}))
    return writer, reader


def instance(schema: ProtobufSchema) -> Any:
    return message_factory.GetMessageClass(schema.pool.FindMessageTypeByName("Whole"))()


def fill(draw: Draw, target: Any) -> None:
    """Set fields of *target* at random, those that are required always."""
    for field in target.DESCRIPTOR.fields:
        if field.is_required or draw(st.booleans()):
            fill_field(draw, target, field)


def fill_field(draw: Draw, target: Any, field: FieldDescriptor) -> None:
    entry = field.message_type
    if entry is not None and entry.GetOptions().map_entry:
        key = scalar(draw, entry.fields_by_name["key"])
        value_field = entry.fields_by_name["value"]
        if value_field.message_type is not None:
            fill(draw, getattr(target, field.name)[key])
        else:
            getattr(target, field.name)[key] = scalar(draw, value_field)
    elif field.is_repeated:
        # Messages that a reader without a list would merge: one of them is enough.
        for _ in range(1 if entry is not None else draw(st.integers(1, 2))):
            if entry is not None:
                fill(draw, getattr(target, field.name).add())
            else:
                getattr(target, field.name).append(scalar(draw, field))
    elif entry is not None:
        getattr(target, field.name).SetInParent()
        fill(draw, getattr(target, field.name))
    else:
        setattr(target, field.name, scalar(draw, field))


def scalar(draw: Draw, field: FieldDescriptor) -> Any:
    if field.type == field.TYPE_STRING:
        return draw(st.sampled_from(["", "a", "é"]))
    if field.type == field.TYPE_BYTES:
        return draw(st.sampled_from([b"", b"a", "é".encode()]))
    if field.type in (field.TYPE_FLOAT, field.TYPE_DOUBLE):
        return draw(st.sampled_from([0.0, 0.5]))
    return draw(SMALL)


def same(written: Any, read: Any) -> bool:
    """Whether all fields that both schemas have say the same."""
    theirs = {field.number: field for field in written.DESCRIPTOR.fields}
    return all(
        same_field(written, theirs[field.number], read, field)
        for field in read.DESCRIPTOR.fields
        if field.number in theirs
    )


def same_field(written: Any, theirs: FieldDescriptor, read: Any, ours: FieldDescriptor) -> bool:
    before, after = values(written, theirs), values(read, ours)
    if not ours.is_repeated:
        before = before[-1:]  # the last one counts
        if not ours.has_presence and before and is_default(before[0]):
            before = []  # which this reader cannot tell from nothing
    return len(before) == len(after) and all(map(same_value, before, after))


def values(source: Any, field: FieldDescriptor) -> list[Any]:
    """What is set: of a single field without presence that is what is not the default."""
    value = getattr(source, field.name)
    entry = field.message_type
    if entry is not None and entry.GetOptions().map_entry:
        return sorted(((plain(key), plain(value[key])) for key in value), key=lambda item: item[0])
    if field.is_repeated:
        return [plain(one) for one in value]
    if field.has_presence:
        return [plain(value)] if source.HasField(field.name) else []
    return [plain(value)] if value else []


def plain(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


def same_value(before: Any, after: Any) -> bool:
    if isinstance(before, tuple):
        return before[0] == after[0] and same_value(before[1], after[1])
    if hasattr(before, "DESCRIPTOR"):
        return same(before, after)
    return bool(before == after)


def is_default(value: Any) -> bool:
    return not hasattr(value, "DESCRIPTOR") and not isinstance(value, tuple) and not value


@pytest.mark.slow
@given(pair=pairs(), data=st.data())
def test_a_compatible_reader_reads_what_was_written(
    pair: tuple[ProtobufSchema, ProtobufSchema], data: st.DataObject
) -> None:
    """Every field that both have says the same, and what is required is there."""
    writer, reader = pair
    reasons = incompatibilities(reader.scope, writer.scope)
    event("compatible" if not reasons else reasons[0].kind)
    assume(not reasons)
    written = instance(writer)
    fill(data.draw, written)
    read = instance(reader)
    read.ParseFromString(written.SerializePartialToString())
    assert read.IsInitialized() >= written.IsInitialized()
    assert same(written, read), f"{print_file(writer.file)}\n{print_file(reader.file)}\n{written}"


@pytest.mark.slow
@given(pair=pairs())
def test_a_schema_reads_itself_and_its_other_forms(
    pair: tuple[ProtobufSchema, ProtobufSchema],
) -> None:
    """Its stored text, its normal form and its descriptor are compatible with it, both ways."""
    schema, _ = pair
    others = [
        PROTOBUF.parse(schema.canonical, {}),
        schema.normalized(),
        PROTOBUF.parse(schema.rendered("serialized"), {}),
    ]
    for other in others:
        assert PROTOBUF.incompatibilities(reader=schema, writer=other) == []
        assert PROTOBUF.incompatibilities(reader=other, writer=schema) == []
