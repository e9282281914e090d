"""The example of the README is true."""

import re
from pathlib import Path
from typing import Any

from tests.schemas.fake_format import fake_parser

import headwater.schemas
from headwater.schemas.state import RegistryState

README = Path(headwater.schemas.__file__).parent / "README.md"


def test_the_example_registers_a_schema() -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"__name__": "readme"}
    exec(compile(program, "schemas/README.md", "exec"), names)  # noqa: S102 - our own page
    state = RegistryState()
    assert [names["registered"](state, fake_parser(), "s", text) for text in ("a", "b?")] == [1, 2]


def test_the_file_map_names_every_file() -> None:
    """And no file that is not there."""
    text = README.read_text()
    named = set(re.findall(r"`([a-z_/]+\.py)`", text[text.index("## File map") :]))
    folder = README.parent
    here = {path.name for path in folder.glob("*.py")} - {"__init__.py"}
    assert here <= named
    every = {path.name for path in folder.rglob("*.py")}
    assert {Path(name).name for name in named} <= every
    commands = {path.name for path in (folder / "commands").glob("*.py")} - {"__init__.py"}
    assert commands <= {Path(name).name for name in named}
