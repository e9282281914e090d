"""``POST /subjects/{s}/versions/{v}/tags``: a version's text again, with other metadata and rules.

Tags inside the text, which Confluent edits here too, are not edited: clients send the text with its
``confluent:tags`` instead.
"""

import msgspec

from ..contracts import canonical_rule_set, merged_rule_set, removed_rules
from ..errors import OperationNotPermitted, SubjectNotFound, VersionNotFound
from ..index import SchemaVersion
from ..model import Metadata, RuleSet
from ..parsing import SchemaParser
from ..state import RegistryState
from ..version_numbers import LATEST, version_number
from .outcome import Outcome, writable_subject
from .registering import Registered, RegisterRequest, register


class AmendRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The body of the request."""

    new_version: int | None = None
    """The version that must come of it; None is the next."""
    metadata: Metadata | None = None
    """Instead of that of the version."""
    rule_set: RuleSet | None = None
    """Instead of that of the version before the new one."""
    rules_to_merge: RuleSet | None = None
    """Over those of the version before the new one."""
    rules_to_remove: tuple[str, ...] | None = None
    """Names of rules of the version before the new one."""
    tags_to_add: tuple[msgspec.Raw, ...] | None = None
    tags_to_remove: tuple[msgspec.Raw, ...] | None = None


def amend(
    state: RegistryState, parser: SchemaParser, subject: str, version: str, request: AmendRequest
) -> Outcome[Registered]:
    """Register the text of *version* once more, as the next version.

    Raises InvalidVersion, SubjectNotFound, VersionNotFound, OperationNotPermitted for tags, and
    as ``register``.
    """
    subject = writable_subject(subject)
    amended = _version(state, subject, version_number(version))
    if amended is None:
        if not state.schemas.has_subjects(subject):
            raise SubjectNotFound(subject)
        raise VersionNotFound(version_number(version))
    if request.tags_to_add or request.tags_to_remove:
        raise OperationNotPermitted(
            "Tags inside a schema are not edited here: register its text with its confluent:tags"
        )
    held = amended.definition
    again = RegisterRequest(
        text=held.text,
        format=held.format,
        references=held.references,
        metadata=held.metadata if request.metadata is None else request.metadata,
        rule_set=_rule_set(state, subject, request),
        version=LATEST if request.new_version is None else request.new_version,
    )
    return register(state, parser, subject, again)


def _rule_set(state: RegistryState, subject: str, request: AmendRequest) -> RuleSet | None:
    if request.rules_to_merge is None and request.rules_to_remove is None:
        return request.rule_set
    before = LATEST if request.new_version is None else request.new_version - 1
    previous = _version(state, subject, before)
    rule_set = previous.definition.rule_set if previous else None
    merged = merged_rule_set(rule_set, canonical_rule_set(request.rules_to_merge))
    if merged is None or request.rules_to_remove is None:
        return merged
    return removed_rules(merged, frozenset(request.rules_to_remove))


def _version(state: RegistryState, subject: str, number: int) -> SchemaVersion | None:
    """That live version."""
    if number == LATEST:
        return state.schemas.latest(subject)
    found = state.schemas.version(subject, number)
    return None if found is None or found.deleted else found
