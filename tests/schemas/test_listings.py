"""What the registry tells: every list of the REST table, and its refusals."""

import pytest
from tests.schemas.registry import Registry, ref, refusal

from headwater.schemas import commands, listings
from headwater.schemas.errors import (
    ConfigNotFound,
    InvalidVersion,
    ModeNotFound,
    SchemaNotFound,
    SubjectNotFound,
    VersionNotFound,
)
from headwater.schemas.identity import guid_text
from headwater.schemas.index import SchemaVersion
from headwater.schemas.listings import ContextId, Shown, SubjectVersion
from headwater.schemas.model import Metadata, Rule, RuleSet
from headwater.schemas.settings import CompatibilityLevel, Mode


@pytest.fixture
def registry() -> Registry:
    """s has 1 (deleted) and 2, gone is deleted; s also exists in contexts .b and .c.

    Ids of the default context: 1 "a", 2 "a b?", 3 "g"; of .b: 1 "g"; of .c: 1 "x", 2 "g".
    """
    registry = Registry()
    registry.register("s", "a")
    registry.register("s", "a b?")
    registry.delete("s", "1")
    registry.register("gone", "g")
    registry.delete("gone")
    registry.register(":.b:s", "g")
    registry.register(":.c:other", "x")
    registry.register(":.c:s", "g")
    return registry


def place(version: SchemaVersion) -> tuple[str, int]:
    return version.subject, version.version


@pytest.mark.parametrize(
    ("deleted", "deleted_only", "shown"),
    [
        (False, False, Shown.LIVE),
        (True, False, Shown.ALL),
        (False, True, Shown.DELETED),
        (True, True, Shown.DELETED),
    ],
)
def test_two_flags_say_what_is_shown(*, deleted: bool, deleted_only: bool, shown: Shown) -> None:
    assert Shown.of(deleted=deleted, deleted_only=deleted_only) is shown


def test_pages() -> None:
    items = ["a", "b", "c"]
    assert listings.page(items) == listings.page(items, limit=0) == items
    assert listings.page(items, offset=1, limit=1) == ["b"]
    assert listings.page(items, offset=5) == []
    assert listings.page(items, offset=-1, limit=9) == items


@pytest.mark.parametrize(
    ("prefix", "names"),
    [
        (":*:", [":.b:s", ":.c:other", ":.c:s", "s"]),
        (":*:s", [":.b:s", ":.c:s", "s"]),
        ("s", ["s"]),
        ("", [":.b:s", ":.c:other", ":.c:s", "s"]),
        (":.:", ["s"]),
        (":.:s", ["s"]),
        (":.c:", [":.c:other", ":.c:s"]),
        (":.c:o", [":.c:other"]),
        ("z", []),
    ],
)
def test_subjects_are_listed_by_prefix(registry: Registry, prefix: str, names: list[str]) -> None:
    assert listings.list_subjects(registry.state, prefix) == names


def test_a_subject_is_deleted_when_all_of_it_is(registry: Registry) -> None:
    listed = listings.list_subjects
    assert listed(registry.state, ":.:", shown=Shown.ALL) == ["gone", "s"]
    assert listed(registry.state, shown=Shown.DELETED) == ["gone"]


def test_versions_are_listed(registry: Registry) -> None:
    listed = listings.list_versions
    assert listed(registry.state, "s") == [2]
    assert listed(registry.state, ":.:s", shown=Shown.ALL) == [1, 2]
    assert listed(registry.state, "s", shown=Shown.DELETED) == [1]
    assert listed(registry.state, "s", shown=Shown.ALL, deleted_as_negative=True) == [-1, 2]
    assert listed(registry.state, "gone", shown=Shown.DELETED) == [1]
    for subject in ("gone", "never"):
        with refusal(SubjectNotFound, f"Subject '{subject}' not found."):
            listed(registry.state, subject)


def test_a_version_is_got(registry: Registry) -> None:
    got = listings.get_version
    assert got(registry.state, "s", "latest").version == got(registry.state, "s", "2").version == 2
    with refusal(VersionNotFound, "Version 9 not found."):
        got(registry.state, "s", "9")
    with refusal(SubjectNotFound, "Subject 'gone' not found."):
        got(registry.state, "gone", "1")
    assert got(registry.state, "gone", "1", deleted=True).version == 1
    with refusal(VersionNotFound, "Version -1 not found."):
        got(registry.state, "gone", "latest", deleted=True)
    with pytest.raises(InvalidVersion):
        got(registry.state, "never", "0")


