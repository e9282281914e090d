"""What readers refuse, what they say about it, and what it costs them."""

import tracemalloc

import pytest

from headwater.core_log.kernel.limits import DECODE_ELEMENTS_MAX
from headwater.core_log.protocol.codec import decode
from headwater.core_log.protocol.errors import BudgetExceededError, DecodeError
from headwater.core_log.protocol.messages.api_versions import ApiVersionsRequest
from headwater.core_log.protocol.messages.create_topics import CreateTopicsRequest
from headwater.core_log.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
)
from headwater.core_log.protocol.messages.fetch import FetchRequest
from headwater.core_log.protocol.messages.list_groups import ListGroupsRequest
from headwater.core_log.protocol.messages.metadata import MetadataRequest
from headwater.core_log.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from headwater.core_log.protocol.primitives import write_uvarint
from headwater.core_log.protocol.read_compiler import reader_source
from headwater.core_log.protocol.schema import Message

MEGABYTE = 2**20

WRONG: list[tuple[type[Message], int, str, str]] = [
    (MetadataRequest, 1, "", "MetadataRequest v1 topics[] ends early"),
    (MetadataRequest, 1, "000000", "MetadataRequest v1 topics[] ends early"),
    (MetadataRequest, 0, "ffffffff", "MetadataRequest v0 topics[] is null"),
    (MetadataRequest, 1, "fffffffe", "MetadataRequest v1 topics[] has the length -2"),
    (
        MetadataRequest,
        1,
        "7fffffff",
        "MetadataRequest v1 topics[] announces 2147483647 elements, more than there is room for",
    ),
    (
        MetadataRequest,
        1,
        "00000002 0001 61",
        "MetadataRequest v1 topics[] announces 2 elements, more than there is room for",
    ),
    (MetadataRequest, 1, "00000001 ffff", "MetadataRequest v1 topics[].name is null"),
    (MetadataRequest, 1, "00000001 8000", "MetadataRequest v1 topics[].name has the length -32768"),
    (MetadataRequest, 1, "00000001 0003 6161", "MetadataRequest v1 topics[].name ends early"),
    (MetadataRequest, 1, "00000001 0002 c328", "MetadataRequest v1 topics[].name is not UTF-8"),
    (MetadataRequest, 9, "02 00 00 000000 00", "MetadataRequest v9 topics[].name is null"),
    (MetadataRequest, 9, "808080808000", "MetadataRequest v9 topics[] has a varint beyond 32 bits"),
    (
        MetadataRequest,
        9,
        "ffffffff0f",
        "MetadataRequest v9 topics[] announces 4294967294 elements, more than there is room for",
    ),
    (
        MetadataRequest,
        9,
        "02 818002",
        "MetadataRequest v9 topics[].name is longer than 32767",
    ),
    (
        MetadataRequest,
        12,
        "01 01 00 05 10 7f 00",
        "MetadataRequest v12 ends early",
    ),
    (SaslAuthenticateRequest, 0, "ffffffff", "SaslAuthenticateRequest v0 auth_bytes is null"),
    (SaslAuthenticateRequest, 0, "00000005 00", "SaslAuthenticateRequest v0 auth_bytes ends early"),
    (
        FetchRequest,
        15,
        "00000000 00000000 00000000 00 00000000 00000000 01 01 01 01 00 03 02 61 00",
        "FetchRequest v15 cluster_id has a size that is not its own",
    ),
    (
        DescribeTopicPartitionsRequest,
        0,
        "01 00000000 01",
        "DescribeTopicPartitionsRequest v0 cursor.topic_name ends early",
    ),
]


@pytest.mark.parametrize(("cls", "version", "data", "said"), WRONG, ids=[w[3] for w in WRONG])
@pytest.mark.parametrize("buffer", [bytes, bytearray])
def test_an_error_names_the_field_and_what_is_wrong_with_it(
    cls: type[Message], version: int, data: str, said: str, buffer: type[bytes] | type[bytearray]
) -> None:
    """The same words whatever buffer the bytes came in."""
    with pytest.raises(DecodeError) as caught:
        decode(cls, version, buffer.fromhex(data))
    assert str(caught.value) == said


def test_null_is_read_where_it_is_allowed() -> None:
    """Arrays, strings and structs, old form and compact."""
    assert decode(MetadataRequest, 1, b"\xff\xff\xff\xff").topics is None
    assert decode(MetadataRequest, 10, bytes(1) + bytes(4)).topics is None
    by_id = decode(MetadataRequest, 12, bytes.fromhex("02" + "11" * 16 + "00 00 00 00 00"))
    assert by_id.topics is not None
    assert by_id.topics[0].name is None
    assert (
        decode(DescribeTopicPartitionsRequest, 0, bytes.fromhex("01 00000000 ff 00")).cursor is None
    )


