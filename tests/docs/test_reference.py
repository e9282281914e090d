"""The reference says what the code says."""

import re

import pytest
from tools.docs import FOLDER, pages

from headwater.core_log.broker.handlers import HANDLERS
from headwater.core_log.kernel.topic_configs import TOPIC_CONFIGS

PAGES = pages()


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_committed_page_is_what_the_code_says(name: str) -> None:
    """``make docs`` would change nothing."""
    assert (FOLDER / name).read_text() == PAGES[name], "run `make docs`"


def test_no_page_is_left_over() -> None:
    """Every page is written by the generator."""
    assert {path.name for path in FOLDER.glob("*.md")} == set(PAGES)


def test_every_api_says_what_it_is() -> None:
    """Each handler's page starts with its own name and key."""
    for handler in HANDLERS.values():
        name, key = handler.api.name, handler.api.key
        assert f"## {name}\n\n{name} (key {key}), version" in PAGES["protocol.md"]


def test_what_acts_is_told_from_what_is_only_accepted() -> None:
    """Every topic configuration is listed once; retention acts, remote storage does not."""
    page = PAGES["topic-configurations.md"]
    assert re.findall(r"^\| `([a-z0-9.]+)`", page, re.MULTILINE) == list(TOPIC_CONFIGS)
    acts = dict(re.findall(r"^\| `([a-z0-9.]+)` \|[^|]*\|[^|]*\| ([^|]*) \|", page, re.MULTILINE))
    assert acts["retention.ms"] == "yes"
    assert acts["remote.storage.enable"] == "accepted"


def test_links_between_the_pages_lead_to_headings() -> None:
    """The table of APIs links to sections of its page."""
    page = PAGES["protocol.md"]
    headings = {heading.lower() for heading in re.findall(r"^## (.*)$", page, re.MULTILINE)}
    assert set(re.findall(r"\(#([a-z]+)\)", page)) == headings
