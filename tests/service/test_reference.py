"""Pages and schemas say what the parser does."""

from dataclasses import dataclass

from headwater.service.kinds import Duration, SecretText, Text, Whole
from headwater.service.reference import json_schema, markdown
from headwater.service.secrets import Secret
from headwater.service.settings import setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    linger_ms: int = setting(
        Duration(), default=1500, sentence="How long a batch waits.", needs_restart=False
    )
    name: str = setting(Text(), sentence="What it is called.", flags=("--name", "-n"))
    password: Secret = setting(SecretText(), default=Secret("hush"), sentence="A secret.")
    node_id: int = setting(Whole(minimum=0, maximum=9), default=1, sentence="Number.")


def test_the_page_has_every_fact() -> None:
    """One section per setting, in the order of declaration."""
    page = markdown(Sample, prefix="APP")
    assert (
        page[: page.index("### name")]
        == """\
### linger_ms

How long a batch waits.

- accepts: duration such as 500ms, 30s, 7d
- default: `1500ms`
- file: `linger_ms`
- variable: `APP_LINGER_MS`
- flag: `--linger-ms`
- change: takes effect at once

"""
    )
    assert "- default: required" in page
    assert "- flag: `--name`, `-n`" in page
    assert "- accepts: whole number, 0 to 9" in page
    assert "hush" not in page


def test_the_schema_checks_a_file() -> None:
    """Unknown names are refused; bounds, defaults and sentences are there; no secret is."""
    schema = json_schema(Sample, title="Sample")
    assert schema["additionalProperties"] is False
    assert list(schema["properties"]) == ["linger_ms", "name", "password", "node_id"]
    assert schema["properties"]["node_id"] == {
        "type": "integer",
        "minimum": 0,
        "maximum": 9,
        "description": "Number.",
        "default": 1,
    }
    assert "hush" not in str(schema)
