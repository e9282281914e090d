"""Settings of a process: declared once on a frozen dataclass, loaded from four layers.

    @dataclass(frozen=True, slots=True, kw_only=True)
    class BrokerSettings:
        node_id: int = setting(Whole(minimum=0), default=1, sentence="Number of this node.")
        linger_ms: int = setting(Duration(), default=0, sentence="How long a batch waits.")

    loaded = load(
        BrokerSettings, prefix="HEADWATER_BROKER", file=Path("broker.yaml"),
        environment=os.environ, flags={"linger_ms": "5ms"}, secrets=source,
    )
    loaded.values.linger_ms, loaded.places["linger_ms"]

Layers, weakest first: defaults, file (YAML), environment (``HEADWATER_BROKER_LINGER_MS``), flags
(``--linger-ms``). A stronger layer replaces a value; mappings are merged name by name. Text may
hold references to secrets. All problems are reported at once, each with its place, value and
reason. The same declarations make click options (``options``), reference pages and JSON Schema
(``reference``).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar, cast

from .kinds import Invalid, Kind, MappingOf, Raw, nearest
from .places import Origin, Place, Problem, SettingsInvalid, escaped, shown
from .secrets import REDACTED, ReferenceInvalid, SecretSource, has_reference
from .yaml_file import FILE_BYTES_MAX, Located, read

T = TypeVar("T")
S = TypeVar("S")

_KEY: Final = "headwater.setting"
_REQUIRED: Final[Any] = object()

_KUBERNETES: Final = re.compile(r"(SERVICE_HOST|SERVICE_PORT\w*|PORT|PORT_\d+_\w+)")
"""What Kubernetes sets for a service that happens to be called like our prefix."""


class SettingConflict(ValueError):
    """Raised by ``__post_init__`` of a settings class when values do not go together.

    *names* are the settings to blame; the loader adds their places.
    """

    def __init__(self, reason: str, *names: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.names = names


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """One setting, as parser, command line, documentation and error messages need it."""

    name: str
    kind: Kind[Any]
    sentence: str
    default: Any
    """The parsed default; meaningless when *is_required*."""
    is_required: bool
    needs_restart: bool
    flags: tuple[str, ...]

    def variable(self, prefix: str) -> str:
        """The environment variable of this setting."""
        return f"{prefix}_{self.name}".upper()


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded(Generic[S]):
    """Settings and where each value came from; a merged mapping names its strongest layer."""

    values: S
    places: Mapping[str, Place]


def setting(
    kind: Kind[T],
    *,
    sentence: str,
    default: T = _REQUIRED,
    needs_restart: bool = True,
    flags: tuple[str, ...] = (),
) -> T:
    """A field of a settings class. Without *default* the setting is required.

    *sentence* tells an operator what the setting does and when to change it. *flags* replaces the
    flag made from the name (``linger_ms`` → ``--linger-ms``), the long one first.
    """
    extra: dict[str, Any] = {_KEY: (kind, sentence, needs_restart, flags)}
    if default is _REQUIRED:
        return cast("T", field(metadata=extra))
    return field(metadata=extra, default_factory=lambda: default)


def declarations(settings: type[Any]) -> tuple[Declaration, ...]:
    """The settings that a class declares, in their order."""
    found = []
    for entry in fields(settings):
        assert _KEY in entry.metadata, f"{settings.__name__}.{entry.name} is not a setting()"
        kind, sentence, needs_restart, flags = entry.metadata[_KEY]
        is_required = entry.default_factory is MISSING
        found.append(
            Declaration(
                name=entry.name,
                kind=kind,
                sentence=sentence,
                default=None if entry.default_factory is MISSING else entry.default_factory(),
                is_required=is_required,
                needs_restart=needs_restart,
                flags=flags or ("--" + entry.name.replace("_", "-"),),
            )
        )
    return tuple(found)


def load(
    settings: type[S],
    *,
    prefix: str,
    file: Path | None = None,
    environment: Mapping[str, str],
    flags: Mapping[str, Raw],
    secrets: SecretSource | None = None,
) -> Loaded[S]:
    """The settings and their places.

    *flags* holds the flags given, by name of the setting, as text (a sequence of texts where the
    flag repeats). Without *secrets*, references may lead to *environment* only. Raises
    SettingsInvalid with every problem found.
    """
    declared = {declaration.name: declaration for declaration in declarations(settings)}
    problems: list[Problem] = []
    file_layer = _file_layer(declared, file, problems)
    layers = [
        *([] if file_layer is None else [file_layer]),
        _environment_layer(declared, prefix, environment, problems),
        _flag_layer(declared, flags),
    ]
    source = secrets or SecretSource(environment=environment)
    values: dict[str, Any] = {}
    places: dict[str, Place] = {}
    for name, declaration in declared.items():
        written = [layer[name] for layer in layers if name in layer]
        places[name] = written[-1].place if written else Place(origin=Origin.DEFAULT)
        try:
            values[name] = _value(declaration, written, source)
        except SettingsInvalid as error:
            # What an unreadable file would have set is not missing.
            problems.extend(p for p in error.problems if p.place or file_layer is not None)
    if problems:
        raise SettingsInvalid(_in_reading_order(problems))
    return Loaded(values=_built(settings, values, places), places=places)


def _file_layer(
    declared: Mapping[str, Declaration], file: Path | None, problems: list[Problem]
) -> dict[str, Located] | None:
    """What the file sets; None when it cannot be read as settings."""
    if file is None:
        return {}
    try:
        root = read(_file_text(file), name=escaped(str(file)))
    except SettingsInvalid as error:
        problems.extend(error.problems)
        return None
    if not isinstance(root.content, dict):
        reason = "a settings file is a mapping of names to values"
        problems.append(Problem(place=root.place, setting=None, shown=None, reason=reason))
        return None
    layer = {}
    for name, entry in root.content.items():
        if name in declared:
            layer[name] = entry.value
        else:
            problems.append(_unknown(entry.key_place, name, declared))
    return layer


def _file_text(file: Path) -> str:
    place = Place(origin=Origin.FILE, name=escaped(str(file)))
    try:
        with file.open("rb") as stream:
            content = stream.read(FILE_BYTES_MAX + 1)
        return content.decode("utf-8-sig")
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    except UnicodeDecodeError as error:
        reason = f"not UTF-8 text, at byte {error.start}"
    raise SettingsInvalid([Problem(place=place, setting=None, shown=None, reason=reason)])


def _environment_layer(
    declared: Mapping[str, Declaration],
    prefix: str,
    environment: Mapping[str, str],
    problems: list[Problem],
) -> dict[str, Located]:
    names = {declaration.variable(prefix): declaration.name for declaration in declared.values()}
    layer = {}
    for variable in sorted(environment):
        if not variable.startswith(f"{prefix}_"):
            continue
        place = Place(origin=Origin.VARIABLE, name=escaped(variable))
        if variable in names:
            layer[names[variable]] = Located(content=environment[variable], place=place)
        elif not _KUBERNETES.fullmatch(variable.removeprefix(f"{prefix}_")):
            problems.append(_unknown(place, variable, names))
    return layer


def _flag_layer(
    declared: Mapping[str, Declaration], flags: Mapping[str, Raw]
) -> dict[str, Located]:
    layer = {}
    for name, raw in flags.items():
        place = Place(origin=Origin.FLAG, name=declared[name].flags[0])
        layer[name] = _located(raw, place)
    return layer


def _located(raw: Raw, place: Place) -> Located:
    if raw is None or isinstance(raw, str):
        return Located(content=raw, place=place)
    assert not isinstance(raw, Mapping), "flags are text or lists of text"
    return Located(content=tuple(_located(entry, place) for entry in raw), place=place)


def _value(declaration: Declaration, written: list[Located], source: SecretSource) -> Any:
    """What the layers say of one setting, weakest layer first in *written*."""
    if not written:
        if declaration.is_required:
            raise SettingsInvalid([_missing(declaration)])
        return declaration.default
    if not isinstance(declaration.kind, MappingOf):
        return _parsed(declaration, written[-1], source)
    merged: dict[str, Any] = {}
    for located in written:
        merged |= _parsed(declaration, located, source)
    return MappingProxyType(merged)


def _parsed(declaration: Declaration, located: Located, source: SecretSource) -> Any:
    try:
        raw = _resolved(located, source)
    except _ReferenceAt as error:
        raise SettingsInvalid([_problem(declaration, error.located, str(error))]) from None
    try:
        return declaration.kind.parse(raw)
    except Invalid as error:
        culprit = located.at(error.path)
        # from None: the cause may hold the value that a reference led to.
        raise SettingsInvalid([_problem(declaration, culprit, error.reason)]) from None


class _ReferenceAt(Exception):
    def __init__(self, located: Located, reason: str) -> None:
        super().__init__(reason)
        self.located = located


def _resolved(located: Located, source: SecretSource) -> Raw:
    content = located.content
    if isinstance(content, dict):
        return {name: _resolved(entry.value, source) for name, entry in content.items()}
    if isinstance(content, tuple):
        return [_resolved(entry, source) for entry in content]
    if content is None or not has_reference(content):
        return content
    try:
        return source.resolve(content)
    except ReferenceInvalid as error:
        raise _ReferenceAt(located, str(error)) from None


def _problem(declaration: Declaration, culprit: Located, reason: str) -> Problem:
    content = culprit.content
    written = shown(content) if isinstance(content, str) else None
    if written is not None and declaration.kind.is_secret:
        written = REDACTED
    return Problem(
        place=culprit.place, setting=declaration.name, shown=written, reason=escaped(reason)
    )


def _missing(declaration: Declaration) -> Problem:
    reason = f"required, and set nowhere; give {declaration.flags[0]} ({declaration.kind.accepts})"
    return Problem(place=None, setting=declaration.name, shown=None, reason=reason)


def _unknown(place: Place, name: str, known: Iterable[str]) -> Problem:
    close = nearest(name, list(known))
    hint = f"; did you mean {close}?" if close else ""
    return Problem(
        place=place, setting=None, shown=shown(name), reason=f"there is no such setting{hint}"
    )


def _in_reading_order(problems: Iterable[Problem]) -> list[Problem]:
    """The file from its top, then variables, then flags, then what stands nowhere."""
    origins = list(Origin)

    def position(problem: Problem) -> tuple[int, int, int]:
        place = problem.place
        if place is None:
            return (len(origins), 0, 0)
        return (origins.index(place.origin), place.line or 0, place.column or 0)

    return sorted(problems, key=position)


def _built(settings: type[S], values: Mapping[str, Any], places: Mapping[str, Place]) -> S:
    try:
        return settings(**values)
    except SettingConflict as error:
        blamed = [f"{name} from {places[name]}" for name in error.names]
        reason = error.reason + (f" ({', '.join(blamed)})" if blamed else "")
        problem = Problem(
            place=places[error.names[0]] if error.names else None,
            setting=error.names[0] if error.names else None,
            shown=None,
            reason=reason,
        )
        raise SettingsInvalid([problem]) from error
