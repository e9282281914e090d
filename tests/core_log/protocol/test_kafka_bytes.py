"""Records as Apache Kafka's own serializers wrote them, where no other oracle knows the messages.

Each line of ``kafka_bytes.tsv`` was made by Kafka 4.3.0 from the JSON beside it. To record anew,
hand the JSON to the class's ``JsonConverter.read`` and write the message it gives.
"""

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from headwater.core_log.protocol.codec import decode, encode
from headwater.core_log.protocol.schema import Message, WireStruct, fields_of, is_array
from headwater.core_log.testing.messages import message_classes

LINES = (Path(__file__).parent / "kafka_bytes.tsv").read_text().splitlines()[1:]
CLASSES = {cls.__name__: cls for cls in message_classes()}
CASES = [line.split("\t") for line in LINES]


def snake(name: str) -> str:
    """``topicId`` to ``topic_id``."""
    name = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name.replace("kRaft", "kraft"))
    return name.lower()


def from_json(cls: type[WireStruct], fields: dict[str, Any]) -> WireStruct:
    """The message that Kafka's JSON describes; fields it leaves out have their defaults."""
    values = {snake(name): value for name, value in fields.items()}
    assert values.keys() <= {bound.name for bound in fields_of(cls)}

    def one(kind: str, struct_class: type[WireStruct] | None, value: Any) -> Any:
        if value is None:
            return None
        if kind == "struct":
            assert struct_class is not None
            return from_json(struct_class, value)
        if kind == "uuid":
            return base64.urlsafe_b64decode(value + "==")
        return base64.b64decode(value) if kind == "bytes" else value

    found = {}
    for bound in fields_of(cls):
        if bound.name not in values:
            continue
        value = values[bound.name]
        if is_array(bound.wire) and value is not None:
            assert bound.wire.element is not None
            kind = bound.wire.element.name
            found[bound.name] = [one(kind, bound.struct_class, item) for item in value]
        else:
            found[bound.name] = one(bound.wire.kind.name, bound.struct_class, value)
    return cls(**found)


def test_every_record_in_every_version_is_there() -> None:
    """Of the metadata log and of the coordinators' logs."""
    assert {(name, int(version)) for name, version, *_ in CASES} == {
        (cls.__name__, version)
        for cls in CLASSES.values()
        for version in range(cls.VERSIONS.first, cls.VERSIONS.last + 1)
        if ".messages." not in cls.__module__
    }


@pytest.mark.parametrize(
    ("name", "version", "fields", "written"), CASES, ids=[f"{case[0]}-v{case[1]}" for case in CASES]
)
def test_bytes_that_kafka_wrote_are_read_and_written(
    name: str, version: str, fields: str, written: str
) -> None:
    """To the values that Kafka had, and back to the bytes it made of them."""
    cls: type[Message] = CLASSES[name]
    data = bytes.fromhex(written)
    message = decode(cls, int(version), data)
    assert message == from_json(cls, json.loads(fields))
    assert encode(message, int(version)) == data
