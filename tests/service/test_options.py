"""Declarations become flags; wrong ones end the command with every problem and code 2."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click
from click.testing import CliRunner, Result

from headwater.service.kinds import Flag, Listing, MappingOf, SecretText, Text, Whole
from headwater.service.options import load_settings, settings_options
from headwater.service.secrets import Secret
from headwater.service.settings import setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    node_id: int = setting(Whole(minimum=0), default=1, sentence="Number of this node.")
    names: tuple[str, ...] = setting(
        Listing(of=Text(), count_min=1), sentence="Names.", flags=("--name", "-n")
    )
    configs: Mapping[str, str] = setting(
        MappingOf(of=Text()), default=MappingProxyType({}), sentence="More.", flags=("--set",)
    )
    is_eager: bool = setting(Flag(), default=True, sentence="Eager.", flags=("--eager",))
    password: Secret = setting(SecretText(), default=Secret("default-pw"), sentence="Secret.")


@click.command()
@settings_options(Sample)
def command(**arguments: Any) -> None:
    click.echo(repr(load_settings(Sample, arguments, prefix="APP").values))


def invoke(*arguments: str, environment: Mapping[str, str] | None = None) -> Result:
    return CliRunner().invoke(command, arguments, env=dict(environment or {}))


def test_flags_become_settings(tmp_path: Path) -> None:
    """Repeated flags are lists and mappings, and a switch has its opposite."""
    (tmp_path / "a.yaml").write_text("node_id: 3\nconfigs: {b: z}\n")
    result = invoke(
        *("--config", str(tmp_path / "a.yaml"), "--name", "a,b", "-n", "c"),
        *("--set", "a=x,y", "--no-eager", "--password", "hush"),
    )
    assert result.exit_code == 0
    assert "node_id=3, names=('a,b', 'c')" in result.output
    assert "{'b': 'z', 'a': 'x,y'}" in result.output
    assert "is_eager=False, password=[secret]" in result.output


def test_a_flag_not_given_leaves_the_variable(tmp_path: Path) -> None:
    """Silence is not a value: defaults of flags never cover weaker layers."""
    (tmp_path / "pw").write_text("x")
    environment = {
        "APP_IS_EAGER": "no",
        "APP_NAMES": "a,b",
        "APP_PASSWORD": f"${{file:{tmp_path}/pw}}",
        "HEADWATER_SECRET_ROOTS": str(tmp_path),
    }
    result = invoke(environment=environment)
    assert result.exit_code == 0, result.output
    assert "names=('a', 'b')" in result.output
    assert "is_eager=False" in result.output


def test_problems_end_the_command() -> None:
    """All of them on lines of their own, exit code 2, no traceback."""
    result = invoke("--node-id", "-1", environment={"APP_EAGER": "x"})
    assert result.exit_code == 2
    assert result.output.splitlines() == [
        "Error: these settings cannot be used:",
        '  variable APP_EAGER: "APP_EAGER": there is no such setting; did you mean APP_IS_EAGER?',
        '  flag --node-id: node_id = "-1": below the minimum of 0',
        "  names: required, and set nowhere; give --name (list of: text)",
    ]


def test_help_tells_everything_but_secrets() -> None:
    """Sentence, form and default of each setting."""
    text = invoke("--help").output
    for word in ("--node-id NUMBER", "[default: 1]", "[required]", "--eager / --no-eager"):
        assert word in text
    assert "--set NAME=VALUE" in text
    assert "default-pw" not in text
