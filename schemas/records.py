"""The ``_schemas`` topic: its keys and values as Confluent's registry writes them.

Keys are JSON whose spelling matters, since compaction compares bytes:

    {"keytype":"SCHEMA","subject":"s","version":1,"magic":1}     a version; tombstone: gone for good
    {"keytype":"CONFIG","subject":null,"magic":0}                of all, ":.ctx:" or a subject
    {"keytype":"MODE","subject":null,"magic":0}
    {"keytype":"DELETE_SUBJECT","subject":"s","magic":0}         versions up to one are soft-deleted
    {"keytype":"CLEAR_SUBJECT","subject":null,"magic":0}         soft-deleted versions are gone
    {"keytype":"CONTEXT","tenant":"default","context":".c","magic":0}
    {"keytype":"NOOP","magic":0}

Values leave out what is empty, and AVRO. Reading is laxer than writing: members in any order,
unknown members ignored, numbers as text, an empty value as a tombstone, for Karapace and older
registries write those. What cannot be read is told as ``Unreadable`` and changes nothing.

One thing is ours: the value of NOOP, which other registries do not look at, carries the highest id
ever given in each context. Without it a restart would give the highest id a second time once its
schema is deleted for good and compacted away.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias, assert_never

import msgspec

from .contracts import canonical_metadata, canonical_rule_set
from .model import VERSION_MAX, Definition, Metadata, Reference, RuleSet, SchemaFormat
from .settings import Config, Mode
from .subjects import normalized

Encoded: TypeAlias = tuple[bytes, bytes | None]
"""Key and value of a topic's record; a value of None is a tombstone."""

TENANT: Final = "default"


class StoredSchema(msgspec.Struct, frozen=True, kw_only=True):
    """What a SCHEMA record says beside its key."""

    id: int
    definition: Definition
    deleted: bool = False
    """Soft-deleted: found by id and on demand only."""


class SchemaRecord(msgspec.Struct, frozen=True):
    """A version is so, or (None) has gone for good."""

    subject: str
    version: int
    stored: StoredSchema | None


class ConfigRecord(msgspec.Struct, frozen=True):
    """The config of a subject, a context (``:.ctx:``) or (None) the default context."""

    subject: str | None
    config: Config | None


class ModeRecord(msgspec.Struct, frozen=True):
    """The mode of a subject, a context or (None) the default context."""

    subject: str | None
    mode: Mode | None


class DeleteSubjectRecord(msgspec.Struct, frozen=True):
    """Versions up to *version*, inclusive, are soft-deleted."""

    subject: str
    version: int


class ClearSubjectRecord(msgspec.Struct, frozen=True):
    """Soft-deleted versions of a subject, a context or (None) all are gone for good."""

    subject: str | None


class ContextRecord(msgspec.Struct, frozen=True):
    """A context exists, or no longer."""

    context: str
    exists: bool = True


class NoopRecord(msgspec.Struct, frozen=True):
    """Nothing, or the highest ids ever given by context."""

    id_max: Mapping[str, int] = {}


class Unreadable(msgspec.Struct, frozen=True):
    """A record that changes nothing, and why."""

    reason: str
    key: str
    """The beginning of the key, for the log."""


Record: TypeAlias = (
    SchemaRecord
    | ConfigRecord
    | ModeRecord
    | DeleteSubjectRecord
    | ClearSubjectRecord
    | ContextRecord
    | NoopRecord
)


class _SchemaKey(msgspec.Struct):
    keytype: str
    subject: str
    version: int
    magic: int = 1


class _SubjectKey(msgspec.Struct):
    keytype: str
    subject: str | None
    magic: int = 0


class _AnyKey(msgspec.Struct):
    keytype: str
    subject: str | None = None
    version: int | None = None
    context: str | None = None


class _SchemaValue(msgspec.Struct, kw_only=True, omit_defaults=True, rename="camel"):
    subject: str | None = None
    version: int | None = None
    id: int
    schema_type: SchemaFormat | None = None
    references: tuple[Reference, ...] | None = None
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None
    schema: str
    deleted: bool = msgspec.field(default_factory=bool)  # by a factory: always written


class _SubjectValue(msgspec.Struct):
    subject: str | None = None
    version: int | None = None


class _ModeValue(msgspec.Struct):
    mode: Mode


class _NoopValue(msgspec.Struct, rename="camel"):
    id_max: dict[str, int] = {}


def encode(record: Record) -> Encoded:
    """The record as it is written; its inverse is ``decode``."""
    key, value = _parts(record)
    encoded = None if value is None else msgspec.json.encode(value)
    return msgspec.json.encode(key), encoded


def decode(key: bytes | None, value: bytes | None) -> Record | Unreadable:
    """What one record of the topic says; never raises."""
    try:
        return _decoded(key or b"", value or None)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, _Unknown) as error:
        return Unreadable(reason=str(error), key=(key or b"")[:200].decode(errors="replace"))


class _Unknown(Exception):
    """The record is JSON, but not one of ours."""


