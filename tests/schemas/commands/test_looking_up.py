"""Lookups: is this schema registered?"""

from typing import Any

import pytest
from tests.schemas.registry import JSON, Registry, ref, refusal

from headwater.schemas import commands
from headwater.schemas.commands import LookupRequest
from headwater.schemas.errors import InvalidSchemaRefused, SchemaNotFound, SubjectNotFound
from headwater.schemas.index import SchemaVersion
from headwater.schemas.model import Metadata
from headwater.schemas.records import SchemaRecord


def look_up(
    registry: Registry, subject: str, text: str, *, deleted: bool = False, **request: Any
) -> SchemaVersion:
    asked = LookupRequest(text=text, **request)
    return commands.look_up(registry.state, registry.parser, subject, asked, deleted=deleted)


@pytest.fixture
def registry() -> Registry:
    """Subject s with versions 1 and 2."""
    registry = Registry()
    registry.register("s", "a")
    registry.register("s", "a b?")
    return registry


def test_a_schema_is_found_with_its_version(registry: Registry) -> None:
    found = look_up(registry, "s", "  a ")
    assert (found.version, found.id, found.definition.text) == (1, 1, "a")
    assert look_up(registry, ":.:s", "a b?").version == 2


def test_what_is_not_there_is_told_apart(registry: Registry) -> None:
    with refusal(SubjectNotFound, "Subject 't' not found."):
        look_up(registry, "t", "a")
    with refusal(SchemaNotFound, "Schema not found"):
        look_up(registry, "s", "z")
    with refusal(SchemaNotFound, "Schema not found"):
        look_up(registry, "s", "a", format=JSON)
    with refusal(SchemaNotFound, "Schema not found"):
        look_up(registry, "s", "")
    with pytest.raises(InvalidSchemaRefused):
        look_up(registry, "s", "bad!")
    with pytest.raises(InvalidSchemaRefused):
        look_up(registry, "t", "bad!")


def test_soft_deleted_schemas_are_found_on_demand(registry: Registry) -> None:
    registry.delete("s", "1")
    with pytest.raises(SchemaNotFound):
        look_up(registry, "s", "a")
    assert look_up(registry, "s", "a", deleted=True).version == 1
    registry.delete("s")
    with pytest.raises(SubjectNotFound):
        look_up(registry, "s", "a")
    with pytest.raises(SchemaNotFound):
        look_up(registry, "s", "z", deleted=True)


def test_a_live_version_is_found_before_a_deleted_one() -> None:
    registry = Registry()
    registry.do(commands.set_mode, None, "IMPORT")
    for version in (1, 2, 3):
        registry.register("s", "a", id=version, version=version)
    registry.delete("s", "3")
    assert look_up(registry, "s", "a", deleted=True).version == 2


def test_a_schema_that_was_valid_once_may_be_looked_up(registry: Registry) -> None:
    """``old!`` is bad in new schemas only."""
    with pytest.raises(SchemaNotFound):
        look_up(registry, "s", "old!")


def test_lookups_normalize_where_asked(registry: Registry) -> None:
    assert look_up(registry, "s", "a b?", normalize=True).version == 2
    with pytest.raises(SchemaNotFound):
        look_up(registry, "s", "b? a")
    registry.configure("s", normalize=True)
    assert look_up(registry, "s", "b? a").version == 2


def test_metadata_are_inherited_as_in_a_registration(registry: Registry) -> None:
    registry.register("s", "a", metadata=Metadata(properties={"owner": "x"}))
    registry.register("s", "a c?")
    assert look_up(registry, "s", "a c?").version == 4
    assert look_up(registry, "s", "a").version == 1, "the very content comes first"
    asked = Metadata(properties={"owner": "x"})
    assert look_up(registry, "s", "a", metadata=asked).version == 3


def test_the_version_property_need_not_be_told() -> None:
    registry = Registry()
    registry.register("s", "a", version=1)
    assert look_up(registry, "s", "a").version == 1
    told = Metadata(properties={"confluent:version": "2"})
    with pytest.raises(SchemaNotFound):
        look_up(registry, "s", "a", metadata=told)


def test_an_inlined_schema_is_found() -> None:
    registry = Registry()
    registry.register("r", "x")
    registry.register("s", "a @r", references=(ref("r", "r"),))
    assert look_up(registry, "s", "a x").version == 1
    assert look_up(registry, "s", "a @r", references=(ref("r", "r"),)).version == 1
    with pytest.raises(SchemaNotFound):
        look_up(registry, "s", "a y")


def test_a_version_that_no_longer_parses_is_not_found_by_its_meaning() -> None:
    """An import may bring a schema before what it references is gone for good."""
    registry = Registry()
    registry.register("r", "x")
    registry.register("s", "a @r", references=(ref("r", "r"),))
    registry.state.replay(SchemaRecord("r", 1, None))
    with pytest.raises(SchemaNotFound):
        look_up(registry, "s", "a x")


def test_a_bare_subject_is_looked_for_in_other_contexts(registry: Registry) -> None:
    """Where it has references that the default context does not know, those are not an error."""
    registry.register(":.c:t", "q")
    registry.register(":.b:t", "p")
    assert look_up(registry, "t", "q").subject == ":.c:t"
    with pytest.raises(SubjectNotFound):
        look_up(registry, ":.b:u", "q")
    registry.register("r", "x")
    registry.register("t", "a @r", references=(ref("r", "r"),))
    with pytest.raises(SchemaNotFound):
        look_up(registry, "t", "z @r", references=(ref("r", "r"),))
