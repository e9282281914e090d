"""What README and the guides tell a reader to do works, and prints what they say."""

import re
from pathlib import Path

import pytest

from .pages import Page, steps

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]
KNOWN = re.compile(r"run|run, exit \d+|background|output|interrupt|file: [a-z_.-]+|not run: \S.*")


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_says_what_it_is(page: Path) -> None:
    """A block that is not run has its reason."""
    silent = [
        f"line {step.line}: {step.what!r}"
        for step in steps(page.read_text())
        if not KNOWN.fullmatch(step.what)
    ]
    assert silent == []


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_reader_can_follow_the_page(page: Path, tmp_path: Path) -> None:
    """Every block does what the page says, in a folder of its own."""
    reader = Page(tmp_path)
    try:
        for step in steps(page.read_text()):
            try:
                reader.follow(step)
            except AssertionError as error:
                raise AssertionError(f"{name(page)}, line {step.line}: {error}") from error
    finally:
        reader.close()


def test_a_block_is_found_with_its_comment() -> None:
    """The comment stands right before the block; one without is found, and has none."""
    page = "a\n<!-- run -->\n```sh\nls\n```\n\n<!-- interrupt -->\n\n```\nx\n```\n"
    found = [(step.what, step.language, step.text, step.line) for step in steps(page)]
    assert found == [("run", "sh", "ls\n", 2), ("interrupt", "", "", 7), ("", "", "x\n", 9)]


def test_an_output_that_differs_is_told(tmp_path: Path) -> None:
    """Lines are compared whole, but for spaces and what an ellipsis stands for."""
    reader = Page(tmp_path)
    shown = "<!-- run -->\n```sh\necho 'a  1'\n```\n<!-- output -->\n```text\n{}\n```\n"
    for step in steps(shown.format("a …")):
        reader.follow(step)
    [_, other] = steps(shown.format("a 2"))
    with pytest.raises(AssertionError, match="is not in"):
        reader.follow(other)
