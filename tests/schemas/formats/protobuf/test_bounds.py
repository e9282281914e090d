"""Texts made to cost much: the answer comes in about the time that reading them takes.

A schema may have a megabyte. The bounds here are seconds on a slow machine; what they would notice
is work that grows with the square of the text, which takes minutes.
"""

import time
from collections.abc import Callable

import pytest

from headwater.schemas.formats.contract import InvalidSchema
from headwater.schemas.formats.protobuf import PROTOBUF

P3 = 'syntax = "proto3";\n'
SIZE = 300_000
SECONDS_MAX = 15.0


def repeated(one: Callable[[int], str]) -> str:
    parts, size, number = [], 0, 0
    while size < SIZE:
        parts.append(one(number))
        size += len(parts[-1])
        number += 1
    return "".join(parts)


TEXTS = {
    "fields": P3 + f"message A {{ {repeated(lambda i: f'A f{i}={i + 20000};')} }}",
    "messages": P3 + repeated(lambda i: f"message M{i}{{M{i // 2} a=1;}}"),
    "enum and its reserved numbers": P3
    + f"enum E {{ X=0; reserved {','.join(str(-i) for i in range(1, 20_000))};"
    + repeated(lambda i: f"V{i}={i + 1};")
    + "}",
    "extend blocks of many ranges": "message A { extensions "
    + ",".join(str(2 * i) for i in range(1, 15_000))
    + ";}"
    + "".join(f"extend A{{optional A x{i}={2 * i + 2};}}" for i in range(10_000)),
    "defaults of a large enum": "enum E {"
    + "".join(f"V{i}={i};" for i in range(15_000))
    + "} message A {"
    + repeated(lambda i: f"optional E f{i}={i + 20000}[default=V9999];")
    + "}",
    "one option in many parts": P3 + repeated(lambda i: f"option (a).b{i} = {i};"),
    "one declared option in many parts": P3
    + "extend google.protobuf.FileOptions { O o = 50001; repeated string r = 50002; }"
    + "message O { repeated string t = 1; }"
    + repeated(lambda i: f"option (o).t = '{i}';option (r) = '{i}';"),
    "a value of many values": P3 + f"option (a) = {{ {repeated(lambda i: f'b: {i} ')} }};",
    "stars": "/*" + "*" * SIZE,
    "quotes": 'option a = "' + '\\"' * SIZE,
    "digits": P3 + "message A { int32 b = " + "9" * SIZE,
    "blanks": " \n" * SIZE + "!",
    "comments": "//\n" * SIZE + "!",
}


@pytest.mark.slow
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_large_texts_are_answered_soon(text: str) -> None:
    """Parsed strictly, printed, normalized, described and compared with itself, or refused."""
    started = time.process_time()
    try:
        schema = PROTOBUF.parse(text, {}, is_new=True)
    except InvalidSchema:
        assert text.endswith(("!", "*", "9", '"'))
    else:
        normal = schema.normalized()
        assert schema.rendered("serialized")
        assert PROTOBUF.incompatibilities(reader=normal, writer=schema) == []
    assert time.process_time() - started < SECONDS_MAX
