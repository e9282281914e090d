"""The commands that installed packages bring, found by name and loaded only when called.

A package names them in its metadata, group ``headwater.commands``: ``topics =
"headwater.core_log.cli.topics:topics"``. ``headwater --help`` imports none of them: the sentence
beside a name is the first one of the module's docstring, read from its source. A command that
cannot be loaded is reported where it was asked for and leaves the others alone.
"""

import ast
import importlib.util
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Final, final

import click

GROUP: Final = "headwater.commands"


class BrokenCommand(click.ClickException):
    """A command that is installed but cannot be loaded."""

    exit_code = 1


@final
class Commands(click.Group):
    """A click group whose members are entry points. *found* stands in for them in tests."""

    def __init__(
        self, *, found: Callable[[], Mapping[str, EntryPoint]] | None = None, **options: object
    ) -> None:
        super().__init__(**options)  # type: ignore[arg-type]  # click's own, handed through
        self._found = found or installed

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(self._found())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        entry = self._found().get(cmd_name)
        return None if entry is None else _loaded(entry)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve as click does, with a suggestion for a name that does not exist."""
        if args and not args[0].startswith("-") and args[0] not in self._found():
            ctx.fail(f"No such command {args[0]!r}.{_suggestion(args[0], list(self._found()))}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names with their sentences, importing nothing."""
        del ctx
        rows = [(name, sentence(entry)) for name, entry in sorted(self._found().items())]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


def installed() -> Mapping[str, EntryPoint]:
    """Entry points of the group, by name; of two with one name, the one that sorts first."""
    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        found.setdefault(entry.name, entry)
    return found


def sentence(entry: EntryPoint) -> str:
    """The first sentence of the docstring of *entry*'s module, without importing the module."""
    try:
        spec = importlib.util.find_spec(entry.module)
        if spec is None or spec.origin is None:
            return "(not found)"
        with open(spec.origin, encoding="utf-8") as source:  # noqa: PTH123 - pathlib is 5 ms of start
            docstring = ast.get_docstring(ast.parse(source.read())) or ""
    except (ImportError, OSError, SyntaxError, ValueError) as error:
        return f"(cannot be loaded: {error})"
    first = docstring.split("\n\n", 1)[0].replace("\n", " ")
    return first.partition(": ")[2] if first.startswith("``") else first


def _loaded(entry: EntryPoint) -> click.Command:
    try:
        command = entry.load()
    except Exception as error:  # whatever a package does while it is imported
        raise BrokenCommand(
            f"the command {entry.name!r} ({entry.value}) cannot be loaded: "
            f"{type(error).__name__}: {error}"
        ) from error
    if not isinstance(command, click.Command):
        raise BrokenCommand(f"{entry.value} is not a click command")
    return command


def _suggestion(name: str, known: list[str]) -> str:
    from headwater.service.kinds import nearest  # noqa: PLC0415 - only a mistake pays for it

    close = nearest(name, known)
    return f" Did you mean {close!r}?" if close else ""
