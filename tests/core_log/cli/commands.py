"""Commands as a user runs them: their output and their exit codes."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from click.testing import CliRunner

from headwater.console.cli import headwater as cli

TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[Any]:
        """Standard output as JSON, or as one JSON object a line."""
        if self.out.startswith("["):
            rows: list[Any] = json.loads(self.out)
            return rows
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def table(self) -> list[list[str]]:
        """Standard output as lines of words."""
        return [line.split() for line in self.out.splitlines()]


@final
class Commands:
    """``headwater``, with a cluster to talk to."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self._environment = {"HEADWATER_BOOTSTRAP": bootstrap}

    def __call__(
        self, *arguments: str | Path, given: str = "", code: int = 0, process: bool = False
    ) -> Result:
        """Run a command to its end; *code* is the exit code it must have.

        Here, where nothing else is asked for: a process for each would cost half a second.
        """
        words = list(map(str, arguments))
        result = self._process(words, given) if process else self._here(words, given)
        assert result.code == code, result
        assert "Traceback" not in result.err, result
        return result

    def _here(self, words: list[str], given: str) -> Result:
        done = CliRunner(env=self._environment).invoke(cli, words, input=given)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Result(code=done.exit_code, out=done.stdout, err=done.stderr)

    def _process(self, words: list[str], given: str) -> Result:
        done = subprocess.run(  # noqa: S603 - our own command line
            command_line(*words),
            input=given,
            env=os.environ | self._environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        return Result(code=done.returncode, out=done.stdout, err=done.stderr)


def command_line(*arguments: str | Path) -> Sequence[str]:
    return [sys.executable, "-m", "headwater.console.cli", *map(str, arguments)]
