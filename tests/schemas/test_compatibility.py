"""Levels: which versions are compared, in which direction, and what is printed."""

from collections.abc import Iterator

import pytest
from tests.schemas.fake_format import FakeFormat

from headwater.schemas.compatibility import OLD_SCHEMA_CHARS_MAX, Earlier, compare, trailer
from headwater.schemas.model import SchemaFormat
from headwater.schemas.settings import CompatibilityLevel, CompatibilityPolicy

L = CompatibilityLevel
FAKE = FakeFormat()


def messages(new: str, *earlier: str, level: CompatibilityLevel = L.BACKWARD) -> list[str]:
    """*earlier* newest first; their versions count down to 1."""
    versions = [
        Earlier(len(earlier) - place, FAKE.parse(text, {})) for place, text in enumerate(earlier)
    ]
    return list(compare(FAKE.parse(new, {}), versions, by=FAKE, level=level).messages)


def missing(field: str, reader: str, writer: str) -> str:
    return f"field '{field}' of the {reader} schema is not in the {writer} schema"


def test_backward_is_the_new_schema_reading_old_data() -> None:
    assert messages("a b", "a") == [
        missing("b", "new", "old"),
        "{oldSchemaVersion: 1}",
        "{oldSchema: 'a'}",
    ]
    assert messages("a", "a b") == []


def test_forward_is_the_old_schema_reading_new_data() -> None:
    assert messages("a", "a b", level=L.FORWARD) == [
        missing("b", "old", "new"),
        "{oldSchemaVersion: 1}",
        "{oldSchema: 'a b'}",
    ]
    assert messages("a b", "a", level=L.FORWARD) == []


def test_full_tells_what_old_readers_miss_first() -> None:
    """And the old schema only after what the new one misses, as Confluent has it."""
    assert messages("a c", "a b", level=L.FULL) == [
        missing("b", "old", "new"),
        missing("c", "new", "old"),
        "{oldSchemaVersion: 1}",
        "{oldSchema: 'a b'}",
    ]
    assert messages("a", "a b", level=L.FULL) == [missing("b", "old", "new")]
    assert messages("a b?", "a", level=L.FULL) == []


def test_none_takes_anything() -> None:
    assert messages("a", "b", "c", level=L.NONE) == []


@pytest.mark.parametrize("level", [level for level in L if level is not L.NONE])
def test_only_transitive_levels_look_further_back(level: CompatibilityLevel) -> None:
    """The version before the last one has nothing in common with the new one."""
    found = messages("a", "a", "z", level=level)
    assert bool(found) == level.name.endswith("TRANSITIVE")
    assert messages("a", "a", "a", level=level) == messages("a", level=level) == []


def test_the_first_version_that_does_not_fit_ends_the_search() -> None:
    found = messages("a b c", "a b", "a", level=L.BACKWARD_TRANSITIVE)
    assert found == [missing("c", "new", "old"), "{oldSchemaVersion: 2}", "{oldSchema: 'a b'}"]


def test_versions_are_parsed_only_as_far_as_needed() -> None:
    taken = []

    def earlier() -> Iterator[Earlier]:
        for version in (3, 2, 1):
            taken.append(version)
            yield Earlier(version, FAKE.parse("a", {}))

    new = FAKE.parse("a", {})
    compare(new, earlier(), by=FAKE, level=L.FULL)
    assert taken == [3]
    compare(new, earlier(), by=FAKE, level=L.NONE)
    assert taken == [3]


@pytest.mark.parametrize("level", [L.BACKWARD, L.FORWARD, L.FULL_TRANSITIVE])
def test_another_format_never_fits(level: CompatibilityLevel) -> None:
    json = Earlier(1, FakeFormat(SchemaFormat.JSON).parse("a", {}))
    verdict = compare(FAKE.parse("a", {}), [json], by=FAKE, level=level)
    assert verdict.messages == ("Incompatible because of different schema type",)
    assert [finding.incompatibility for finding in verdict.findings] == [None]
    assert compare(FAKE.parse("a", {}), [json], by=FAKE, level=L.NONE).is_compatible


def test_findings_say_who_misses_what_and_what_would_help() -> None:
    old = Earlier(4, FAKE.parse("a b", {}))
    verdict = compare(FAKE.parse("a c", {}), [old], by=FAKE, level=L.FULL)
    told = [
        (
            finding.version,
            finding.reader,
            finding.incompatibility.path,
            finding.incompatibility.hint,
        )
        for finding in verdict.findings
        if finding.incompatibility
    ]
    assert told == [(4, "old", "/1", "mark 'b' optional"), (4, "new", "/1", "mark 'c' optional")]
    assert not verdict.is_compatible


def test_the_lenient_policy_reaches_the_format() -> None:
    old = Earlier(1, FAKE.parse("a", {}))
    new = FAKE.parse("b", {})
    policy = CompatibilityPolicy
    assert compare(new, [old], by=FAKE, level=L.FULL, policy=policy.LENIENT).is_compatible
    assert not compare(new, [old], by=FAKE, level=L.FULL, policy=policy.STRICT).is_compatible


@pytest.mark.parametrize("length", [OLD_SCHEMA_CHARS_MAX, OLD_SCHEMA_CHARS_MAX + 1])
def test_long_old_schemas_are_cut(length: int) -> None:
    text = "a" * length
    shown = messages("b", text)[-1]
    if length > OLD_SCHEMA_CHARS_MAX:
        assert shown == f"{{oldSchema: <truncated> '{text[:-1]}...'}}"
    else:
        assert shown == f"{{oldSchema: '{text}'}}"


def test_the_trailer_names_the_settings() -> None:
    assert trailer(L.FULL_TRANSITIVE, validate_fields=False) == (
        "{validateFields: 'false', compatibility: 'FULL_TRANSITIVE'}"
    )
    assert "validateFields: 'true'" in trailer(L.NONE, validate_fields=True)
