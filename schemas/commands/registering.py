"""Registration: one schema becomes the next version of a subject, or is found to be there.

The order of checks is Confluent's, for what is refused first is what clients see.
"""

import msgspec
from msgspec.structs import replace

from .. import subjects
from ..contracts import VERSION_PROPERTY, check_rule_set, property_of, without_version
from ..errors import (
    IncompatibleSchema,
    InvalidSchemaRefused,
    OperationNotPermitted,
    StoreFailed,
)
from ..formats.contract import ParsedSchema
from ..identity import guid_of
from ..index import SchemaVersion
from ..model import VERSION_MAX, Definition
from ..parsing import SchemaParser
from ..records import ContextRecord, Record, SchemaRecord, StoredSchema
from ..settings import Mode
from ..state import RegistryState
from .checking import verdict_for
from .looking_up import (
    LookupRequest,
    completed,
    find_registered,
    normalizes,
    same_in_meaning,
    versioned,
)
from .outcome import Outcome, id_marks, in_context, refuse_read_only, writable_subject


class RegisterRequest(LookupRequest, frozen=True, kw_only=True):
    """The body and the query of a registration."""

    id: int = -1
    """Below 0: none given. Others need the IMPORT mode, or to be what the schema has already."""
    version: int = 0
    """0: none given; -1: the next, told in the metadata; others must be the next."""
    force: bool = False
    """Do not compare with earlier versions."""


class Registered(msgspec.Struct, frozen=True):
    """The answer to a registration."""

    version: SchemaVersion
    is_new: bool
    """Was it written now?"""


def register(
    state: RegistryState, parser: SchemaParser, subject: str, request: RegisterRequest
) -> Outcome[Registered]:
    """Register the schema under the subject.

    Raises InvalidRuleSet, InvalidSubject, OperationNotPermitted (mode, or the id is another
    schema's), InvalidSchemaRefused (text, references, version), SchemaTooLarge, IncompatibleSchema.
    """
    check_rule_set(request.definition.rule_set)
    subject = writable_subject(subject)
    existing = find_registered(
        state, parser, subject, request, schema_id=request.id, version=request.version
    )
    if existing is not None:
        return Outcome(Registered(existing, is_new=False))
    _check_mode(state, subject, request)
    definition, existing = _settled(state, parser, subject, request)
    if existing is not None:
        return Outcome(Registered(existing, is_new=False))
    return _written(state, subject, request, definition)


def _check_mode(state: RegistryState, subject: str, request: RegisterRequest) -> None:
    refuse_read_only(state, subject)
    mode = state.settings.mode_in_scope(subject)
    if request.id >= 0 and not mode.takes_ids:
        raise OperationNotPermitted(f"{in_context(subject)} is not in import mode")
    if request.id < 0 and mode is not Mode.READWRITE:
        raise OperationNotPermitted(f"{in_context(subject)} is not in read-write mode")
    if request.id > VERSION_MAX or request.version > VERSION_MAX:
        raise InvalidSchemaRefused("Ids and versions are at most 2^31-1")


def _settled(
    state: RegistryState, parser: SchemaParser, subject: str, request: RegisterRequest
) -> tuple[Definition, SchemaVersion | None]:
    """What is to be stored, having passed every check of its content; or what is there already."""
    config = state.settings.config_in_scope(subject)
    imports = state.settings.mode_in_scope(subject).takes_ids
    live = [one for one in reversed(state.schemas.versions(subject)) if not one.deleted]
    wanted = request.definition
    if not imports:
        wanted = _with_text_of(live[0], wanted) if live and not wanted.text.strip() else wanted
        wanted = completed(config, wanted, live[0] if live else None)
        wanted = versioned(wanted, _version_next(state, subject), is_asked=request.version != 0)
    definition, parsed = parser.canonical(
        state.schemas,
        subject,
        wanted,
        normalize=normalizes(state, subject, request),
        is_new=request.id < 0,
    )
    if request.version == 0:
        existing = _existing(state, parser, request, definition, parsed, live)
        if existing is not None:
            return definition, existing
    if not imports and not request.force:
        verdict = verdict_for(state, parser, subject, definition, parsed, live)
        if not verdict.is_compatible:
            raise IncompatibleSchema(subject, list(verdict.messages))
    return definition, None


def _existing(
    state: RegistryState,
    parser: SchemaParser,
    request: RegisterRequest,
    definition: Definition,
    parsed: ParsedSchema,
    live: list[SchemaVersion],
) -> SchemaVersion | None:
    """The newest live version with this very content, or else one that may stand for it."""
    fitting = [one for one in live if request.id < 0 or request.id == one.id]
    guid = guid_of(definition)
    for one in fitting:
        if one.guid == guid and one.definition.format is definition.format:
            return one
    if property_of(request.definition.metadata, VERSION_PROPERTY) is None:
        definition = replace(definition, metadata=without_version(definition.metadata))
    return same_in_meaning(state, parser, definition, parsed, fitting)


def _written(
    state: RegistryState, subject: str, request: RegisterRequest, definition: Definition
) -> Outcome[Registered]:
    """The records that make *definition* a version, and that version."""
    context = subjects.context_of(subject)
    version = _version_next(state, subject)
    imports = state.settings.mode_in_scope(subject).takes_ids
    if request.version > 0:
        if request.version != version and not imports:
            raise InvalidSchemaRefused("Version is not one more than previous version")
        version = request.version
    if version > VERSION_MAX:
        raise StoreFailed(f"Subject {subject} has no versions left")
    schema_id = _id_for(state, context, request.id, definition)
    records: list[Record] = []
    if context != subjects.DEFAULT_CONTEXT and not state.is_declared(context):
        records.append(ContextRecord(context))
    # The id has a live version here again; its soft-deleted ones are gone for good.
    records += [
        SchemaRecord(subject, one.version, None)
        for one in state.schemas.versions(subject)
        if one.deleted and one.id == schema_id and one.version < version
    ]
    overwritten = state.schemas.version(subject, version)
    if overwritten is not None and overwritten.id != schema_id:
        records += id_marks(state.schemas, [overwritten])
    stored = StoredSchema(id=schema_id, definition=definition)
    records.append(SchemaRecord(subject, version, stored))
    new = SchemaVersion(
        subject=subject,
        version=version,
        id=schema_id,
        guid=guid_of(definition),
        definition=definition,
    )
    return Outcome(Registered(new, is_new=True), tuple(records))


def _id_for(state: RegistryState, context: str, given: int, definition: Definition) -> int:
    """The id given, that of the same content in the context, or the next one."""
    alike = [
        one.id
        for one in state.schemas.with_guid(context, guid_of(definition))
        if one.definition.format is definition.format
    ]
    if given < 0:
        if alike:
            return min(alike)
        if state.schemas.id_max(context) >= VERSION_MAX:
            raise StoreFailed(f"Context {context} has no ids left")
        return state.schemas.id_max(context) + 1
    if any(one.definition != definition for one in state.schemas.with_id(context, given)):
        raise OperationNotPermitted(
            f"Overwrite new schema with id {given} in context {subjects.context_name(context)} "
            "is not permitted."
        )
    return given


def _version_next(state: RegistryState, subject: str) -> int:
    """One more than the highest version, soft-deleted ones included."""
    versions = state.schemas.versions(subject)
    return versions[-1].version + 1 if versions else 1


def _with_text_of(previous: SchemaVersion, wanted: Definition) -> Definition:
    held = previous.definition
    return replace(wanted, text=held.text, format=held.format, references=held.references)
