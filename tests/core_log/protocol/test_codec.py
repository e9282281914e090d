"""All messages in all versions, against an encoder that a child could write."""

import contextlib
import random
import struct
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.core_log.kernel.ports import Buffer
from headwater.core_log.protocol.codec import (
    decode,
    decode_prefix,
    encode,
    encode_parts,
    holds_views,
)
from headwater.core_log.protocol.errors import DecodeError
from headwater.core_log.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from headwater.core_log.protocol.messages.metadata import MetadataRequest
from headwater.core_log.protocol.messages.produce import ProduceRequest
from headwater.core_log.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from headwater.core_log.protocol.schema import BoundField, Message, WireStruct, fields_of, is_array
from headwater.core_log.testing.messages import message_classes, random_message

CODES = {
    "int8": ">b",
    "int16": ">h",
    "int32": ">i",
    "int64": ">q",
    "uint16": ">H",
    "uint32": ">I",
    "float64": ">d",
    "bool": ">?",
    "uuid": ">16s",
}

EVERY_VERSION = [
    pytest.param(cls, version, id=f"{cls.__name__}-v{version}")
    for cls in message_classes()
    for version in range(cls.VERSIONS.first, cls.VERSIONS.last + 1)
]
CLASSES = [pytest.param(cls, id=cls.__name__) for cls in message_classes()]


class Model:
    """Writes a message field by field, straight from the declarations.

    With *extra* it adds to every struct that may have tagged fields one that nobody knows.
    """

    def __init__(self, version: int, *, flexible: bool, extra: bytes | None = None) -> None:
        self.version = version
        self.flexible = flexible
        self.extra = extra

    def struct(self, message: WireStruct) -> bytes:
        present = [
            bound for bound in fields_of(type(message)) if self.version in bound.wire.versions
        ]
        out = b"".join(
            self.value(bound, getattr(message, bound.name))
            for bound in present
            if bound.wire.tag is None
        )
        if not self.flexible:
            return out
        tags = {
            bound.wire.tag: self.value(bound, getattr(message, bound.name))
            for bound in present
            if bound.wire.tag is not None and getattr(message, bound.name) != bound.default()
        }
        if self.extra is not None:
            tags[200] = self.extra
        written = [
            self.varint(tag) + self.varint(len(tags[tag])) + tags[tag] for tag in sorted(tags)
        ]
        return out + self.varint(len(tags)) + b"".join(written)

    def value(self, bound: BoundField, value: Any) -> bytes:
        if not is_array(bound.wire):
            if bound.wire.kind.name == "struct" and self.version in bound.wire.nullable:
                if bound.wire.tag is not None:
                    return b"\0" if value is None else b"\1" + self.struct(value)
                return b"\xff" if value is None else b"\1" + self.struct(value)
            return self.single(bound.wire.kind.name, value)
        assert bound.wire.element is not None
        if value is None:
            return self.length(None, 4)
        return self.length(len(value), 4) + b"".join(
            self.single(bound.wire.element.name, item) for item in value
        )

    def single(self, kind: str, value: Any) -> bytes:
        if kind in CODES:
            return struct.pack(CODES[kind], value)
        if kind == "struct":
            return self.struct(value)
        if kind == "inflexible_string":
            return Model(self.version, flexible=False).single("string", value)
        size = 2 if kind == "string" else 4
        if value is None:
            return self.length(None, size)
        raw = value.encode() if kind == "string" else bytes(value)
        return self.length(len(raw), size) + raw

    def length(self, count: int | None, size: int) -> bytes:
        if self.flexible:
            return self.varint(0 if count is None else count + 1)
        return (-1 if count is None else count).to_bytes(size, "big", signed=True)

    def varint(self, number: int) -> bytes:
        if number < 128:
            return bytes((number,))
        return bytes((number % 128 + 128,)) + self.varint(number // 128)


def model_bytes(message: Message, version: int, extra: bytes | None = None) -> bytes:
    model = Model(version, flexible=version in type(message).FLEXIBLE, extra=extra)
    return model.struct(message)


def samples(cls: type[Message], version: int, count: int, *, small: bool = False) -> list[Message]:
    return [
        random_message(cls, version, random.Random(f"{cls.__name__} {version} {seed}"), small=small)
        for seed in range(count)
    ]


@pytest.mark.parametrize(("cls", "version"), EVERY_VERSION)
def test_bytes_are_the_models_and_come_back_equal(cls: type[Message], version: int) -> None:
    """Encoding agrees with the model; decoding undoes it from every kind of buffer."""
    for message in samples(cls, version, 3):
        data = encode(message, version)
        assert data == model_bytes(message, version)
        for buffer in (data, bytearray(data), memoryview(data)):
            assert decode(cls, version, buffer) == message


@pytest.mark.parametrize(("cls", "version"), EVERY_VERSION)
def test_unknown_tagged_fields_are_skipped(cls: type[Message], version: int) -> None:
    """A newer sender's additions, in every struct of the message, are passed over."""
    for size, message in zip((0, 1, 200), samples(cls, version, 3, small=True), strict=True):
        data = model_bytes(message, version, extra=b"\x07" * size)
        assert decode(cls, version, data) == message


@pytest.mark.parametrize(("cls", "version"), EVERY_VERSION)
def test_bytes_behind_a_message_are_left_or_refused(cls: type[Message], version: int) -> None:
    """``decode_prefix`` says where the message ends; ``decode`` wants nothing behind it."""
    (message,) = samples(cls, version, 1, small=True)
    data = encode(message, version)
    assert decode_prefix(cls, version, b"xy" + data + b"z", 2) == (message, len(data) + 2)
    assert decode(cls, version, b"xy" + data, offset=2) == message
    with pytest.raises(DecodeError, match="is followed by 1 bytes"):
        decode(cls, version, data + b"z")


@pytest.mark.parametrize("cls", CLASSES)
def test_a_message_cut_short_is_refused_at_every_byte(cls: type[Message]) -> None:
    """In its oldest and newest version, for the shortest of some messages that has two fields."""
    for version in {cls.VERSIONS.first, cls.VERSIONS.last}:
        found = sorted(
            (encode(each, version) for each in samples(cls, version, 8, small=True)), key=len
        )
        data = next((each for each in found if len(each) > 20), found[-1])[:600]
        for size in range(len(data)):
            with pytest.raises(DecodeError, match=f"{cls.__name__} v{version} "):
                decode(cls, version, data[:size])


@settings(max_examples=600, deadline=None)
@given(
    st.sampled_from([(param.values[0], param.values[1]) for param in EVERY_VERSION]),
    st.integers(0, 1000),
    st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1, max_size=4),
)
def test_a_changed_byte_is_another_message_or_a_decode_error(
    chosen: tuple[type[Message], int], seed: int, changes: list[tuple[int, int]]
) -> None:
    """Nothing else ever comes out: no other exception, and what is read can be written."""
    cls, version = chosen
    data = bytearray(encode(random_message(cls, version, random.Random(seed), small=True), version))
    for position, byte in changes:
        if data:
            data[position % len(data)] = byte
    try:
        message = decode(cls, version, bytes(data), budget=10_000)
    except DecodeError:
        return
    if version not in cls.FLEXIBLE:
        encode(message, version)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([(param.values[0], param.values[1]) for param in EVERY_VERSION]),
    st.binary(max_size=60),
)
def test_garbage_is_a_decode_error(chosen: tuple[type[Message], int], data: bytes) -> None:
    """Or, now and then, a message."""
    cls, version = chosen
    for buffer in (data, memoryview(data)):
        with contextlib.suppress(DecodeError):
            decode(cls, version, buffer)


