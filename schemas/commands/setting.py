"""Config and mode: put and taken away."""

from typing import Any, TypeVar

from msgspec import UNSET, structs

from .. import subjects
from ..contracts import canonical_metadata, canonical_rule_set, check_rule_set
from ..errors import (
    InvalidCompatibilityLevel,
    InvalidMode,
    InvalidSubject,
    OperationNotPermitted,
    SubjectNotFound,
)
from ..records import (
    ClearSubjectRecord,
    ConfigRecord,
    ModeRecord,
    Record,
    SchemaRecord,
)
from ..settings import (
    CompatibilityLevel,
    CompatibilityPolicy,
    Config,
    ConfigChange,
    Mode,
    changed,
)
from ..state import RegistryState
from .outcome import Outcome, id_marks, refuse_read_only, refuse_referenced


def change_config(state: RegistryState, scope: str | None, change: ConfigChange) -> Outcome[Config]:
    """Set what *change* brings, take away what it brings as null, keep the rest.

    Raises InvalidCompatibilityLevel, InvalidRuleSet, InvalidSubject, OperationNotPermitted.
    """
    values = _checked(change)
    scope = _scope(scope)
    refuse_read_only(state, scope)
    config = changed(state.settings.config(scope), values)
    return Outcome(config, (ConfigRecord(scope, config),))


def delete_config(
    state: RegistryState, scope: str | None, *, recursive: bool = False
) -> Outcome[Config]:
    """Inherit again; the answer is what was set. *recursive*: so does everything inside.

    Raises SubjectNotFound when nothing is set for a scope other than the default context,
    OperationNotPermitted.
    """
    scope = _scope(scope, is_new=False)
    config = state.settings.config(scope)
    if config is None and scope is not None:
        raise SubjectNotFound(scope)
    refuse_read_only(state, scope)
    scopes = _inside(scope, state.settings.configs()) if recursive else []
    records = [ConfigRecord(one, None) for one in [*([scope] if config else []), *scopes]]
    answer = config or state.settings.config_in_scope(None)
    return Outcome(answer, tuple(records))


def set_mode(
    state: RegistryState,
    scope: str | None,
    mode: str | None,
    *,
    force: bool = False,
    recursive: bool = False,
) -> Outcome[Mode | None]:
    """Set the mode, or (None) inherit it; *recursive*: what is inside inherits it.

    IMPORT needs a scope without live versions, and drops its soft-deleted ones for good, unless
    *force*. Raises InvalidSubject, InvalidMode, OperationNotPermitted, ReferenceExists.
    """
    scope = _scope(scope)
    chosen = _mode_named(mode)
    if chosen is Mode.FORWARD and scope is not None:
        raise InvalidMode("Forward mode only supported on global level")
    _refuse_immutable(state)
    records: list[Record] = []
    if chosen is Mode.IMPORT and not force:
        records += _emptied(state, scope)
    records.append(ModeRecord(scope, chosen))
    if recursive:
        records += [ModeRecord(one, None) for one in _inside(scope, state.settings.modes())]
    return Outcome(chosen, tuple(records))


def delete_mode(
    state: RegistryState, scope: str | None, *, recursive: bool = False
) -> Outcome[Mode]:
    """Inherit again; the answer is the mode that was. *recursive*: so does everything inside.

    Raises SubjectNotFound when none is set for a scope other than the default context,
    OperationNotPermitted.
    """
    scope = _scope(scope, is_new=False)
    mode = state.settings.mode(scope)
    if mode is None:
        assert scope is not None
        raise SubjectNotFound(scope)
    _refuse_immutable(state)
    scopes = _inside(scope, state.settings.modes()) if recursive else []
    own = [scope] if scope in state.settings.modes() else []
    return Outcome(mode, tuple(ModeRecord(one, None) for one in [*own, *scopes]))


def _scope(scope: str | None, *, is_new: bool = True) -> str | None:
    """The scope in its one spelling: the default context is None."""
    if scope is None or subjects.is_default_context(scope):
        return None
    if is_new and not subjects.is_valid(scope, has_settings=True):
        raise InvalidSubject(scope)
    return subjects.normalized(scope)


def _checked(change: ConfigChange) -> dict[str, Any]:
    """The fields of a Config that *change* sets, by name."""
    values: dict[str, Any] = {
        field: value for field, value in structs.asdict(change).items() if value is not UNSET
    }
    if "compatibility" in values:
        level = values.pop("compatibility")
        values["compatibility_level"] = None if level is None else _level_named(level)
    if values.get("compatibility_policy") is not None:
        values["compatibility_policy"] = _policy_named(values["compatibility_policy"])
    for field in ("default_rule_set", "override_rule_set"):
        if values.get(field) is not None:
            values[field] = canonical_rule_set(values[field])
            check_rule_set(values[field])
    for field in ("default_metadata", "override_metadata"):
        if values.get(field) is not None:
            values[field] = canonical_metadata(values[field])
    return values


def _level_named(name: str) -> CompatibilityLevel:
    try:
        return CompatibilityLevel(name.upper())
    except ValueError:
        raise InvalidCompatibilityLevel from None


def _policy_named(name: str) -> CompatibilityPolicy:
    try:
        return CompatibilityPolicy(name.upper())
    except ValueError:
        raise InvalidCompatibilityLevel(
            "Invalid compatibility policy. Valid values are strict and lenient"
        ) from None


def _mode_named(name: str | None) -> Mode | None:
    try:
        return None if name is None else Mode(name.upper())
    except ValueError:
        raise InvalidMode from None


def _refuse_immutable(state: RegistryState) -> None:
    if not state.settings.defaults.modes_may_change:
        raise OperationNotPermitted("Mode changes are not allowed")


def _emptied(state: RegistryState, scope: str | None) -> list[Record]:
    """What makes the scope empty before ids are imported into it."""
    if state.settings.mode_in_scope(scope) is Mode.IMPORT:
        return []
    if state.schemas.has_subjects(scope):
        raise OperationNotPermitted("Cannot import since found existing subjects")
    remains = [
        one
        for subject in state.schemas.subjects_in(scope)
        for one in state.schemas.versions(subject)
    ]
    refuse_referenced(state.schemas, remains)
    records: list[Record] = [SchemaRecord(one.subject, one.version, None) for one in remains]
    return [*records, *id_marks(state.schemas, remains), ClearSubjectRecord(scope)]


_V = TypeVar("_V")


def _inside(scope: str | None, settings: "dict[str | None, _V] | Any") -> list[str | None]:
    """Scopes with settings of their own inside a context; of the global one, all others."""
    if scope is not None and not subjects.is_context(scope):
        return []
    context = subjects.DEFAULT_CONTEXT if scope is None else subjects.context_of(scope)
    everywhere = context == subjects.GLOBAL_CONTEXT
    return [
        other
        for other in settings
        if other != scope
        and (everywhere or (other is not None and subjects.context_of(other) == context))
    ]