def test_a_bare_subject_is_looked_for_in_other_contexts(registry: Registry) -> None:
    got = listings.get_version
    assert place(got(registry.state, "s", "1")) == (":.b:s", 1)
    assert place(got(registry.state, "s", "1", deleted=True)) == ("s", 1)
    assert place(got(registry.state, "other", "latest")) == (":.c:other", 1)
    with pytest.raises(SubjectNotFound):
        got(registry.state, ":.b:other", "latest")


def test_references_are_told_by_id(registry: Registry) -> None:
    registry.register("t", "z @s", references=(ref("s", "s", 2),))
    registry.register("u", "y @s", references=(ref("s", "s", 2),))
    registry.register("v", "z @s", references=(ref("s", "s", 2),))
    assert listings.list_referencing(registry.state, "s", "latest") == [4, 5]
    assert listings.list_referencing(registry.state, "s", "1") == []
    registry.delete("u")
    assert listings.list_referencing(registry.state, "s", "2") == [4]
    with pytest.raises(VersionNotFound):
        listings.list_referencing(registry.state, "s", "7")


def test_the_latest_version_with_metadata(registry: Registry) -> None:
    found = listings.latest_with_metadata
    for text, zone in (("a c?", "eu"), ("a d?", "us"), ("a e?", "eu")):
        metadata = Metadata(properties={"zone": zone, "owner": "x"})
        registry.register("s", text, metadata=metadata)
    assert found(registry.state, "s", {"zone": "eu", "owner": "x"}).version == 5
    assert found(registry.state, "s", {}).version == 5
    registry.delete("s", "5")
    assert found(registry.state, "s", {"zone": "eu"}).version == 3
    assert found(registry.state, "s", {"zone": "eu"}, deleted=True).version == 5
    with refusal(SchemaNotFound, "Schema not found"):
        found(registry.state, "s", {"zone": "asia"})
    with pytest.raises(SubjectNotFound):
        found(registry.state, "never", {})


@pytest.mark.parametrize(
    ("schema_id", "subject", "found"),
    [
        (1, None, ("s", 1)),
        (1, "", ("s", 1)),
        (3, None, ("gone", 1)),
        (1, "s", ("s", 1)),
        (1, "other", (":.c:other", 1)),
        (2, "s", ("s", 2)),
        (1, "never", ("s", 1)),
        (1, ":.c:", (":.c:other", 1)),
        (2, ":.c:s", (":.c:s", 1)),
    ],
)
def test_where_an_id_is_looked_for(
    registry: Registry, schema_id: int, subject: str | None, found: tuple[str, int]
) -> None:
    """A bare subject's own schema first, in any context; then anybody's in the default one."""
    assert place(listings.get_by_id(registry.state, schema_id, subject)) == found


@pytest.mark.parametrize(
    ("schema_id", "subject"), [(9, None), (9, "s"), (1, ":.c:s"), (2, ":.b:"), (1, ":.d:")]
)
def test_ids_that_are_not_there(registry: Registry, schema_id: int, subject: str | None) -> None:
    with refusal(SchemaNotFound, f"Schema {schema_id} not found"):
        listings.get_by_id(registry.state, schema_id, subject)


def test_the_newest_version_with_an_id_stands_for_it() -> None:
    """And a live one before a deleted one, where no subject is asked for."""
    registry = Registry()
    registry.do(commands.set_mode, None, "IMPORT")
    registry.register("a", "x", id=1)
    registry.delete("a")
    assert listings.get_by_id(registry.state, 1).deleted
    for version in (1, 2):
        registry.register("s", "x", id=1, version=version)
    assert place(listings.get_by_id(registry.state, 1, "s")) == ("s", 2)
    assert listings.get_by_id(registry.state, 1).subject == "s"


def test_uses_of_an_id(registry: Registry) -> None:
    registry.register("t", "a")
    uses = listings.list_uses
    assert uses(registry.state, 1) == [SubjectVersion("t", 1)]
    assert uses(registry.state, 1, "s", deleted=True) == [
        SubjectVersion("s", 1),
        SubjectVersion("t", 1),
    ]
    assert uses(registry.state, 1, ":.c:") == [SubjectVersion(":.c:other", 1)]
    assert uses(registry.state, 3) == []
    with pytest.raises(SchemaNotFound):
        uses(registry.state, 9)


