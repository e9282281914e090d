"""Messages by number, as the wire format says them."""

import pytest
from hypothesis import given
from tests.schemas.formats.protobuf.files import files

from headwater.schemas.formats.protobuf import NoSuchMessage
from headwater.schemas.formats.protobuf.elements import ProtoFile
from headwater.schemas.formats.protobuf.indexes import message_indexes, message_name
from headwater.schemas.formats.protobuf.parser import parse_file
from headwater.schemas.formats.protobuf.scope import joined

TEXT = """
package p.q;
enum E { X = 0; }
message A { map<int32, int32> m = 1; optional group G = 2 { message H {} } message B {}
  message C { message D {} } }
message F {}
"""
PATHS = {
    "p.q.A": (0,),
    "p.q.A.B": (0, 0),
    "p.q.A.C": (0, 1),
    "p.q.A.C.D": (0, 1, 0),
    "p.q.F": (1,),
}


@pytest.mark.parametrize(("name", "indexes"), PATHS.items())
def test_there_and_back(name: str, indexes: tuple[int, ...]) -> None:
    """Enums, groups and entries of maps are not counted."""
    file = parse_file(TEXT)
    assert message_indexes(file, name) == indexes
    assert message_name(file, indexes) == name


@pytest.mark.parametrize(
    "name", ["A", "p.q", "p.q.", "p.q.E", "p.q.A.G", "p.q.A.MEntry", "p.A", ""]
)
def test_names_of_no_message(name: str) -> None:
    with pytest.raises(NoSuchMessage) as missing:
        message_indexes(parse_file(TEXT), name)
    assert missing.value.wanted == name


@pytest.mark.parametrize("indexes", [(), (2,), (-1,), (0, 2), (0, 0, 0), (1, 0)])
def test_indexes_of_no_message(indexes: tuple[int, ...]) -> None:
    with pytest.raises(NoSuchMessage) as missing:
        message_name(parse_file(TEXT), indexes)
    assert missing.value.wanted == indexes


def test_entries_that_the_text_spells_out_are_counted() -> None:
    """The text of a descriptor has them, and both sides of the wire read that text."""
    file = parse_file("message A { message BEntry { option map_entry = true; } message C {} }")
    assert message_indexes(file, "A.C") == (0, 1)


@pytest.mark.slow
@given(file=files())
def test_every_message_of_a_file(file: ProtoFile) -> None:
    for name in ("M0", "M0.M1", "M0.M1.M2", "M3"):
        full_name = joined(file.package, name)
        assert message_name(file, message_indexes(file, full_name)) == full_name
