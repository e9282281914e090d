"""Metadata and rule sets."""

from typing import Any

import pytest

from headwater.schemas.contracts import (
    canonical_metadata,
    canonical_rule_set,
    check_rule_set,
    merged_metadata,
    merged_rule_set,
    property_of,
    removed_rules,
    reserved_fields,
    with_version,
    without_version,
)
from headwater.schemas.errors import InvalidRuleSet
from headwater.schemas.model import Metadata, Rule, RuleSet


def rule(name: str | None = "r", **more: Any) -> Rule:
    return Rule(name=name, **{"type": "CEL", **more})


def names(rules: tuple[Rule, ...] | None) -> list[str | None]:
    return [one.name for one in rules or ()]


def test_canonical_metadata_are_sorted_and_nothing_in_them_is_empty() -> None:
    metadata = Metadata(
        tags={"b": ("2", "1", "2"), "a": ()}, properties={"z": "1", "y": "2"}, sensitive=()
    )
    canonical = canonical_metadata(metadata)
    assert canonical == Metadata(tags={"a": (), "b": ("1", "2")}, properties={"y": "2", "z": "1"})
    assert canonical is not None
    assert list(canonical.properties or ()) == ["y", "z"]
    assert canonical_metadata(canonical) == canonical
    assert canonical_metadata(Metadata(tags={}, properties={})) == Metadata()
    assert canonical_metadata(None) is None


def test_newer_metadata_win_where_both_speak() -> None:
    older = Metadata(tags={"p": ("A",)}, properties={"a": "1", "b": "1"}, sensitive=("a",))
    newer = Metadata(tags={"p": ("B",)}, properties={"b": "2"}, sensitive=("b",))
    assert merged_metadata(older, newer) == Metadata(
        tags={"p": ("B",)}, properties={"a": "1", "b": "2"}, sensitive=("a", "b")
    )
    assert merged_metadata(None, newer) is newer
    assert merged_metadata(older, None) is older


def test_newer_rules_take_the_place_of_those_with_their_names() -> None:
    older = RuleSet(domain_rules=(rule("a", doc="old"), rule("b")), enable_at="x")
    newer = RuleSet(domain_rules=(rule("a", doc="new"),), migration_rules=(rule("m"),))
    merged = merged_rule_set(older, newer)
    assert merged is not None
    assert names(merged.domain_rules) == ["b", "a"]
    assert names(merged.migration_rules) == ["m"]
    assert merged.domain_rules is not None
    assert merged.domain_rules[1].doc == "new"
    assert merged.enable_at == "x"
    assert merged_rule_set(None, newer) is newer
    assert merged_rule_set(older, None) is older


def test_rules_are_removed_by_name_from_every_list() -> None:
    rules = RuleSet(domain_rules=(rule("a"), rule("b")), encoding_rules=(rule("a"),))
    left = removed_rules(rules, frozenset({"a"}))
    assert (names(left.domain_rules), names(left.encoding_rules)) == (["b"], [])
    assert left.migration_rules is None


def test_the_version_property_comes_and_goes() -> None:
    assert with_version(None, 3) == Metadata(properties={"confluent:version": "3"})
    full = with_version(Metadata(properties={"a": "b"}), 3)
    assert property_of(full, "confluent:version") == "3"
    assert without_version(full) == Metadata(properties={"a": "b"})
    assert without_version(with_version(None, 1)) is None
    assert without_version(None) is None


def test_reserved_fields_are_listed_in_one_property() -> None:
    assert reserved_fields(Metadata(properties={"confluent:reserved": "a, b,,c"})) == [
        "a",
        "b",
        "c",
    ]
    assert reserved_fields(None) == []


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        (RuleSet(domain_rules=(rule(None),)), "Missing rule name"),
        (RuleSet(domain_rules=(rule(""),)), "Empty rule name"),
        (RuleSet(domain_rules=(rule("x" * 65),)), "Rule name too long"),
        (RuleSet(domain_rules=(rule("1x"),)), "Illegal initial character in rule name: 1x"),
        (RuleSet(domain_rules=(rule("a b"),)), "Illegal character in rule name: a b"),
        (RuleSet(domain_rules=(rule(type=None),)), "Missing rule type"),
        (RuleSet(domain_rules=(rule(), rule())), "Found rule with duplicate name 'r'"),
        (
            RuleSet(domain_rules=(rule(mode="UPGRADE"),)),
            "Domain rules can only be WRITE, READ, WRITEREAD",
        ),
        (
            RuleSet(encoding_rules=(rule(mode="UPDOWN"),)),
            "Encoding rules can only be WRITE, READ, WRITEREAD",
        ),
        (
            RuleSet(migration_rules=(rule(),)),
            "Migration rules can only be UPGRADE, DOWNGRADE, UPDOWN",
        ),
        (
            RuleSet(domain_rules=(rule(mode="WRITE", on_success="A,B"),)),
            "Multiple actions only valid with WRITEREAD and UPDOWN",
        ),
        (
            RuleSet(domain_rules=(rule(kind="WISH"),)),
            "Rule 'r' has kind WISH, not TRANSFORM or CONDITION",
        ),
    ],
)
def test_a_rule_set_says_what_is_wrong_with_it(rules: RuleSet, reason: str) -> None:
    with pytest.raises(InvalidRuleSet) as refused:
        check_rule_set(canonical_rule_set(rules))
    assert str(refused.value) == reason
    assert refused.value.code == 42210


def test_a_good_rule_set_passes_with_its_defaults() -> None:
    rules = canonical_rule_set(
        RuleSet(
            domain_rules=(rule("a-b_1", tags=("y", "x", "y"), on_failure="A,B"),),
            migration_rules=(rule("m", mode="updown"),),
        )
    )
    check_rule_set(rules)
    check_rule_set(None)
    assert rules is not None
    assert rules.domain_rules is not None
    assert rules.domain_rules[0] == rule(
        "a-b_1", kind="TRANSFORM", mode="WRITEREAD", tags=("x", "y"), on_failure="A,B"
    )
    assert canonical_rule_set(rules) == rules