def test_a_guid_is_found_in_any_context(registry: Registry) -> None:
    guid = guid_text(listings.get_by_id(registry.state, 3).guid)
    assert place(listings.get_by_guid(registry.state, guid)) == ("gone", 1)
    assert listings.list_ids_of_guid(registry.state, guid) == [
        ContextId(".", 3),
        ContextId(".b", 1),
        ContextId(".c", 2),
    ]
    other = "00000000-0000-0000-0000-000000000000"
    for text in (other, "junk"):
        with refusal(SchemaNotFound, f"Schema {text} not found"):
            listings.get_by_guid(registry.state, text)
        with pytest.raises(SchemaNotFound):
            listings.list_ids_of_guid(registry.state, text)


def test_schemas_are_listed(registry: Registry) -> None:
    def listed(*args: str, **kwargs: object) -> list[tuple[str, int]]:
        found = listings.list_schemas(
            registry.state,
            *args,
            **kwargs,  # type: ignore[arg-type]  # whatever the function takes
        )
        return [place(one.version) for one in found]

    assert listed() == [(":.b:s", 1), (":.c:other", 1), (":.c:s", 1), ("s", 2)]
    assert listed(":.:", shown=Shown.ALL) == [("gone", 1), ("s", 1), ("s", 2)]
    assert listed("s", shown=Shown.ALL, latest_only=True) == [("s", 2)]
    assert listed(shown=Shown.DELETED) == [("gone", 1), ("s", 1)]


def test_schemas_are_listed_by_their_rules(registry: Registry) -> None:
    rules = RuleSet(encoding_rules=(Rule(name="r", type="ENCRYPT"),))
    registry.register("s", "a c?", rule_set=rules)
    found = listings.list_schemas(registry.state, rule_type="ENCRYPT")
    assert [place(one.version) for one in found] == [("s", 3)]
    assert listings.list_schemas(registry.state, rule_type="CEL") == []


def test_schemas_are_listed_with_their_aliases(registry: Registry) -> None:
    registry.configure("nick", alias="s")
    registry.configure(":.c:nick", alias="other")
    registry.configure("t", compatibility="NONE")
    found = listings.list_schemas(registry.state, "n", aliases=True)
    assert [(place(one.version), one.aliases) for one in found] == [(("s", 2), ["nick"])]
    everywhere = listings.list_schemas(registry.state, ":*:n", aliases=True)
    assert [(one.version.subject, one.aliases) for one in everywhere] == [
        (":.c:other", [":.c:nick"]),
        ("s", ["nick"]),
    ]
    assert [one.aliases for one in listings.list_schemas(registry.state, "s")] == [()]


def test_an_alias_stands_for_its_subject(registry: Registry) -> None:
    registry.configure("nick", alias="s")
    registry.configure(":.c:nick", alias="other")
    assert listings.unaliased(registry.state, ":.:nick") == "s"
    assert listings.unaliased(registry.state, ":.c:nick") == ":.c:other"
    assert listings.unaliased(registry.state, "s") == "s"


def test_contexts_are_listed_by_prefix(registry: Registry) -> None:
    assert listings.list_contexts(registry.state) == [".", ".b", ".c"]
    assert listings.list_contexts(registry.state, ".b") == [".b"]


def test_configs_are_got(registry: Registry) -> None:
    got = listings.get_config
    assert got(registry.state, None).compatibility_level is CompatibilityLevel.BACKWARD
    with refusal(
        ConfigNotFound, "Subject 's' does not have subject-level compatibility configured"
    ):
        got(registry.state, "s")
    registry.configure(None, compatibility="FULL")
    registry.configure("s", normalize=True)
    assert got(registry.state, "t", default_to_global=True).compatibility_level == "FULL"
    assert got(registry.state, ":.:").compatibility_level == "FULL"
    assert got(registry.state, "s").compatibility_level == "BACKWARD", "always told"


def test_modes_are_got(registry: Registry) -> None:
    got = listings.get_mode
    assert got(registry.state, None) is got(registry.state, ":.:") is Mode.READWRITE
    with refusal(ModeNotFound, "Subject 's' does not have subject-level mode configured"):
        got(registry.state, "s")
    registry.do(commands.set_mode, None, "READONLY")
    assert got(registry.state, "s", default_to_global=True) is Mode.READONLY
    registry.do(commands.set_mode, None, "READONLY_OVERRIDE")
    assert got(registry.state, "s") is Mode.READONLY_OVERRIDE
