"""Files and descriptors with something wrong: refused, or a schema that works. Nothing else."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.schemas.formats.protobuf.oracle import CORPUS

from headwater.schemas.formats.contract import InvalidSchema
from headwater.schemas.formats.protobuf import PROTOBUF

TEXTS = [path.read_text() for path in sorted(CORPUS.glob("*.proto"))]
DESCRIPTORS = [base64.b64decode(PROTOBUF.parse(text, {}).rendered("serialized")) for text in TEXTS]
PIECES = st.sampled_from(
    [
        *["", " ", "\x00", "é", "\ud800", "\\", "\\xff", "/*", "//"],
        *"{}[]()<>;,.=-\"'",
        *["0", "1", "0x", "99999999999999999999", "1e999", "inf", "A"],
        *["message", "enum", "option", "reserved", "to", "max", "group", "oneof", "map", "extend"],
    ]
)
OPTIONS = """
syntax = "proto2";
package a.b;
import "google/protobuf/descriptor.proto";
extend google.protobuf.FileOptions { optional Opt opt = 50001; optional Opt opt2 = 50002; }
extend Sub { optional int32 inner = 100; }
message Sub { optional int32 x = 1; extensions 100 to 200; }
message Opt { optional int32 x = 1; repeated string names = 2; repeated Sub sub = 3;
  repeated E e = 4; optional float f = 5; optional double d = 6; optional Sub one = 8; }
enum E { A = 0; B = 1; }
"""
VALUES = st.sampled_from(
    [
        *["1", "-1", "0x" + "f" * 5000, "9" * 5000, "1e999", "-inf", "nan", "1.5f"],
        *['"\\xff"', '"a"', "true", "TRUE", "B", "{ }", "{ x: 1 }", "{ x: 'a' }"],
        *["{ [a.b.inner]: 1 }", "{ e: B e: 7 }", "{ sub: [{ x: 1 }, {}] }", "{ names: [1] }"],
        "{ [type.googleapis.com/a.b.M] { f: 1 } }",
    ]
)
NAMES = st.sampled_from(
    [
        *["java_package", "optimize_for", "deprecated", "java_multiple_files", "features"],
        *["features.field_presence", "uninterpreted_option", "(gone)", "(opt)", "(opt).x"],
        *["(opt).one.x", "(opt).sub", "(opt).gone", "(.a.b.opt2).e", "(opt).(inner)", "(opt).f"],
        *["(opt).names", "(opt2).d"],
    ]
)


def work_with(text: str) -> None:
    """Everything that the registry does with a text."""
    for is_new in (False, True):
        try:
            schema = PROTOBUF.parse(text, {}, is_new=is_new)
        except InvalidSchema:
            continue
        normal = schema.normalized()
        assert PROTOBUF.parse(schema.canonical, {}).canonical == schema.canonical
        assert PROTOBUF.parse(normal.canonical, {}).normalized().canonical == normal.canonical
        assert base64.b64decode(schema.rendered("serialized"))
        assert PROTOBUF.incompatibilities(reader=normal, writer=schema) == []
        assert isinstance(schema.canonical.encode(), bytes)


@pytest.mark.slow
@given(text=st.sampled_from(TEXTS), data=st.data())
def test_texts_with_pieces_put_in_and_cut_out(text: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 10)))
        text = text[:start] + data.draw(PIECES) + text[end:]
    work_with(text)


@pytest.mark.slow
@given(name=NAMES, value=VALUES, where=st.sampled_from(["file", "field", "default"]))
def test_options_with_any_value(name: str, value: str, where: str) -> None:
    if where == "file":
        work_with(f"{OPTIONS}option {name} = {value};")
    elif where == "field":
        work_with(f"{OPTIONS}message Z {{ optional int32 z = 1 [{name} = {value}]; }}")
    else:
        work_with(f"{OPTIONS}message Z {{ optional double z = 1 [default = {value}]; }}")


@pytest.mark.slow
@given(serialized=st.sampled_from(DESCRIPTORS), data=st.data())
def test_descriptors_with_bytes_changed(serialized: bytes, data: st.DataObject) -> None:
    changed = bytearray(serialized)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(changed) - 1))
        changed[place] = data.draw(st.integers(0, 255))
    work_with(base64.b64encode(changed).decode())


@given(text=st.text())
def test_any_text(text: str) -> None:
    work_with(text)
