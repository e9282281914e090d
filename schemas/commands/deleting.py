"""Deletes: soft first, then for good; and contexts that are empty."""

from .. import subjects
from ..errors import (
    ContextNotEmpty,
    SubjectNotFound,
    SubjectNotSoftDeleted,
    SubjectSoftDeleted,
    VersionNotFound,
    VersionNotSoftDeleted,
    VersionSoftDeleted,
)
from ..records import (
    ConfigRecord,
    ContextRecord,
    DeleteSubjectRecord,
    ModeRecord,
    Record,
    SchemaRecord,
    StoredSchema,
)
from ..state import RegistryState
from ..version_numbers import LATEST, version_number
from .outcome import Outcome, id_marks, refuse_read_only, refuse_referenced


def delete_subject(
    state: RegistryState, subject: str, *, permanent: bool = False
) -> Outcome[list[int]]:
    """Soft-delete the live versions, or drop all versions, config and mode for good.

    Raises SubjectNotFound, SubjectSoftDeleted, SubjectNotSoftDeleted, OperationNotPermitted,
    ReferenceExists.
    """
    subject = subjects.normalized(subject)
    held = state.schemas.versions(subject)
    if not held:
        raise SubjectNotFound(subject)
    live = [one for one in held if not one.deleted]
    if not permanent and not live:
        raise SubjectSoftDeleted(subject)
    refuse_read_only(state, subject)
    if not permanent:
        refuse_referenced(state.schemas, live)
        numbers = [one.version for one in live]
        # Up to the highest version, not to the highest live one: compaction drops an earlier
        # record of this key, and what only that one deleted would live again.
        return Outcome(numbers, (DeleteSubjectRecord(subject, held[-1].version),))
    refuse_referenced(state.schemas, held)
    if live:
        raise SubjectNotSoftDeleted(subject)
    numbers = [one.version for one in held]
    records: list[Record] = [SchemaRecord(subject, number, None) for number in numbers]
    records += _settings_dropped(state, subject)
    records += id_marks(state.schemas, held)
    return Outcome(numbers, tuple(records))


def delete_version(
    state: RegistryState, subject: str, version: str, *, permanent: bool = False
) -> Outcome[int]:
    """Soft-delete one version, or drop a soft-deleted one for good, with the settings of a subject
    that has none left.

    Raises InvalidVersion, SubjectNotFound, VersionNotFound, VersionSoftDeleted,
    VersionNotSoftDeleted, OperationNotPermitted, ReferenceExists.
    """
    subject = subjects.normalized(subject)
    number = version_number(version)
    latest = number == LATEST
    found = state.schemas.latest(subject) if latest else state.schemas.version(subject, number)
    if found is None:
        if not state.schemas.versions(subject):
            raise SubjectNotFound(subject)
        raise VersionNotFound(number)
    if found.deleted and not permanent:
        raise VersionSoftDeleted(subject, version)
    refuse_read_only(state, subject)
    refuse_referenced(state.schemas, [found])
    if not permanent:
        stored = StoredSchema(id=found.id, definition=found.definition, deleted=True)
        return Outcome(found.version, (SchemaRecord(subject, found.version, stored),))
    if not found.deleted:
        raise VersionNotSoftDeleted(subject, found.version)
    records: list[Record] = [SchemaRecord(subject, found.version, None)]
    if len(state.schemas.versions(subject)) == 1:
        records += _settings_dropped(state, subject)
    records += id_marks(state.schemas, [found])
    return Outcome(found.version, tuple(records))


def delete_context(state: RegistryState, context: str) -> Outcome[None]:
    """Forget an empty context; nothing when it is unknown or the default one.

    Raises ContextNotEmpty when there are versions in it, soft-deleted ones included.
    """
    name = subjects.context_of(context if context.startswith(":") else f":{context}")
    if state.schemas.has_subjects(subjects.context_name(name), deleted=True):
        raise ContextNotEmpty(context)
    return Outcome(None, (ContextRecord(name, exists=False),) if state.is_declared(name) else ())


def _settings_dropped(state: RegistryState, subject: str) -> list[Record]:
    dropped: list[Record] = []
    if subject in state.settings.modes():
        dropped.append(ModeRecord(subject, None))
    if subject in state.settings.configs():
        dropped.append(ConfigRecord(subject, None))
    return dropped
