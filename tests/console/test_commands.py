"""Commands are found by name, loaded when called, and a broken one harms nobody else."""

import sys
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from headwater.console import commands
from headwater.console.commands import GROUP, Commands, installed, sentence

GOOD = '''\
"""``headwater good``: does good. And more.

Second paragraph.
"""
import click

@click.command()
@click.option("--count", default=1)
def good(count):
    click.echo("good " * count)
    return 3

number = 7
'''


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, EntryPoint]:
    """A folder of plugins on the path: one good, the others broken in a way each."""
    (tmp_path / "hw_good.py").write_text(GOOD)
    (tmp_path / "hw_raises.py").write_text(
        '"""Raises\nwhen imported."""\nraise OSError("no disk")\n'
    )
    (tmp_path / "hw_syntax.py").write_text("def (:\n")
    (tmp_path / "hw_silent.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    values = {
        "good": "hw_good:good",
        "raises": "hw_raises:x",
        "syntax": "hw_syntax:x",
        "silent": "hw_silent:missing",
        "absent": "hw_absent:x",
        "number": "hw_good:number",
    }
    return {name: EntryPoint(name, value, GROUP) for name, value in values.items()}


def invoke(modules: Mapping[str, EntryPoint], *arguments: str) -> Result:
    return CliRunner().invoke(Commands(name="headwater", found=lambda: modules), arguments)


def test_help_imports_nothing(modules: Mapping[str, EntryPoint]) -> None:
    """Every command is listed with its sentence, also one that cannot be loaded."""
    before = set(sys.modules)
    text = invoke(modules, "--help").output
    rows = dict(
        line.split(maxsplit=1)
        for line in text[text.index("Commands:") :].splitlines()[1:]
        if " " in line.strip()
    )
    assert rows["good"] == "does good. And more."
    assert rows["raises"] == "Raises when imported."
    assert rows["absent"] == "(not found)"
    assert rows["syntax"].startswith("(cannot be loaded: ")
    assert not {name for name in set(sys.modules) - before if name.startswith("hw_")}


def test_a_command_is_loaded_when_called(modules: Mapping[str, EntryPoint]) -> None:
    """With its arguments; its own help is its own."""
    assert invoke(modules, "good", "--count", "2").output == "good good \n"
    assert "--count" in invoke(modules, "good", "--help").output


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("raises", "'raises' (hw_raises:x) cannot be loaded: OSError: no disk"),
        ("syntax", "SyntaxError"),
        ("silent", "AttributeError"),
        ("absent", "ModuleNotFoundError: No module named 'hw_absent'"),
        ("number", "hw_good:number is not a click command"),
    ],
)
def test_a_broken_command_is_reported(
    modules: Mapping[str, EntryPoint], name: str, reason: str
) -> None:
    """In one line that names it, with code 1 and no traceback."""
    result = invoke(modules, name)
    assert result.exit_code == 1
    assert reason in result.output
    assert "Traceback" not in result.output


def test_a_mistyped_command_is_told_the_nearest(modules: Mapping[str, EntryPoint]) -> None:
    """Code 2, as for any wrong usage; nothing far-fetched is suggested."""
    result = invoke(modules, "god")
    assert result.exit_code == 2
    assert "No such command 'god'. Did you mean 'good'?" in result.output
    assert "Did you mean" not in invoke(modules, "xyzzy").output


def test_of_two_commands_with_one_name_the_first_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever order the distributions are found in."""
    both = [EntryPoint("a", "b:x", GROUP), EntryPoint("a", "a:x", GROUP)]
    for found in (both, both[::-1]):
        monkeypatch.setattr(commands, "entry_points", lambda group, found=found: found)
        assert installed()["a"].value == "a:x"


def test_the_installed_commands_are_those_declared() -> None:
    """Each entry of our own distribution leads to a module with a sentence of its own."""
    for name, entry in installed().items():
        assert entry.group == GROUP
        said = sentence(entry)
        assert said, f"{name} has no sentence"
        assert not said.startswith("("), f"{name}: {said}"
        assert isinstance(entry.load(), click.Command)
