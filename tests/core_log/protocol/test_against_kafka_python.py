"""Every message that kafka-python knows: it reads ours and writes the same bytes.

Where it reads a number as a set of flags, bytes alone are compared. Its ApiVersionsResponse guesses
the version from the bytes, so it cannot be asked for one.
"""

import random
import uuid
import warnings
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest

from headwater.core_log.protocol.codec import encode
from headwater.core_log.protocol.schema import BoundField, Message, WireStruct, fields_of
from headwater.core_log.testing.messages import message_classes, random_message

FLAGS = {
    "authorized_operations",
    "cluster_authorized_operations",
    "topic_authorized_operations",
}


def kafka_python_classes() -> dict[str, Any]:
    """Its requests and responses by name."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # It loads its schemas the old way.
        modules = [import_module("kafka.protocol.sasl")]
        for package in ("admin", "consumer", "metadata", "producer"):
            home = import_module(f"kafka.protocol.{package}")
            names = [info.name for info in iter_modules(home.__path__)]
            modules += [import_module(f"{home.__name__}.{name}") for name in names]
    for module in modules:
        found.update(vars(module))
    return found


THEIRS = kafka_python_classes()
CASES = [
    pytest.param(cls, version, id=f"{cls.__name__}-v{version}")
    for cls in message_classes()
    for version in range(cls.VERSIONS.first, cls.VERSIONS.last + 1)
    if ".messages." in cls.__module__
    and cls.__name__ in THEIRS
    and cls.__name__ != "ApiVersionsResponse"
]


def assert_same(ours: WireStruct, theirs: Any, version: int) -> None:
    """Field by field, in this version."""
    for bound in fields_of(type(ours)):
        if version not in bound.wire.versions or bound.name in FLAGS:
            continue
        value = getattr(ours, bound.name)
        found = getattr(theirs, bound.name.replace("_2pc", "2_pc"))
        if isinstance(value, list):
            assert len(value) == len(found)
            for item, other in zip(value, found, strict=True):
                assert_same_value(bound, item, other, version)
        else:
            assert_same_value(bound, value, found, version)


def assert_same_value(bound: BoundField, value: Any, found: Any, version: int) -> None:
    if found is None:
        assert value in (None, bound.default(), bytes(16))
    elif isinstance(value, WireStruct):
        assert_same(value, found, version)
    elif isinstance(found, uuid.UUID):
        assert found.bytes == value
    else:
        assert found == value


def test_most_of_its_messages_are_compared() -> None:
    """A change of its layout must not make this suite silently empty."""
    assert len({param.values[0] for param in CASES}) > 90
    assert len(CASES) > 400


@pytest.mark.parametrize(("cls", "version"), CASES)
def test_kafka_python_reads_what_we_write_and_writes_it_again(
    cls: type[Message], version: int
) -> None:
    """The values are the same, and so are the bytes."""
    for seed in range(2):
        rng = random.Random(f"{cls.__name__} {version} {seed}")
        message = random_message(cls, version, rng, small=True)
        data = encode(message, version)
        theirs = THEIRS[cls.__name__].decode(data, version=version)
        assert_same(message, theirs, version)
        theirs._header = None
        assert bytes(theirs.encode(version=version)) == data
