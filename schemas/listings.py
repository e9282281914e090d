"""What clients ask the registry to tell: lists and single schemas, with the refusals of each.

Names come as in a request, in any spelling. Lists are whole; ``page`` cuts them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import NamedTuple, TypeVar

import msgspec

from . import subjects
from .errors import (
    ConfigNotFound,
    ModeNotFound,
    SchemaNotFound,
    SubjectNotFound,
    VersionNotFound,
)
from .identity import guid_read
from .index import SchemaVersion
from .model import RuleSet
from .settings import Config, Mode
from .state import RegistryState
from .version_numbers import LATEST, version_number

_T = TypeVar("_T")


class Shown(Enum):
    """Which versions count."""

    LIVE = "live"
    ALL = "all"
    DELETED = "deleted"

    @classmethod
    def of(cls, *, deleted: bool = False, deleted_only: bool = False) -> "Shown":
        """What the query's two flags mean together."""
        if deleted_only:
            return cls.DELETED
        return cls.ALL if deleted else cls.LIVE

    def takes(self, *, deleted: bool) -> bool:
        """Does one that is or is not soft-deleted count?"""
        return self is Shown.ALL or deleted == (self is Shown.DELETED)


class Listed(NamedTuple):
    """A schema of ``GET /schemas``, with the subjects that are aliases of its own."""

    version: SchemaVersion
    aliases: Sequence[str] = ()


class SubjectVersion(msgspec.Struct, frozen=True):
    """Where a schema is used."""

    subject: str
    version: int


class ContextId(msgspec.Struct, frozen=True):
    """The id of a schema in one context."""

    context: str
    id: int


def page(items: Iterable[_T], *, offset: int = 0, limit: int = -1) -> list[_T]:
    """*limit* items from *offset* on; all of them for a limit below 1."""
    listed = list(items)[max(offset, 0) :]
    return listed[:limit] if limit > 0 else listed


def list_subjects(
    state: RegistryState, prefix: str = subjects.WILDCARD, *, shown: Shown = Shown.LIVE
) -> list[str]:
    """Subjects that begin with *prefix*, sorted; of every context for ``:*:…``.

    A subject is deleted when all of its versions are.
    """

    def is_deleted(subject: str) -> bool:
        return all(one.deleted for one in state.schemas.versions(subject))

    names = _with_prefix(state, prefix)
    return [name for name in names if shown.takes(deleted=is_deleted(name))]


def list_versions(
    state: RegistryState,
    subject: str,
    *,
    shown: Shown = Shown.LIVE,
    deleted_as_negative: bool = False,
) -> list[int]:
    """Version numbers, ascending; soft-deleted ones negative on demand.

    Raises SubjectNotFound when the subject has nothing of what is shown, deleted ones counting
    unless only live ones are shown.
    """
    subject = subjects.normalized(subject)
    if not state.schemas.has_subjects(subject, deleted=shown is not Shown.LIVE):
        raise SubjectNotFound(subject)
    return [
        -one.version if deleted_as_negative and one.deleted else one.version
        for one in state.schemas.versions(subject)
        if shown.takes(deleted=one.deleted)
    ]


def get_version(
    state: RegistryState, subject: str, version: str, *, deleted: bool = False
) -> SchemaVersion:
    """That version; for a bare subject that has none of it, its namesake's in another context.

    ``latest`` and -1 are the latest live one. Raises InvalidVersion, SubjectNotFound,
    VersionNotFound.
    """
    subject = subjects.normalized(subject)
    number = version_number(version)
    for name in state.namesakes(subject):
        if number == LATEST:
            found = state.schemas.latest(name)
        else:
            found = state.schemas.version(name, number)
        if found is not None and (deleted or not found.deleted):
            return found
    if not state.schemas.has_subjects(subject, deleted=deleted):
        raise SubjectNotFound(subject)
    raise VersionNotFound(number)


def list_referencing(
    state: RegistryState, subject: str, version: str, *, deleted: bool = True
) -> list[int]:
    """Ids of live schemas that reference this version, ascending. Raises as ``get_version``."""
    target = get_version(state, subject, version, deleted=deleted)
    return sorted({one.id for one in state.schemas.referencing(target.subject, target.version)})


def latest_with_metadata(
    state: RegistryState, subject: str, wanted: Mapping[str, str], *, deleted: bool = False
) -> SchemaVersion:
    """The newest version whose metadata have all these properties.

    Raises SubjectNotFound, SchemaNotFound.
    """
    subject = subjects.normalized(subject)
    for one in reversed(state.schemas.versions(subject)):
        metadata = one.definition.metadata
        properties = metadata.properties if metadata else None
        if properties is None or (one.deleted and not deleted):
            continue
        if wanted.items() <= properties.items():
            return one
    if not state.schemas.has_subjects(subject, deleted=deleted):
        raise SubjectNotFound(subject)
    raise SchemaNotFound


def get_by_id(state: RegistryState, schema_id: int, subject: str | None = None) -> SchemaVersion:
    """A version with this id, soft-deleted or not.

    *subject* says where to look: ``:.ctx:`` in a context, ``:.ctx:name`` for that subject in it; a
    bare name first in any context under this name, then in the default context under any.
    Raises SchemaNotFound.
    """
    name = subjects.normalized(subject or "")
    if not subjects.is_context(name):
        for candidate in state.namesakes(name):
            for one in _newest_first(state, subjects.context_of(candidate), schema_id):
                if one.subject == candidate:
                    return one
        if subjects.context_of(name) != subjects.DEFAULT_CONTEXT:
            raise SchemaNotFound(schema_id)
    held = state.schemas.with_id(subjects.context_of(name), schema_id)
    if not held:
        raise SchemaNotFound(schema_id)
    return next((one for one in held if not one.deleted), held[0])


