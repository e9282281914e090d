"""The page of the package is true."""

import re
from pathlib import Path

import headwater.schemas.formats.avro

FOLDER = Path(headwater.schemas.formats.avro.__file__).parent
PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")


def test_the_example_runs() -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    exec(compile(program, "avro/README.md", "exec"), {})  # noqa: S102 - our own page


def test_the_file_map_names_every_file() -> None:
    """And no file that is not there."""
    named = set(re.findall(r"`([a-z_]+\.py)`", PAGE[PAGE.index("## File map") :]))
    assert named == {path.name for path in FOLDER.glob("*.py")} - {"__init__.py"}
