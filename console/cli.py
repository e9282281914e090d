"""The ``headwater`` command: one group for the commands of every installed part.

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted. ``HEADWATER_TRACEBACK=1`` shows
where an unforeseen error came from.
"""

import os
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Final, NoReturn

import click

from .commands import Commands

TRACEBACK_VARIABLE: Final = "HEADWATER_TRACEBACK"
INTERRUPTED: Final = 130  # 128 + SIGINT, as shells count
BROKEN_PIPE: Final = 141  # 128 + SIGPIPE


def _show_version(ctx: click.Context, _parameter: click.Parameter, value: object) -> None:
    if value:
        click.echo(f"headwater {package_version()} (Python {sys.version.split()[0]})")
        ctx.exit()


def package_version() -> str:
    """The version of the installed distribution."""
    try:
        return version("headwater")
    except PackageNotFoundError:
        return "not installed"


headwater = Commands(
    name="headwater",
    help="A log that speaks the Kafka protocol, and what flows from it.",
    epilog="`headwater COMMAND --help` tells more about one command.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=True,
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_version,
            help="Show the version and exit.",
        )
    ],
)


def main() -> NoReturn:
    """Run the command line and exit."""
    sys.exit(_code())


def _code() -> int:
    try:
        result = headwater.main(prog_name="headwater", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (`head`) has enough. Keep the interpreter from complaining as it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            raise
        click.echo(f"Error: {type(error).__name__}: {error}", err=True)
        click.echo(f"({TRACEBACK_VARIABLE}=1 shows where it came from)", err=True)
        return 1
    return result if isinstance(result, int) else 0


if __name__ == "__main__":
    main()
