"""Valid files and pairs of schemas, drawn at random.

Names are unique, so that what a name means is never in doubt: scopes have tests of their own.
"""

from dataclasses import replace

from hypothesis import strategies as st

from headwater.schemas.formats.protobuf.elements import (
    FIELD_NUMBER_MAX,
    Enum,
    EnumValue,
    Extensions,
    Field,
    Group,
    Label,
    Member,
    Message,
    NumberRange,
    Oneof,
    ProtoFile,
    Reserved,
    Scalar,
    ValueKind,
    simple_option,
)
from headwater.schemas.formats.protobuf.parser import MAP_KEY_TYPES, SCALAR_TYPES

scalars = st.sampled_from(sorted(SCALAR_TYPES))
map_keys = st.sampled_from(sorted(MAP_KEY_TYPES))
EDGES = [1, 2, 3, 15, 16, 2047, 2048, 18999, 20000, FIELD_NUMBER_MAX - 1, FIELD_NUMBER_MAX]
numbers = st.sampled_from(EDGES)
deprecated = simple_option("deprecated", Scalar(ValueKind.BOOLEAN, "true"))


@st.composite
def files(draw: st.DrawFn) -> ProtoFile:
    """One file with messages in messages, enums, oneofs, maps, groups, ranges and options."""
    is_proto3 = draw(st.booleans())
    package = draw(st.sampled_from(["", "p", "p.q"]))
    names = ["M0", "M0.M1", "M0.M1.M2", "M3"]
    enums = ["E0", "M0.E1"]
    prefix = f".{package}." if package else "."
    spelt = st.sampled_from([*names, *enums, *(prefix + name for name in [*names, *enums])])

    def message(name: str, *nested: Message | Enum) -> Message:
        return Message(name=name, body=(*draw(_bodies(spelt, is_proto3=is_proto3)), *nested))

    inner = message("M1", message("M2"))
    return ProtoFile(
        syntax="proto3" if is_proto3 else draw(st.sampled_from([None, "proto2"])),
        package=package,
        body=(message("M0", inner, draw(_enums("E1"))), message("M3"), draw(_enums("E0"))),
    )


@st.composite
def _bodies(
    draw: st.DrawFn, types: st.SearchStrategy[str], *, is_proto3: bool
) -> tuple[Member, ...]:
    taken = draw(st.lists(numbers, unique=True, max_size=6))
    body: list[Member] = []
    members: list[Field | Group] = []
    for number in taken:
        field = Field(type=draw(scalars | types), name=f"f_{number}", number=number)
        if draw(st.booleans()):
            field = replace(field, options=(deprecated,))
        if draw(st.integers(0, 9)) == 0:
            field = replace(field, json_name=f"json {number}")
        shape = draw(st.sampled_from(["plain", "plain", "oneof", "map", "group"]))
        if shape == "oneof":
            members.append(field)
        elif shape == "map":
            body.append(replace(field, map_key=draw(map_keys)))
        elif shape == "group" and not is_proto3:
            group = Group(label=Label.REPEATED, name=f"G{number}", number=number)
            body.append(replace(group, body=(replace(field, label=Label.OPTIONAL),)))
        else:
            labels = [None, Label.OPTIONAL, Label.REPEATED] if is_proto3 else list(Label)
            body.append(replace(field, label=draw(st.sampled_from(labels))))
    if members:
        body.append(Oneof(name="choice", body=tuple(members)))
    if draw(st.booleans()):
        body.append(Reserved(values=(5, NumberRange(7, 9))))
        body.append(Reserved(values=("gone", "also_gone")))
    if not is_proto3 and draw(st.booleans()):
        body.append(Extensions(ranges=(100, NumberRange(200, 300))))
    return tuple(body)


@st.composite
def _enums(draw: st.DrawFn, name: str) -> Enum:
    others = st.sampled_from([1, 2, -1, 2**31 - 1, -(2**31)])
    values = [0, *draw(st.lists(others, unique=True))]
    return Enum(
        name=name,
        body=tuple(EnumValue(name=f"{name}_{i}", number=n) for i, n in enumerate(values)),
    )
