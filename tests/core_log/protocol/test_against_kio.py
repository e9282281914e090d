"""Every message that kio knows, in every version: kio reads ours and writes the same bytes.

kio is generated from Kafka's definitions by other people; its classes hold times, UUIDs and error
codes where ours hold numbers and bytes. It raises on unknown tagged fields and on numbers that are
no time, so neither is asked of it here.
"""

import dataclasses
import datetime as dt
import io
import random
import re
import uuid
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest
from kio.serial import entity_reader, entity_writer

from headwater.core_log.protocol.codec import decode, encode
from headwater.core_log.protocol.schema import Message, WireStruct, fields_of, is_array
from headwater.core_log.testing.messages import message_classes, random_message

MILLISECOND = dt.timedelta(milliseconds=1)
KINDS = (("_request", "request"), ("_response", "response"), ("", "data"), ("", "header"))


def kio_class(cls: type[Message], version: int) -> Any:
    """kio's class for this version; None when it has none."""
    name = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", cls.__name__)
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name).lower()
    for suffix, kind in KINDS:
        package = f"kio.schema.{name.removesuffix(suffix)}"
        if not name.endswith(suffix) or find_spec(package) is None:
            continue
        module = f"{package}.v{version}.{kind}"
        if find_spec(f"{package}.v{version}") is not None and find_spec(module) is not None:
            return getattr(import_module(module), cls.__name__)
    return None


def ours(entity: Any, cls: type[WireStruct], version: int) -> WireStruct:
    """kio's object as one of ours. Fields go by position: both follow Kafka's order."""
    present = [bound for bound in fields_of(cls) if version in bound.wire.versions]
    values = [getattr(entity, field.name) for field in dataclasses.fields(entity)]

    def plain(value: Any, struct_class: type[WireStruct] | None, kind: str) -> Any:
        if kind == "uuid":
            return bytes(16) if value is None else value.bytes
        if value is None or struct_class is None:
            return number(value)
        return ours(value, struct_class, version)

    found = {}
    for bound, value in zip(present, values, strict=True):
        if is_array(bound.wire) and value is not None:
            assert bound.wire.element is not None
            element = bound.wire.element.name
            found[bound.name] = [plain(item, bound.struct_class, element) for item in value]
        else:
            found[bound.name] = plain(value, bound.struct_class, bound.wire.kind.name)
    return cls(**found)


def number(value: Any) -> Any:
    if isinstance(value, dt.timedelta):
        return value // MILLISECOND
    if isinstance(value, dt.datetime):
        return round(value.timestamp() * 1000)
    assert not isinstance(value, uuid.UUID)
    return value


CASES = [
    pytest.param(cls, version, id=f"{cls.__name__}-v{version}")
    for cls in message_classes()
    for version in range(cls.VERSIONS.first, cls.VERSIONS.last + 1)
    if ".messages." in cls.__module__
]


@pytest.mark.parametrize(("cls", "version"), CASES)
def test_kio_reads_what_we_write_and_writes_it_again(cls: type[Message], version: int) -> None:
    """The values are the same, and so are the bytes; what kio wrote, we read."""
    theirs = kio_class(cls, version)
    assert theirs is not None
    for seed in range(2):
        rng = random.Random(f"{cls.__name__} {version} {seed}")
        message = random_message(cls, version, rng, small=True, plain=True)
        data = encode(message, version)
        entity, size = entity_reader(theirs)(data, 0)
        assert size == len(data)
        assert ours(entity, cls, version) == message
        written = io.BytesIO()
        entity_writer(theirs)(written, entity)
        assert written.getvalue() == data
        assert decode(cls, version, written.getvalue()) == message