@pytest.mark.parametrize("version", [3, 8, 9, 12, 13])
def test_records_of_a_request_are_views_of_its_frame(version: int) -> None:
    """No copy is made: a batch patched through the field is patched in the frame."""
    message = random_message(ProduceRequest, version, random.Random(1))
    while not any(part.records for topic in message.topic_data for part in topic.partition_data):
        message = random_message(ProduceRequest, version, random.Random(encode(message, version)))
    frame = bytearray(encode(message, version))
    before = bytes(frame)
    found = decode(ProduceRequest, version, frame)
    for topic in found.topic_data:
        for part in topic.partition_data:
            if part.records:
                assert isinstance(part.records, memoryview)
                part.records[0] ^= 0xFF
    assert frame != before
    read_only = decode(ProduceRequest, version, before)
    views = [part.records for topic in read_only.topic_data for part in topic.partition_data]
    assert all(view is None or (isinstance(view, memoryview) and view.readonly) for view in views)


@pytest.mark.parametrize("buffer", [bytes, bytearray, memoryview])
def test_bytes_are_copied_out_of_the_frame(buffer: Callable[[bytes], Buffer]) -> None:
    """Whatever the frame is; it can be used again for the next request."""
    data = encode(SaslAuthenticateRequest(auth_bytes=b"secret"), 2)
    found = decode(SaslAuthenticateRequest, 2, buffer(data))
    assert type(found.auth_bytes) is bytes


@pytest.mark.parametrize("version", range(4, 19))
def test_records_of_a_response_are_handed_on_as_they_are(version: int) -> None:
    """The very buffers are among the parts, and the parts joined are the message."""
    pieces: list[Buffer] = [b"first batch", memoryview(b"second batch"), b""]
    message = FetchResponse(
        responses=[
            FetchableTopicResponse(
                topic="a",
                topic_id=b"0123456789abcdef",
                partitions=[
                    PartitionData(partition_index=n, records=r) for n, r in enumerate(pieces)
                ],
            )
        ]
    )
    parts = encode_parts(message, version)
    assert [part for part in parts if any(part is piece for piece in pieces)] == pieces
    assert b"".join(parts) == model_bytes(decode(FetchResponse, version, b"".join(parts)), version)


def test_parts_go_on_behind_a_head() -> None:
    """The first part is the head that was handed in, grown."""
    head = bytearray(b"head")
    parts = encode_parts(MetadataRequest(), 12, head)
    assert parts[0] is head
    assert b"".join(parts) == b"head" + encode(MetadataRequest(), 12)


def test_only_messages_with_records_hand_out_views() -> None:
    """All others are copies, so that a frame can be forgotten."""
    found = {cls.__name__ for cls in message_classes() if holds_views(cls)}
    assert found == {
        "ProduceRequest",
        "FetchResponse",
        "FetchSnapshotResponse",
        "ShareFetchResponse",
    }


@pytest.mark.parametrize("version", [-1, 2, 14, 32767])
def test_a_version_that_does_not_exist_is_not_decoded(version: int) -> None:
    """The error names the versions that do."""
    with pytest.raises(DecodeError, match=f"ProduceRequest v{version} is not one of versions 3-13"):
        decode(ProduceRequest, version, b"")
