"""Our declarations against Kafka's definitions, field by field.

The definitions are the JSON files in Kafka's source tree (``clients``, ``metadata``,
``group-coordinator`` and so on, each with ``common/…/*.json`` somewhere below). They are not ours
to carry: name the directory that holds them in ``HEADWATER_KAFKA_SCHEMAS``, else this suite is left
out.
"""

import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from headwater.core_log.protocol.schema import (
    INT32_MAX,
    Message,
    Versions,
    WireStruct,
    fields_of,
    is_array,
)
from headwater.core_log.testing.messages import message_classes

SCHEMAS = os.environ.get("HEADWATER_KAFKA_SCHEMAS")
NOT_OURS = {"QuorumStateData"}
"""A file of JSON, not a message on a wire."""

pytestmark = pytest.mark.skipif(
    SCHEMAS is None, reason="HEADWATER_KAFKA_SCHEMAS does not name Kafka's message definitions"
)

EMPTY: dict[str, Any] = {"string": "", "bytes": b"", "uuid": bytes(16), "bool": False}


@cache
def definitions() -> dict[str, dict[str, Any]]:
    """Kafka's definitions by name, without those that have no versions any more."""
    found = {}
    for path in sorted(Path(SCHEMAS or "").rglob("*.json")):
        text = re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.MULTILINE)
        definition = json.loads(text)
        if definition.get("validVersions", "none") != "none":
            found[definition["name"]] = definition
    return found


def snake(name: str) -> str:
    """``TopicId`` to ``topic_id``; two names have digits or capitals of their own."""
    name = name.replace("KRaft", "Kraft").replace("2Pc", "_2pc")
    name = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name)
    return re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name).lower()


def test_every_message_is_declared() -> None:
    """All of Kafka's, and none that Kafka does not have."""
    ours = {cls.__name__ for cls in message_classes()}
    assert ours == definitions().keys() - NOT_OURS


@pytest.mark.parametrize("cls", message_classes(), ids=lambda cls: cls.__name__)
def test_a_message_is_declared_as_kafka_defines_it(cls: type[Message]) -> None:
    """Key, versions, and every field with its type, versions, tag and default."""
    definition = definitions()[cls.__name__]
    assert definition.get("apiKey", -1) == cls.API_KEY
    assert definition["validVersions"] == str(cls.VERSIONS)
    assert definition["flexibleVersions"] == str(cls.FLEXIBLE)
    common = {each["name"]: each["fields"] for each in definition.get("commonStructs", [])}
    assert_fields(cls, definition["fields"], common)


def assert_fields(
    cls: type[WireStruct], defined: list[dict[str, Any]], common: dict[str, list[dict[str, Any]]]
) -> None:
    assert [bound.name for bound in fields_of(cls)] == [snake(each["name"]) for each in defined]
    for bound, each in zip(fields_of(cls), defined, strict=True):
        wire = bound.wire
        kind = each["type"].removeprefix("[]")
        assert is_array(wire) == each["type"].startswith("[]")
        assert str(wire.versions) == (each.get("versions") or each["taggedVersions"])
        assert wire.nullable == Versions.parse(each.get("nullableVersions", "none"))
        assert wire.tag == each.get("tag")
        assert wire.ignorable == each.get("ignorable", False)
        own = wire.element or wire.kind
        if bound.struct_class is not None:
            assert kind[0].isupper()
            assert bound.struct_class.__name__.removesuffix("Response") == kind.removesuffix(
                "Response"
            )
            assert_fields(bound.struct_class, each.get("fields") or common[kind], common)
        else:
            fixed = each.get("flexibleVersions") == "none"
            assert own.name == ("inflexible_string" if fixed else kind)
        assert bound.default() == default_of(each, bound.struct_class)


def default_of(each: dict[str, Any], struct_class: type[WireStruct] | None) -> Any:
    """What Kafka gives a field that nobody sets: the text *null* is null, a JSON null nothing."""
    given = each.get("default")
    if given == "null" or each["type"] == "records":
        return None
    if each["type"].startswith("[]"):
        return []
    if struct_class is not None:
        return struct_class()
    if given is None:
        return EMPTY.get(each["type"], 0)
    if each["type"] == "bool":
        return str(given).lower() == "true"
    return given if each["type"] == "string" else int(str(given), 0)


def test_hexadecimal_defaults_are_numbers() -> None:
    """Kafka writes one default in hexadecimal."""
    assert default_of({"type": "int32", "default": "0x7fffffff"}, None) == INT32_MAX
