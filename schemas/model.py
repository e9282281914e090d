"""Values that every part of the registry shares: formats, references, definitions, metadata, rules.

The names are those of Confluent's REST protocol (``io.confluent.kafka.schemaregistry.client.rest
.entities``), in JSON as camelCase.
"""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

VERSION_MAX = 2**31 - 1
"""Versions and ids are Java's int."""


class SchemaFormat(StrEnum):
    """``schemaType`` of the protocol; absent means AVRO."""

    AVRO = "AVRO"
    JSON = "JSON"
    PROTOBUF = "PROTOBUF"


class Reference(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Another registered schema, which this one uses by *name*.

    *name* is what the text says: Avro's full name, JSON Schema's ``$ref``, Protobuf's import path.
    """

    name: str
    subject: str
    version: int


class Metadata(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What a schema's owner says of it; stored and compared, not understood."""

    tags: Mapping[str, tuple[str, ...]] | None = None
    properties: Mapping[str, str] | None = None
    sensitive: tuple[str, ...] | None = None
    """Names of the properties that are secret; sorted, each once."""


class Rule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One rule of a data contract. Its words are checked when registered; it is not executed."""

    name: str | None = None
    doc: str | None = None
    kind: str | None = None
    """TRANSFORM or CONDITION."""
    mode: str | None = None
    """UPGRADE, DOWNGRADE, UPDOWN, WRITE, READ or WRITEREAD."""
    type: str | None = None
    tags: tuple[str, ...] | None = None
    params: Mapping[str, str] | None = None
    expr: str | None = None
    on_success: str | None = None
    on_failure: str | None = None
    disabled: bool = msgspec.field(default_factory=bool)
    """By a factory, so that JSON always carries it, as Confluent's does."""


class RuleSet(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """The rules of one schema by what they act on; an absent list is not an empty one."""

    migration_rules: tuple[Rule, ...] | None = None
    domain_rules: tuple[Rule, ...] | None = None
    encoding_rules: tuple[Rule, ...] | None = None
    enable_at: str | None = None


class Definition(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Everything that makes one schema what it is; two equal definitions share an id."""

    text: str
    format: SchemaFormat = SchemaFormat.AVRO
    references: tuple[Reference, ...] = ()
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None
