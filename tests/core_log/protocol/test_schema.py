"""Declarations: version ranges and the fields of a class."""

from typing import Annotated

import pytest

from headwater.core_log.protocol.schema import (
    NO_ID,
    VERSION_MAX,
    Versions,
    WireStruct,
    array,
    fields_of,
    int32,
    is_array,
    string,
    struct,
    uuid,
)


class Inner(WireStruct, kw_only=True):
    number: Annotated[int, int32("0+")] = 0


class Outer(WireStruct, kw_only=True):
    name: Annotated[str | None, string("1+", nullable="2+", ignorable=True)] = None
    identity: Annotated[bytes, uuid("0+", tag=3)] = NO_ID
    inner: Annotated[Inner | None, struct("0+", nullable="0+")] = None
    inners: Annotated[list[Inner] | None, array(struct, "0-4", nullable="0+")] = []  # noqa: RUF012 - msgspec copies it


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [("0", 0, 0), ("3", 3, 3), ("0-5", 0, 5), ("4+", 4, VERSION_MAX), ("none", 0, -1)],
)
def test_a_range_of_versions_reads_and_prints_as_kafka_writes_it(
    text: str, first: int, last: int
) -> None:
    """Text to range and back."""
    parsed = Versions.parse(text)
    assert (parsed.first, parsed.last) == (first, last)
    assert str(parsed) == text


def test_a_range_holds_both_its_ends() -> None:
    """``2-4`` is 2, 3 and 4; ``none`` is empty."""
    assert [version for version in range(7) if version in Versions.parse("2-4")] == [2, 3, 4]
    assert 0 not in Versions.parse("none")


@pytest.mark.parametrize("text", ["", "a", "1-", "+", "1-x"])
def test_other_text_is_no_range(text: str) -> None:
    """A slip in a declaration fails when the module is imported."""
    with pytest.raises(ValueError, match="invalid literal"):
        Versions.parse(text)


def test_fields_come_in_wire_order_with_what_a_compiler_needs() -> None:
    """Names, versions, tags, defaults and the classes of nested structs."""
    name, identity, inner, inners = fields_of(Outer)
    assert [bound.name for bound in (name, identity, inner, inners)] == [
        "name",
        "identity",
        "inner",
        "inners",
    ]
    assert (str(name.wire.versions), str(name.wire.nullable)) == ("1+", "2+")
    assert name.wire.ignorable
    assert (identity.wire.tag, identity.default()) == (3, NO_ID)
    assert (inner.struct_class, inners.struct_class) == (Inner, Inner)
    assert is_array(inners.wire)
    assert inners.wire.element is struct


def test_a_default_list_is_new_each_time() -> None:
    """Two messages never share a list."""
    first, second = Outer(), Outer()
    assert first.inners is not second.inners
    assert fields_of(Outer)[3].default() is not fields_of(Outer)[3].default()


class Bare(WireStruct, kw_only=True):
    number: int = 0


class Required(WireStruct, kw_only=True):
    number: Annotated[int, int32("0+")]


def test_a_field_without_a_wire_type_is_a_slip() -> None:
    """It would silently be left off the wire."""
    with pytest.raises(TypeError, match=r"Bare\.number declares no wire type"):
        fields_of(Bare)


def test_a_field_without_a_default_is_a_slip() -> None:
    """A version that lacks the field could not be read."""
    with pytest.raises(TypeError, match=r"Required\.number has no default"):
        fields_of(Required)
