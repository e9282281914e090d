"""A file is read as text with places; nothing in it is guessed, built or expanded."""

import pytest

from headwater.service.places import SettingsInvalid
from headwater.service.yaml_file import DEPTH_MAX, FILE_BYTES_MAX, VALUES_MAX, read

DOCUMENT = """\
# a comment
node_id: 010
on: no
empty:
quoted: ""
listeners:
  - PLAINTEXT://127.0.0.1:9092
  - "1:30"
configs: {a: 1, b: ~}
"""


def test_scalars_stay_as_written() -> None:
    """YAML would make 8, False, 90 and None of some of these."""
    assert read(DOCUMENT, name="f").raw() == {
        "node_id": "010",
        "on": "no",
        "empty": None,
        "quoted": "",
        "listeners": ["PLAINTEXT://127.0.0.1:9092", "1:30"],
        "configs": {"a": "1", "b": None},
    }


def test_every_value_knows_its_place() -> None:
    """Lines and columns count from 1, as editors do; a path too long stops where it can."""
    root = read(DOCUMENT, name="f.yaml")
    assert str(root.at(["node_id"]).place) == "f.yaml:2:10"
    assert str(root.at(["listeners", 1]).place) == "f.yaml:8:5"
    assert str(root.at(["configs", "b"]).place) == "f.yaml:9:20"
    assert str(root.at(["listeners", 7, "x"]).place) == "f.yaml:7:3"


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n"])
def test_an_empty_document_sets_nothing(text: str) -> None:
    """No document, only comments, or an empty one."""
    assert read(text, name="f").raw() in ({}, None)


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("a: 1\na: 2\n", "f:2:1", "'a' stands twice; the first is on line 1"),
        ("a: [1, 2\nb: 3\n", "f:2:2", "not YAML"),
        ("a: {b: ${env:X}}\n", "f:1:9", 'write a reference in quotes: "${env:NAME}"'),
        ("a: &x 1\nb: *x\n", "f:1:4", "aliases are not taken"),
        ("a: &x [*x]\n", "f:1:4", "aliases are not taken"),
        ("a: !!python/object/apply:os.system [id]\n", "f:1:4", "the tag"),
        ("a: !secret x\n", "f:1:4", "the tag !secret is not taken"),
        ("? [a]\n: b\n", "f:1:3", "a key is plain text"),
        ("a: \x00\n", "f", "special characters"),
        ("a: 1\n---\nb: 2\n", "f:2:1", "single document"),
        ("[" * 600, "f", "nested deeper"),
    ],
)
def test_what_is_refused(text: str, place: str, reason: str) -> None:
    """With the place, and without doing anything that the file asks for."""
    with pytest.raises(SettingsInvalid) as caught:
        read(text, name="f")
    [problem] = caught.value.problems
    assert reason in problem.reason
    assert str(problem.place) == place


def test_depth_size_and_number_are_bounded() -> None:
    """The bound itself is allowed, one more is not."""
    read("[" * DEPTH_MAX + "]" * DEPTH_MAX, name="f")
    for text in (
        "[" * (DEPTH_MAX + 1) + "]" * (DEPTH_MAX + 1),
        " " * (FILE_BYTES_MAX + 1),
    ):
        with pytest.raises(SettingsInvalid):
            read(text, name="f")


def test_the_number_of_values_is_bounded() -> None:
    """A file of ten thousand values is no settings file."""
    with pytest.raises(SettingsInvalid, match="more than"):
        read("[" + "1," * VALUES_MAX + "]", name="f")
