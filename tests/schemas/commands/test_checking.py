"""Compatibility checks that register nothing."""

from typing import Any

import pytest
from tests.schemas.registry import Registry, refusal

from headwater.schemas import commands
from headwater.schemas.commands import CheckRequest
from headwater.schemas.errors import InvalidSchemaRefused, InvalidVersion, VersionNotFound


def check(
    registry: Registry, text: str, version: str | None = None, subject: str = "s", **request: Any
) -> list[str]:
    asked = CheckRequest(text=text, **request)
    length = len(registry.topic)
    if version is None:
        verdict = commands.check_against_subject(registry.state, registry.parser, subject, asked)
    else:
        verdict = commands.check_against_version(
            registry.state, registry.parser, subject, version, asked
        )
    assert len(registry.topic) == length
    assert verdict.is_compatible == (not verdict.messages)
    return list(verdict.messages)


@pytest.fixture
def registry() -> Registry:
    """Version 1 has a and b, version 2 has a."""
    registry = Registry()
    registry.register("s", "a b")
    registry.register("s", "a")
    return registry


def test_a_check_answers_as_a_registration_would(registry: Registry) -> None:
    assert check(registry, "a z?") == []
    assert check(registry, "a b") == [
        "field 'b' of the new schema is not in the old schema",
        "{oldSchemaVersion: 2}",
        "{oldSchema: 'a'}",
        "{validateFields: 'false', compatibility: 'BACKWARD'}",
    ]


def test_one_version_may_be_asked_about(registry: Registry) -> None:
    assert check(registry, "a b", "1") == []
    assert check(registry, "a b", "latest") == check(registry, "a b", "-1")
    assert check(registry, "a b", "latest") == check(registry, "a b")


def test_the_level_decides_here_too(registry: Registry) -> None:
    registry.configure("s", compatibility="FORWARD")
    assert check(registry, "z", "1")[:2] == [
        "field 'a' of the old schema is not in the new schema",
        "field 'b' of the old schema is not in the new schema",
    ]
    registry.configure("s", compatibility="BACKWARD_TRANSITIVE")
    assert check(registry, "a") == []
    registry.configure("s", compatibility="FORWARD_TRANSITIVE")
    assert check(registry, "a")[:2] == [
        "field 'b' of the old schema is not in the new schema",
        "{oldSchemaVersion: 1}",
    ]
    registry.configure("s", compatibility="NONE")
    assert check(registry, "z", "1") == check(registry, "z") == []


def test_unknown_subjects_take_anything_valid(registry: Registry) -> None:
    assert check(registry, "z", subject="t") == check(registry, "z", "latest", "t") == []
    with refusal(VersionNotFound, "Version 1 not found."):
        check(registry, "z", "1", "t")
    with pytest.raises(InvalidSchemaRefused):
        check(registry, "bad!", "latest", "t")


def test_deleted_versions_are_not_there(registry: Registry) -> None:
    registry.delete("s", "2")
    with refusal(VersionNotFound, "Version 2 not found."):
        check(registry, "a", "2")
    assert check(registry, "a b", "latest") == check(registry, "a b") == []


def test_invalid_schemas_are_messages_when_verbose(registry: Registry) -> None:
    for text in ("bad!", "old!", ""):
        with pytest.raises(InvalidSchemaRefused) as refused:
            check(registry, text)
        assert check(registry, text, verbose=True) == [str(refused.value)]
        assert check(registry, text, "1", verbose=True) == [str(refused.value)]


def test_versions_must_be_versions(registry: Registry) -> None:
    with pytest.raises(InvalidVersion):
        check(registry, "a", "first", verbose=True)


def test_checks_normalize_where_asked(registry: Registry) -> None:
    assert check(registry, "b a", normalize=True)[-2] == "{oldSchema: 'a'}"
