"""Compatibility checks: would this schema be accepted, and if not, why?"""

from collections.abc import Iterator, Sequence

from .. import subjects
from ..compatibility import Earlier, Verdict, compare, trailer
from ..contracts import property_of, reserved_fields
from ..errors import InvalidSchemaRefused, VersionNotFound
from ..formats.contract import ParsedSchema
from ..index import SchemaVersion
from ..model import Definition
from ..parsing import SchemaParser
from ..state import RegistryState
from ..version_numbers import LATEST, version_number
from .looking_up import LookupRequest, normalizes


class CheckRequest(LookupRequest, frozen=True, kw_only=True):
    """The body and the query of a compatibility check."""

    verbose: bool = False
    """An invalid schema is a verdict then, and no error."""


def check_against_subject(
    state: RegistryState, parser: SchemaParser, subject: str, request: CheckRequest
) -> Verdict:
    """As a registration would be checked; an unknown subject takes anything.

    Raises InvalidSchemaRefused unless verbose.
    """
    subject = subjects.normalized(subject)
    live = [one for one in reversed(state.schemas.versions(subject)) if not one.deleted]
    return _check(state, parser, subject, request, live)


def check_against_version(
    state: RegistryState, parser: SchemaParser, subject: str, version: str, request: CheckRequest
) -> Verdict:
    """Against one version only, at the subject's level; ``latest`` of an unknown subject takes
    anything. Raises InvalidVersion, VersionNotFound, InvalidSchemaRefused unless verbose.
    """
    subject = subjects.normalized(subject)
    number = version_number(version)
    if number == LATEST:
        found = state.schemas.latest(subject)
    else:
        found = state.schemas.version(subject, number)
        if found is None or found.deleted:
            raise VersionNotFound(number)
    return _check(state, parser, subject, request, [found] if found else [])


def verdict_for(
    state: RegistryState,
    parser: SchemaParser,
    subject: str,
    definition: Definition,
    parsed: ParsedSchema,
    earlier: Sequence[SchemaVersion],
) -> Verdict:
    """The canonical schema against *earlier* versions, newest first, under the subject's config.

    The last message tells the settings. Raises InvalidSchemaRefused when an earlier version can no
    longer be parsed.
    """
    config = state.settings.config_in_scope(subject)
    level = config.compatibility_level
    assert level is not None
    validates = config.validate_fields
    if validates is None:
        validates = state.settings.defaults.validate_fields
    messages = _unreserved(definition, earlier) if validates else []
    group = config.compatibility_group
    if group is not None:
        mine = property_of(definition.metadata, group)
        earlier = [one for one in earlier if property_of(one.definition.metadata, group) == mine]
    verdict = compare(
        parsed,
        _parsed(state, parser, earlier),
        by=parser.format(parsed.format),
        level=level,
        policy=config.compatibility_policy,
    )
    messages += verdict.messages
    if messages:
        messages.append(trailer(level, validate_fields=validates))
    return Verdict(findings=verdict.findings, messages=tuple(messages))


def _check(
    state: RegistryState,
    parser: SchemaParser,
    subject: str,
    request: CheckRequest,
    earlier: Sequence[SchemaVersion],
) -> Verdict:
    try:
        definition, parsed = parser.canonical(
            state.schemas,
            subject,
            request.definition,
            normalize=normalizes(state, subject, request),
            is_new=True,
        )
        return verdict_for(state, parser, subject, definition, parsed, earlier)
    except InvalidSchemaRefused as error:
        if not request.verbose:
            raise
        return Verdict(messages=(str(error),))


def _parsed(
    state: RegistryState, parser: SchemaParser, versions: Sequence[SchemaVersion]
) -> Iterator[Earlier]:
    """Parsed one by one, as the level asks for them."""
    for one in versions:
        yield Earlier(one.version, parser.stored(state.schemas, one))


def _unreserved(definition: Definition, earlier: Sequence[SchemaVersion]) -> list[str]:
    """Reserved fields of the version before which the new metadata no longer reserve."""
    if not earlier:
        return []
    kept = reserved_fields(definition.metadata)
    return [
        f"The new schema has reserved field {name} removed from its metadata which is present in "
        "the old schema's metadata."
        for name in reserved_fields(earlier[0].definition.metadata)
        if name not in kept
    ]
