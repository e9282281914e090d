"""Metadata and rule sets: one spelling, merging, and what a rule set must be to be accepted.

After Confluent's ``Metadata``, ``RuleSet`` and ``Rule``. Rules are stored and answered, not run.
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from .errors import InvalidRuleSet
from .model import Metadata, Rule, RuleSet

VERSION_PROPERTY: Final = "confluent:version"
"""A metadata property that the registry keeps equal to the version, where it is there at all."""
RESERVED_PROPERTY: Final = "confluent:reserved"
"""A metadata property that lists field names which later versions must keep reserved."""
RULE_NAME_LENGTH_MAX: Final = 64
MIGRATION_MODES: Final = frozenset({"UPGRADE", "DOWNGRADE", "UPDOWN"})
DATA_MODES: Final = frozenset({"WRITE", "READ", "WRITEREAD"})
KINDS: Final = frozenset({"TRANSFORM", "CONDITION"})


def canonical_metadata(metadata: Metadata | None) -> Metadata | None:
    """*metadata* sorted, each tag once; what is empty is absent."""
    if metadata is None:
        return None
    tags = {path: tuple(sorted(set(tags))) for path, tags in sorted((metadata.tags or {}).items())}
    return Metadata(
        tags=tags or None,
        properties=dict(sorted((metadata.properties or {}).items())) or None,
        sensitive=tuple(sorted(set(metadata.sensitive or ()))) or None,
    )


def canonical_rule_set(rule_set: RuleSet | None) -> RuleSet | None:
    """*rule_set* with tags and parameters sorted and Confluent's defaults filled in."""
    if rule_set is None:
        return None
    return RuleSet(
        migration_rules=_canonical_rules(rule_set.migration_rules),
        domain_rules=_canonical_rules(rule_set.domain_rules),
        encoding_rules=_canonical_rules(rule_set.encoding_rules),
        enable_at=rule_set.enable_at,
    )


def check_rule_set(rule_set: RuleSet | None) -> None:
    """Raises InvalidRuleSet, with the rule and the reason, when it may not be stored."""
    if rule_set is None:
        return
    names: set[str] = set()
    kinds = (
        ("Migration", rule_set.migration_rules, MIGRATION_MODES, "UPGRADE, DOWNGRADE, UPDOWN"),
        ("Domain", rule_set.domain_rules, DATA_MODES, "WRITE, READ, WRITEREAD"),
        ("Encoding", rule_set.encoding_rules, DATA_MODES, "WRITE, READ, WRITEREAD"),
    )
    for kind, rules, modes, listed in kinds:
        for rule in rules or ():
            if rule.name in names:
                raise InvalidRuleSet(f"Found rule with duplicate name '{rule.name}'")
            names.add(_checked_name(rule.name))
            _check_rule(rule)
            if rule.mode not in modes:
                raise InvalidRuleSet(f"{kind} rules can only be {listed}")


def merged_metadata(older: Metadata | None, newer: Metadata | None) -> Metadata | None:
    """Both together; where they say different things, *newer*."""
    if older is None or newer is None:
        return older if newer is None else newer
    return canonical_metadata(
        Metadata(
            tags={**(older.tags or {}), **(newer.tags or {})},
            properties={**(older.properties or {}), **(newer.properties or {})},
            sensitive=(*(older.sensitive or ()), *(newer.sensitive or ())),
        )
    )


def merged_rule_set(older: RuleSet | None, newer: RuleSet | None) -> RuleSet | None:
    """Both together: rules of *newer* come last and take the place of those with their names."""
    if older is None or newer is None:
        return older if newer is None else newer
    return RuleSet(
        migration_rules=_merged_rules(older.migration_rules, newer.migration_rules),
        domain_rules=_merged_rules(older.domain_rules, newer.domain_rules),
        encoding_rules=_merged_rules(older.encoding_rules, newer.encoding_rules),
        enable_at=older.enable_at if newer.enable_at is None else newer.enable_at,
    )


def property_of(metadata: Metadata | None, name: str) -> str | None:
    """The value of one metadata property."""
    return None if metadata is None else (metadata.properties or {}).get(name)


def with_version(metadata: Metadata | None, version: int) -> Metadata | None:
    """*metadata* with the version property set."""
    return merged_metadata(metadata, Metadata(properties={VERSION_PROPERTY: str(version)}))


def without_version(metadata: Metadata | None) -> Metadata | None:
    """*metadata* without the version property; None when nothing else was in it."""
    if property_of(metadata, VERSION_PROPERTY) is None:
        return metadata
    assert metadata is not None
    properties = dict(metadata.properties or {})
    del properties[VERSION_PROPERTY]
    rest = replace(metadata, properties=properties or None)
    return None if rest == Metadata() else rest


def reserved_fields(metadata: Metadata | None) -> list[str]:
    """Field names that the metadata reserves, in order."""
    listed = property_of(metadata, RESERVED_PROPERTY)
    return [] if listed is None else [name.strip() for name in listed.split(",") if name.strip()]


def removed_rules(rule_set: RuleSet, names: frozenset[str]) -> RuleSet:
    """*rule_set* without the rules of these names."""

    def kept(rules: tuple[Rule, ...] | None) -> tuple[Rule, ...] | None:
        return tuple(rule for rule in rules if rule.name not in names) if rules else None

    return replace(
        rule_set,
        migration_rules=kept(rule_set.migration_rules),
        domain_rules=kept(rule_set.domain_rules),
        encoding_rules=kept(rule_set.encoding_rules),
    )


def _canonical_rules(rules: Sequence[Rule] | None) -> tuple[Rule, ...] | None:
    return tuple(_canonical_rule(rule) for rule in rules) if rules else None


def _canonical_rule(rule: Rule) -> Rule:
    return replace(
        rule,
        kind=(rule.kind or "TRANSFORM").upper(),
        mode=(rule.mode or "WRITEREAD").upper(),
        tags=tuple(sorted(set(rule.tags or ()))) or None,
        params=dict(sorted((rule.params or {}).items())) or None,
    )


def _merged_rules(
    older: tuple[Rule, ...] | None, newer: tuple[Rule, ...] | None
) -> tuple[Rule, ...] | None:
    if not older or not newer:
        return newer or older
    names = {rule.name for rule in newer}
    return (*(rule for rule in older if rule.name not in names), *newer)


def _checked_name(name: str | None) -> str:
    if name is None:
        raise InvalidRuleSet("Missing rule name")
    if name == "":
        raise InvalidRuleSet("Empty rule name")
    if len(name) > RULE_NAME_LENGTH_MAX:
        raise InvalidRuleSet("Rule name too long")
    if not (name[0].isalpha() or name[0] == "_"):
        raise InvalidRuleSet(f"Illegal initial character in rule name: {name}")
    if not all(char.isalnum() or char in "_-" for char in name):
        raise InvalidRuleSet(f"Illegal character in rule name: {name}")
    return name


def _check_rule(rule: Rule) -> None:
    if rule.type is None:
        raise InvalidRuleSet("Missing rule type")
    if rule.kind not in KINDS:
        raise InvalidRuleSet(f"Rule '{rule.name}' has kind {rule.kind}, not TRANSFORM or CONDITION")
    if rule.mode not in {"WRITEREAD", "UPDOWN"}:
        for action in (rule.on_success, rule.on_failure):
            if action is not None and "," in action:
                raise InvalidRuleSet("Multiple actions only valid with WRITEREAD and UPDOWN")