def list_uses(
    state: RegistryState, schema_id: int, subject: str | None = None, *, deleted: bool = False
) -> list[SubjectVersion]:
    """Subjects and versions of the schema, by name; *subject* only says which context.

    Raises SchemaNotFound.
    """
    found = get_by_id(state, schema_id, subject)
    same = state.schemas.with_id(subjects.context_of(found.subject), schema_id)
    uses = {(one.subject, one.version) for one in same if deleted or not one.deleted}
    return [SubjectVersion(*use) for use in sorted(uses)]


def get_by_guid(state: RegistryState, guid: str) -> SchemaVersion:
    """A version with this content, from the first context that has it. Raises SchemaNotFound."""
    for _, one in _with_guid(state, guid):
        return one
    raise SchemaNotFound(guid)


def list_ids_of_guid(state: RegistryState, guid: str) -> list[ContextId]:
    """The ids that this content has, by context. Raises SchemaNotFound."""
    ids = [ContextId(context, one.id) for context, one in _with_guid(state, guid)]
    if not ids:
        raise SchemaNotFound(guid)
    return ids


def list_schemas(
    state: RegistryState,
    prefix: str = subjects.WILDCARD,
    *,
    shown: Shown = Shown.LIVE,
    latest_only: bool = False,
    aliases: bool = False,
    rule_type: str | None = None,
) -> list[Listed]:
    """Schemas of the subjects that begin with *prefix*, by subject and version.

    *aliases* tells each subject's aliases, and adds subjects whose aliases begin so; *rule_type*
    keeps schemas with a rule of that type.
    """
    known = _aliases(state, prefix) if aliases else {}
    names = sorted({*_with_prefix(state, prefix), *known})
    listed: list[Listed] = []
    for name in names:
        versions = [one for one in state.schemas.versions(name) if shown.takes(deleted=one.deleted)]
        listed += [
            Listed(one, known.get(name, ()))
            for one in (versions[-1:] if latest_only else versions)
            if rule_type is None or _has_rule(one.definition.rule_set, rule_type)
        ]
    return listed


def list_contexts(state: RegistryState, prefix: str = "") -> list[str]:
    """Contexts whose names begin with *prefix*."""
    return [context for context in state.contexts() if context.startswith(prefix)]


def get_config(
    state: RegistryState, scope: str | None, *, default_to_global: bool = False
) -> Config:
    """What is set for the scope, or what holds there. Raises ConfigNotFound."""
    scope = _scope(scope)
    if default_to_global:
        return state.settings.config_in_scope(scope)
    config = state.settings.config(scope)
    if config is None and scope is not None:
        raise ConfigNotFound(scope)
    level = state.settings.defaults.compatibility_level
    config = config or Config()
    if config.compatibility_level is None:
        config = msgspec.structs.replace(config, compatibility_level=level)
    return config


def get_mode(state: RegistryState, scope: str | None, *, default_to_global: bool = False) -> Mode:
    """The mode that is set for the scope, or that holds there. Raises ModeNotFound."""
    scope = _scope(scope)
    if default_to_global:
        return state.settings.mode_in_scope(scope)
    mode = state.settings.mode(scope)
    if mode is None:
        raise ModeNotFound(str(scope))
    return mode


def unaliased(state: RegistryState, subject: str) -> str:
    """The subject that *subject* stands for, or itself; one step only, as Confluent does."""
    name = subjects.normalized(subject)
    config = state.settings.config(name)
    return subjects.beside(name, config.alias) if config and config.alias else name


def _scope(scope: str | None) -> str | None:
    if scope is None or subjects.is_default_context(scope):
        return None
    return subjects.normalized(scope)


def _with_prefix(state: RegistryState, prefix: str) -> list[str]:
    """Subjects by prefix, sorted by name; a wildcard takes the prefix in every context."""
    names = state.schemas.subject_names()
    if prefix.startswith(subjects.WILDCARD):
        bare = prefix.removeprefix(subjects.WILDCARD)
        if not bare:
            return sorted(names)
        return sorted(name for name in names if subjects.parsed(name).subject.startswith(bare))
    if subjects.is_default_context(prefix):
        return sorted(name for name in names if not name.startswith(":."))
    return sorted(name for name in names if name.startswith(prefix.removeprefix(":.:")))


def _aliases(state: RegistryState, prefix: str) -> dict[str, list[str]]:
    """Aliases that begin with *prefix*, by the subject for which they stand."""
    everywhere = prefix.startswith(subjects.WILDCARD)
    wanted = prefix.removeprefix(subjects.WILDCARD)
    found: dict[str, list[str]] = {}
    for scope, config in sorted(
        (scope, config) for scope, config in state.settings.configs().items() if scope is not None
    ):
        shown = subjects.parsed(scope).subject if everywhere else scope
        if config.alias and shown.startswith(wanted):
            found.setdefault(subjects.beside(scope, config.alias), []).append(scope)
    return found


def _has_rule(rule_set: RuleSet | None, rule_type: str) -> bool:
    if rule_set is None:
        return False
    lists = (rule_set.migration_rules, rule_set.domain_rules, rule_set.encoding_rules)
    return any(rule.type == rule_type for rules in lists for rule in rules or ())


def _newest_first(state: RegistryState, context: str, schema_id: int) -> list[SchemaVersion]:
    return sorted(
        state.schemas.with_id(context, schema_id), key=lambda one: one.version, reverse=True
    )


def _with_guid(state: RegistryState, text: str) -> Iterator[tuple[str, SchemaVersion]]:
    """One version of this content from every context that has it."""
    guid = guid_read(text)
    if guid is None:
        return
    for context in state.contexts():
        versions = state.schemas.with_guid(context, guid)
        if versions:
            yield context, min(versions, key=lambda one: one.id)