def test_lengths_of_two_varint_bytes_are_read() -> None:
    """The first byte is taken with the fields before it, the rest behind it."""
    name = "n" * 200
    topic = b"\xc9\x01" + name.encode() + b"\0"
    found = decode(MetadataRequest, 9, b"\xca\x01" + topic * 201 + bytes(4))
    assert found.topics is not None
    assert [each.name for each in found.topics] == [name] * 201


@pytest.mark.parametrize("elements", [10, 11])
def test_the_budget_counts_every_element_of_every_array(elements: int) -> None:
    """Of arrays inside arrays too: ten are allowed here, eleven are not."""
    data = b"\2" + _topic(elements - 1) + bytes(4) + b"\0" + b"\0"
    if elements == 10:
        assert len(decode(CreateTopicsRequest, 5, data, budget=10).topics[0].configs) == 9
        return
    with pytest.raises(BudgetExceededError, match="exceeds 10 elements in all"):
        decode(CreateTopicsRequest, 5, data, budget=10)


def _topic(configs: int) -> bytes:
    config = b"\2a\0\0"
    return b"\2t" + bytes(6) + b"\1" + bytes((configs + 1,)) + config * configs + b"\0"


def test_the_budget_counts_tagged_fields() -> None:
    """Each costs time, known or not."""
    body = b"\2a\2b"
    found = decode(ApiVersionsRequest, 3, body + b"\5" + b"\x64\0" * 5, budget=5)
    assert found.client_software_version == "b"
    with pytest.raises(BudgetExceededError):
        decode(ApiVersionsRequest, 3, body + b"\6" + b"\x64\0" * 6, budget=5)


def peak_bytes(cls: type[Message], version: int, data: bytes) -> int:
    """What decoding allocates at its highest, the error included."""
    with pytest.raises(DecodeError):
        decode(cls, version, b"\xff")  # compiled before the count begins
    tracemalloc.start()
    with pytest.raises(DecodeError):
        decode(cls, version, data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize(
    "count", [2**31 - 2, 2**24, 200_000], ids=["largest", "sixteen million", "more than is there"]
)
@pytest.mark.parametrize("size", [4, 100_000])
def test_a_count_beyond_the_data_allocates_nothing(count: int, size: int) -> None:
    """The amplification of CVE-2022-34917: refused before anything is made for it."""
    old = count.to_bytes(4, "big") + bytes(size)
    compact = write_uvarint(count + 1) + bytes(size)
    assert peak_bytes(MetadataRequest, 1, old) < MEGABYTE
    assert peak_bytes(ListGroupsRequest, 4, compact) < MEGABYTE
    assert peak_bytes(MetadataRequest, 12, compact) < MEGABYTE


@pytest.mark.slow
def test_millions_of_tiny_elements_stay_within_the_budget() -> None:
    """Two-byte strings by the million are counted before the first is made."""
    count = 4_000_000
    data = write_uvarint(count + 1) + b"\2s" * count + b"\0"
    assert peak_bytes(ListGroupsRequest, 4, data) < MEGABYTE


def test_a_full_budget_stays_within_tens_of_megabytes() -> None:
    """The most that one message can make of a request, in the worst class there is for it."""
    partition = bytes(4 + 4 + 8 + 4 + 8 + 4) + b"\0"
    count = DECODE_ELEMENTS_MAX
    topics = b"\2" + bytes(16) + write_uvarint(count + 1) + partition * count + b"\0"
    data = bytes(4 * 3 + 1 + 4 * 2) + topics + b"\1\1\0"
    assert peak_bytes(FetchRequest, 15, data) < MEGABYTE
    fitting = topics[:17] + write_uvarint(count) + partition * (count - 1) + b"\0"
    tracemalloc.start()
    found = decode(FetchRequest, 15, data[:21] + fitting + b"\1\1\0")
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(found.topics[0].partitions) == count - 1
    assert held < 40 * MEGABYTE


def test_the_source_can_be_read() -> None:
    """It is there for whoever wonders what a reader does; each line knows its field."""
    source = reader_source(ListGroupsRequest, 4, views=False)
    assert source.text.startswith("def run(b, p, left):\n")
    assert len(source.text.splitlines()) == len(source.fields)
    assert "states_filter[]" in source.fields
