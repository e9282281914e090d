"""Settings as click options: one flag for each declaration, and ``--config`` for the file.

    @click.command()
    @settings_options(BrokerSettings)
    def broker(**arguments: Any) -> None:
        loaded = load_settings(BrokerSettings, arguments, prefix="HEADWATER_BROKER")

Flags carry text; the loader parses it, so that a wrong flag is reported together with every other
problem. This is the edge: the environment is read here and nowhere further in.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from .kinds import (
    Duration,
    FilePath,
    Flag,
    HostPort,
    Kind,
    Listener,
    Listing,
    MappingOf,
    Number,
    OrNone,
    SecretText,
    Size,
    Whole,
)
from .places import SettingsInvalid
from .secrets import SecretSource
from .settings import Declaration, Loaded, declarations, load

F = TypeVar("F", bound=Callable[..., Any])
S = TypeVar("S")

CONFIG: Final = "config_file"
ROOTS_VARIABLE: Final = "HEADWATER_SECRET_ROOTS"
ROOTS_DEFAULT: Final = "/run/secrets"


class BadSettings(click.ClickException):
    """Settings problems, one per line, exit code 2 as for any wrong usage."""

    exit_code = 2


def settings_options(settings: type[Any]) -> Callable[[F], F]:
    """A decorator that gives a command one option per setting, and ``--config FILE``."""

    def decorate(command: F) -> F:
        # click shows the decorator applied last at the top.
        for declaration in reversed(declarations(settings)):
            command = _option(declaration)(command)
        return click.option(
            "--config",
            CONFIG,
            metavar="FILE",
            help="Settings file (YAML). Variables win over it, flags over both.",
        )(command)

    return decorate


def load_settings(
    settings: type[S],
    arguments: Mapping[str, Any],
    *,
    prefix: str,
    environment: Mapping[str, str] | None = None,
) -> Loaded[S]:
    """Settings from the arguments of a command made by settings_options, file and environment.

    ``HEADWATER_SECRET_ROOTS`` (``:`` between paths) says below which directories ``${file:…}`` may
    read. Raises BadSettings, which click prints.
    """
    variables = dict(os.environ if environment is None else environment)
    file = arguments.get(CONFIG)
    try:
        return load(
            settings,
            prefix=prefix,
            file=None if file is None else Path(file),
            environment=variables,
            flags=_given(settings, arguments),
            secrets=SecretSource(environment=variables, roots=_roots(variables)),
        )
    except SettingsInvalid as error:
        lines = "\n".join(f"  {problem}" for problem in error.problems)
        raise BadSettings(f"these settings cannot be used:\n{lines}") from error


def _option(declaration: Declaration) -> Callable[[F], F]:
    help_text = f"{declaration.sentence} {_default_text(declaration)}"
    if isinstance(declaration.kind, Flag):
        on = declaration.flags[0]
        names = f"{on}/--no-{on.removeprefix('--')}"
        return click.option(declaration.name, names, default=None, help=help_text)
    return click.option(
        declaration.name,
        *declaration.flags,
        metavar=_metavar(declaration),
        multiple=declaration.kind.is_repeated,
        help=help_text,
    )


def _default_text(declaration: Declaration) -> str:
    if declaration.is_required:
        return "[required]"
    text = "" if declaration.kind.is_secret else declaration.kind.render(declaration.default)
    return f"[default: {text}]" if text else ""


def _metavar(declaration: Declaration) -> str:
    kind = declaration.kind
    while isinstance(kind, Listing | OrNone):
        kind = kind.of
    return _METAVARS.get(type(kind), "VALUE")


_METAVARS: Final[dict[type[Kind[Any]], str]] = {
    Whole: "NUMBER",
    Number: "NUMBER",
    Duration: "DURATION",
    Size: "SIZE",
    FilePath: "PATH",
    Listener: "NAME://HOST:PORT",
    HostPort: "HOST:PORT",
    MappingOf: "NAME=VALUE",
    SecretText: "SECRET",
}


def _given(settings: type[Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    given = {}
    for declaration in declarations(settings):
        value = arguments.get(declaration.name)
        if value is None or value == ():
            continue
        given[declaration.name] = ("false", "true")[value] if isinstance(value, bool) else value
    return given


def _roots(environment: Mapping[str, str]) -> tuple[Path, ...]:
    text = environment.get(ROOTS_VARIABLE, ROOTS_DEFAULT)
    return tuple(Path(part) for part in text.split(":") if part)
