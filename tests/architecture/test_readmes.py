"""The Python in READMEs and guides is Python, and what stands in service's README works."""

import ast
import re
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for pattern in ("*.md", "*/*.md", "core_log/*/*.md", "docs/**/*.md", "tools/*/*.md")
    for path in ROOT.glob(pattern)
    if not path.relative_to(ROOT).parts[0].startswith(".")
)


def blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_python_block_parses(page: Path) -> None:
    """A reader can copy it."""
    for block in blocks(page):
        ast.parse(block)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_inside_the_repository_leads_somewhere(page: Path) -> None:
    """Relative links are paths of files that exist."""
    targets = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text())
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("part", ["service", "console"])
def test_a_file_map_names_every_file(part: str) -> None:
    """And no file that is not there."""
    text = (ROOT / part / "README.md").read_text()
    file_map = text[text.index("## File map") : text.index("## Non-obvious")]
    named = set(re.findall(r"^\| `([a-z_]+\.py)`", file_map, re.MULTILINE))
    assert named == {path.name for path in (ROOT / part).glob("*.py")} - {"__init__.py"}


def test_the_example_of_service_is_a_command() -> None:
    """It has the flags that the page speaks of, and reports a mistake as the page shows."""
    [program] = blocks(ROOT / "service" / "README.md")
    names: dict[str, Any] = {"__name__": "readme"}
    exec(compile(program, "service/README.md", "exec"), names)  # noqa: S102 - our own page
    relay = names["relay"]
    assert isinstance(relay, click.Command)
    assert "--linger-ms DURATION" in CliRunner().invoke(relay, ["--help"]).output
    result = CliRunner().invoke(relay, ["--linger-ms", "soon"])
    assert result.exit_code == 2
    assert 'flag --linger-ms: linger_ms = "soon": not a duration' in result.output