def _parts(record: Record) -> tuple[object, object | None]:
    """Key and value as JSON will show them; None for a tombstone."""
    match record:
        case SchemaRecord(subject, version, stored):
            value = None if stored is None else _schema_value(subject, version, stored)
            return _SchemaKey("SCHEMA", subject, version), value
        case ConfigRecord(subject, config):
            settings = None if config is None else msgspec.to_builtins(config)
            return _SubjectKey("CONFIG", subject), _with_subject(subject, settings)
        case ModeRecord(subject, mode):
            chosen = None if mode is None else {"mode": mode.value}
            return _SubjectKey("MODE", subject), _with_subject(subject, chosen)
        case DeleteSubjectRecord(subject, version):
            return _SubjectKey("DELETE_SUBJECT", subject), _SubjectValue(subject, version)
        case ClearSubjectRecord(subject):
            return _SubjectKey("CLEAR_SUBJECT", subject), _with_subject(subject, {})
        case ContextRecord(context, exists):
            there = {"tenant": TENANT, "context": context}
            return {"keytype": "CONTEXT", **there, "magic": 0}, there if exists else None
        case NoopRecord(id_max):
            return {"keytype": "NOOP", "magic": 0}, {"idMax": id_max} if id_max else None
        case _:
            assert_never(record)


def _schema_value(subject: str, version: int, stored: StoredSchema) -> _SchemaValue:
    definition = stored.definition
    return _SchemaValue(
        subject=subject,
        version=version,
        id=stored.id,
        schema_type=None if definition.format is SchemaFormat.AVRO else definition.format,
        references=definition.references or None,
        metadata=definition.metadata,
        rule_set=definition.rule_set,
        schema=definition.text,
        deleted=stored.deleted,
    )


def _with_subject(subject: str | None, value: dict[str, Any] | None) -> dict[str, Any] | None:
    """The value with its subject in front; that of the default context has none."""
    if value is None:
        return None
    return value if subject is None else {"subject": subject, **value}


def _decoded(key_bytes: bytes, value: bytes | None) -> Record | Unreadable:
    key = _KEYS.decode(key_bytes)
    subject = None if key.subject is None else normalized(key.subject)
    match key.keytype:
        case "SCHEMA":
            return _decoded_schema(subject, key.version, value)
        case "CONFIG":
            config = None if value is None else _CONFIGS.decode(value)
            return ConfigRecord(subject, config and _canonical_config(config))
        case "MODE":
            return ModeRecord(subject, None if value is None else _MODES.decode(value).mode)
        case "DELETE_SUBJECT":
            told = _SUBJECTS.decode(value or b"{}")
            if subject is None:
                raise _Unknown("DELETE_SUBJECT without a subject")
            return DeleteSubjectRecord(subject, told.version or 0)
        case "CLEAR_SUBJECT":
            # Its tombstone, as every one of a key without memory, says nothing.
            return NoopRecord() if value is None else ClearSubjectRecord(subject)
        case "CONTEXT" if key.context is not None:
            return ContextRecord(key.context, value is not None)
        case "NOOP":
            return NoopRecord(_noop_id_max(value))
        case _:
            raise _Unknown(f"keytype {key.keytype!r} is not known here")


def _decoded_schema(subject: str | None, version: int | None, value: bytes | None) -> SchemaRecord:
    if subject is None or version is None or not 1 <= version <= VERSION_MAX:
        raise _Unknown("SCHEMA needs a subject and a version from 1 to 2^31-1")
    if value is None:
        return SchemaRecord(subject, version, None)
    told = _SCHEMAS.decode(value)
    if not 0 <= told.id <= VERSION_MAX:
        raise _Unknown(f"id {told.id} is not from 0 to 2^31-1")
    definition = Definition(
        text=told.schema,
        format=told.schema_type or SchemaFormat.AVRO,
        references=told.references or (),
        metadata=canonical_metadata(told.metadata),
        rule_set=canonical_rule_set(told.rule_set),
    )
    stored = StoredSchema(id=told.id, definition=definition, deleted=told.deleted)
    return SchemaRecord(subject, version, stored)


def _canonical_config(config: Config) -> Config:
    return msgspec.structs.replace(
        config,
        default_metadata=canonical_metadata(config.default_metadata),
        override_metadata=canonical_metadata(config.override_metadata),
        default_rule_set=canonical_rule_set(config.default_rule_set),
        override_rule_set=canonical_rule_set(config.override_rule_set),
    )


def _noop_id_max(value: bytes | None) -> dict[str, int]:
    """The marks of a NOOP of ours; whatever another registry put there is nothing."""
    try:
        return {} if value is None else _NOOPS.decode(value).id_max
    except msgspec.MsgspecError:
        return {}


_KEYS = msgspec.json.Decoder(_AnyKey, strict=False)
_SCHEMAS = msgspec.json.Decoder(_SchemaValue, strict=False)
_CONFIGS = msgspec.json.Decoder(Config, strict=False)
_MODES = msgspec.json.Decoder(_ModeValue, strict=False)
_SUBJECTS = msgspec.json.Decoder(_SubjectValue, strict=False)
_NOOPS = msgspec.json.Decoder(_NoopValue, strict=False)
