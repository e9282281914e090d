"""A version again, with other metadata and rules."""

from typing import Any

import msgspec
import pytest
from tests.schemas.registry import Registry, refusal

from headwater.schemas import commands
from headwater.schemas.commands import AmendRequest
from headwater.schemas.errors import (
    InvalidRuleSet,
    InvalidSchemaRefused,
    InvalidVersion,
    OperationNotPermitted,
    SubjectNotFound,
    VersionNotFound,
)
from headwater.schemas.index import SchemaVersion
from headwater.schemas.model import Metadata, Rule, RuleSet


def rules(*names: str, **more: Any) -> RuleSet:
    return RuleSet(domain_rules=tuple(Rule(name=name, type="CEL", **more) for name in names))


@pytest.fixture
def registry() -> Registry:
    """Version 1 with metadata and two rules, version 2 with another text."""
    registry = Registry()
    metadata = Metadata(properties={"owner": "x"})
    registry.register("s", "a", metadata=metadata, rule_set=rules("p", "q"))
    registry.register("s", "a b?")
    return registry


def amend(registry: Registry, version: str, **request: Any) -> SchemaVersion:
    asked = AmendRequest(**request)
    return registry.do(commands.amend, registry.parser, "s", version, asked).version


def rule_names(version: SchemaVersion) -> list[str | None]:
    rule_set = version.definition.rule_set
    return [rule.name for rule in (rule_set.domain_rules if rule_set else None) or ()]


def test_the_text_is_that_of_the_version(registry: Registry) -> None:
    again = amend(registry, "1", metadata=Metadata(properties={"owner": "y"}))
    assert (again.version, again.definition.text) == (3, "a")
    assert again.definition.metadata == Metadata(
        properties={"owner": "y", "confluent:version": "3"}
    )
    assert rule_names(again) == ["p", "q"], "inherited"


def test_rules_are_replaced_merged_and_removed(registry: Registry) -> None:
    assert rule_names(amend(registry, "latest", rule_set=rules("z"))) == ["z"]
    merged = amend(registry, "latest", rules_to_merge=rules("y", "z", doc="new"))
    assert rule_names(merged) == ["y", "z"]
    less = amend(registry, "latest", rules_to_remove=("y", "unknown"), new_version=5)
    assert rule_names(less) == ["z"]
    both = amend(registry, "1", rules_to_merge=rules("p"), rules_to_remove=("z",))
    assert rule_names(both) == ["p"]
    with pytest.raises(InvalidRuleSet):
        amend(registry, "1", rules_to_merge=RuleSet(domain_rules=(Rule(name="1"),)))


def test_rules_may_be_merged_where_there_were_none() -> None:
    registry = Registry()
    registry.register("s", "a")
    assert rule_names(amend(registry, "1", rules_to_remove=("p",))) == []
    assert rule_names(amend(registry, "1", rules_to_merge=rules("p"))) == ["p"]


def test_the_new_version_must_be_the_next(registry: Registry) -> None:
    with refusal(InvalidSchemaRefused, "Version is not one more than previous version"):
        amend(registry, "1", new_version=9, rule_set=rules("z"))


def test_the_version_must_be_there(registry: Registry) -> None:
    with pytest.raises(InvalidVersion):
        amend(registry, "0")
    with refusal(VersionNotFound, "Version 3 not found."):
        amend(registry, "3")
    registry.delete("s", "1")
    with pytest.raises(VersionNotFound):
        amend(registry, "1")
    registry.delete("s")
    with refusal(SubjectNotFound, "Subject 's' not found."):
        amend(registry, "latest")


def test_tags_inside_the_text_are_not_edited(registry: Registry) -> None:
    """And the refusal says what to do."""
    body = b'{"newVersion":3,"tagsToAdd":[{"schemaEntity":{"entityPath":"a"},"tags":["PII"]}]}'
    request = msgspec.json.decode(body, type=AmendRequest)
    with pytest.raises(OperationNotPermitted, match="register its text with its confluent:tags"):
        commands.amend(registry.state, registry.parser, "s", "1", request)
