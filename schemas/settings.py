"""Settings of the registry, a context or a subject: config and mode.

An absent setting is inherited, so every field may be None. ``ConfigChange`` is a request's body:
what it leaves out stays as it is, and null takes a setting away.
"""

from enum import StrEnum
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from .model import Metadata, RuleSet


class CompatibilityLevel(StrEnum):
    """Who must be able to read whose data; TRANSITIVE: of all live versions, not only the last."""

    NONE = "NONE"
    BACKWARD = "BACKWARD"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"


class CompatibilityPolicy(StrEnum):
    """How strictly JSON Schema's content models are compared."""

    STRICT = "STRICT"
    LENIENT = "LENIENT"


class Mode(StrEnum):
    """What may be done to a subject."""

    READWRITE = "READWRITE"
    READONLY = "READONLY"
    READONLY_OVERRIDE = "READONLY_OVERRIDE"
    """As the global mode it beats those of subjects and contexts."""
    IMPORT = "IMPORT"
    """Registrations bring their ids and versions; nothing is checked against earlier ones."""
    FORWARD = "FORWARD"
    """As IMPORT; global only."""

    @property
    def is_read_only(self) -> bool:
        """Is nothing written?"""
        return self in {Mode.READONLY, Mode.READONLY_OVERRIDE}

    @property
    def takes_ids(self) -> bool:
        """Do registrations bring ids?"""
        return self in {Mode.IMPORT, Mode.FORWARD}


class Config(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Settings as they are stored and answered, in the order in which Confluent writes them."""

    alias: str | None = None
    """The subject that this one stands for."""
    normalize: bool | None = None
    validate_fields: bool | None = None
    validate_new_schemas: bool | None = None
    validate_rules: bool | None = None
    compatibility_level: CompatibilityLevel | None = None
    compatibility_policy: CompatibilityPolicy | None = None
    compatibility_group: str | None = None
    """Name of a metadata property: only versions with the same value of it are compared."""
    default_metadata: Metadata | None = None
    override_metadata: Metadata | None = None
    default_rule_set: RuleSet | None = None
    override_rule_set: RuleSet | None = None

    @property
    def completes_schemas(self) -> bool:
        """Does it give registered schemas metadata or rules?"""
        return any(
            value is not None
            for value in (
                self.default_metadata,
                self.override_metadata,
                self.default_rule_set,
                self.override_rule_set,
            )
        )


class ConfigChange(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The body of ``PUT /config``; unknown members are ignored, as Confluent does."""

    alias: str | UnsetType | None = UNSET
    normalize: bool | UnsetType | None = UNSET
    validate_fields: bool | UnsetType | None = UNSET
    validate_new_schemas: bool | UnsetType | None = UNSET
    validate_rules: bool | UnsetType | None = UNSET
    compatibility: str | UnsetType | None = UNSET
    """A level's name in any case; checked by the command, whose error says which there are."""
    compatibility_policy: str | UnsetType | None = UNSET
    compatibility_group: str | UnsetType | None = UNSET
    default_metadata: Metadata | UnsetType | None = UNSET
    override_metadata: Metadata | UnsetType | None = UNSET
    default_rule_set: RuleSet | UnsetType | None = UNSET
    override_rule_set: RuleSet | UnsetType | None = UNSET


def changed(config: Config | None, changes: dict[str, Any]) -> Config:
    """*config* with *changes* by field name; a value of None takes the setting away."""
    return msgspec.structs.replace(config or Config(), **changes)
