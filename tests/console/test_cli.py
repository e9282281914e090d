"""The command as a process: version, help, codes, and a start that does not make one wait."""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import click
import pytest

from headwater.console import cli


def started(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "headwater.console.cli", *arguments],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        env={**os.environ, **variables},
    )


@pytest.mark.slow
def test_version_and_help() -> None:
    """Both on standard output, both code 0; no arguments show the help."""
    version = started("--version")
    assert version.returncode == 0
    assert version.stdout.startswith(f"headwater {cli.package_version()} (Python ")
    usage = started("--help")
    assert usage.returncode == 0
    assert usage.stdout.startswith("Usage: headwater [OPTIONS] COMMAND")
    assert "Usage: headwater" in started().stderr + started().stdout


@pytest.mark.slow
def test_help_is_quick() -> None:
    """It imports no part of the log and no client; it takes a tenth of a second."""
    program = (
        "import sys, time\n"
        "from headwater.console.cli import headwater\n"
        "try:\n    headwater.main(['--help'], prog_name='headwater')\n"
        "except SystemExit:\n    pass\n"
        "heavy = {'asyncio', 'confluent_kafka', 'msgspec', 'yaml', 'prometheus_client', 'rich'}\n"
        "own = {n for n in sys.modules if n.startswith('headwater.core_log.')}\n"
        "loaded = heavy & set(sys.modules) | {n for n in own if n.count('.') > 2}\n"
        "print(time.process_time(), sorted(loaded), file=sys.stderr)\n"
    )
    best = min(
        (
            subprocess.run(  # noqa: S603 - our own program
                [sys.executable, "-c", program],
                capture_output=True,
                text=True,
                timeout=30,
                check=True,
            ).stderr.split(" ", 1)
            for _ in range(3)
        ),
        key=lambda answer: float(answer[0]),
    )
    assert float(best[0]) < 0.3  # a busy machine inflates even this; the imports are what counts
    assert best[1] == "[]\n"


@pytest.mark.slow
def test_a_wrong_command_is_wrong_usage() -> None:
    """Code 2, on standard error."""
    result = started("no-such-thing")
    assert result.returncode == 2
    assert "No such command" in result.stderr
    assert result.stdout == ""


def raising(error: BaseException) -> Callable[..., Any]:
    def main(**_: object) -> None:
        raise error

    return main


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (click.UsageError("bad flag"), 2, "bad flag"),
        (click.ClickException("went wrong"), 1, "Error: went wrong"),
        (click.Abort(), 130, "interrupted"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ValueError("unforeseen"), 1, "Error: ValueError: unforeseen"),
    ],
)
def test_codes(
    error: BaseException,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An error is a line and a code; where it came from is shown on request only."""
    monkeypatch.setattr(cli.headwater, "main", raising(error))
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == code
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""


def test_an_unforeseen_error_can_be_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the variable set, it is raised as it was."""
    monkeypatch.setenv(cli.TRACEBACK_VARIABLE, "1")
    monkeypatch.setattr(cli.headwater, "main", raising(ValueError("x")))
    with pytest.raises(ValueError, match="x"):
        cli.main()


@pytest.mark.parametrize(("result", "code"), [(None, 0), (0, 0), (3, 3), ("text", 0)])
def test_what_a_command_returns_is_the_code(
    result: object, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A number is the exit code; anything else means it went well."""
    monkeypatch.setattr(cli.headwater, "main", lambda **_: result)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == code


@pytest.mark.slow
def test_a_reader_that_has_enough_is_no_error() -> None:
    """``headwater … | head -1`` says nothing on standard error."""
    program = (
        "import click, sys\n"
        "from headwater.console import cli\n"
        "def main(**_):\n    [click.echo('x' * 999) for _ in range(9999)]\n"
        "cli.headwater.main = main\n"
        "cli.main()\n"
    )
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(20) == cli.BROKEN_PIPE
