"""Messages of every class and version with random values, for tests and fuzzers of protocols.

Values come from the edges of their types: the smallest and largest numbers, lengths around the
point where a varint grows, null, text beyond ASCII. The dice decide everything, so a seed replays a
message.
"""

import pkgutil
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, Final, TypeVar

from ..kernel.errors import ErrorCode
from ..kernel.ports import Random
from ..protocol import coordinator, messages, metadata
from ..protocol.schema import BoundField, Message, WireStruct, fields_of, is_array, struct

S = TypeVar("S", bound=WireStruct)

BITS: Final = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
UNSIGNED_BITS: Final = {"uint16": 16, "uint32": 32}
TEXTS: Final = ("", "a", "topic-1", "grüße €", "\N{GRINNING FACE}", "x" * 126, "x" * 127, "x" * 300)
COUNTS: Final = (0, 1, 1, 2, 2, 3)
LONG_COUNTS: Final = (7, 8, 126, 127, 128)
"""Where prepared packers end, and where the varint of a length takes its second byte."""

T = TypeVar("T")


def message_classes() -> list[type[Message]]:
    """All messages: requests, responses, headers, records, in order of module and class name."""
    return [
        cls
        for package in (messages, metadata, coordinator)
        for module in _modules(package)
        for cls in _classes(module)
    ]


def random_message(
    cls: type[S], version: int, rng: Random, *, small: bool = False, plain: bool = False
) -> S:
    """A message that *version* can carry, and that comes back equal when read in that version.

    With *small*, arrays stay short and text shorter, so that whole suites stay quick. With *plain*,
    numbers stay small and positive: some peers read certain numbers as times and refuse the rest.
    """
    return cls(
        **{
            bound.name: _value(bound, version, rng, small=small, plain=plain)
            for bound in fields_of(cls)
            if version in bound.wire.versions
        }
    )


def _modules(package: ModuleType) -> list[ModuleType]:
    names = sorted(info.name for info in pkgutil.iter_modules(package.__path__))
    return [import_module(f"{package.__name__}.{name}") for name in names]


def _classes(module: ModuleType) -> list[type[Message]]:
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Message) and value is not Message
    ]
    return sorted(found, key=lambda cls: cls.__name__)


def _value(bound: BoundField, version: int, rng: Random, *, small: bool, plain: bool) -> Any:
    if version in bound.wire.nullable and rng.randrange(0, 4) == 0:
        return None
    if bound.wire.tag is not None and rng.randrange(0, 3) == 0:
        return bound.default()
    if not is_array(bound.wire):
        return _single(bound, bound.wire.kind.name, version, rng, small=small, plain=plain)
    assert bound.wire.element is not None
    element = bound.wire.element.name
    return [
        _single(bound, element, version, rng, small=small, plain=plain)
        for _ in range(_count(element, rng, small=small))
    ]


def _count(element: str, rng: Random, *, small: bool) -> int:
    if not small and element != struct.name and rng.randrange(0, 8) == 0:
        return _pick(LONG_COUNTS, rng)
    return _pick(COUNTS, rng)


def _single(
    bound: BoundField, kind: str, version: int, rng: Random, *, small: bool, plain: bool
) -> Any:
    if kind == struct.name:
        assert bound.struct_class is not None
        return random_message(bound.struct_class, version, rng, small=small, plain=plain)
    if bound.name.endswith("error_code"):
        return int(_pick(tuple(ErrorCode), rng))
    if plain and (kind in BITS or kind in UNSIGNED_BITS):
        return rng.randrange(0, 100)
    if kind in BITS:
        return _number(-(2 ** (BITS[kind] - 1)), 2 ** (BITS[kind] - 1) - 1, rng)
    if kind in UNSIGNED_BITS:
        return _number(0, 2 ** UNSIGNED_BITS[kind] - 1, rng)
    if kind == "float64":
        return _pick((0.0, -1.5, 1e300, float("inf")), rng)
    if kind == "bool":
        return rng.randrange(0, 2) == 1
    if kind == "uuid":
        return _pick((bytes(16), b"\xff" * 16, rng.randbytes(16)), rng)
    text = _pick(TEXTS[:5] if small else TEXTS, rng)
    return text if kind.endswith("string") else text.encode() + rng.randbytes(2)


def _number(smallest: int, largest: int, rng: Random) -> int:
    edges = (smallest, max(smallest, -1), 0, 1, largest - 1, largest)
    return _pick((*edges, rng.randrange(smallest, largest + 1)), rng)


def _pick(values: Sequence[T], rng: Random) -> T:
    return values[rng.randrange(0, len(values))]
