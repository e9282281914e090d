"""The table of APIs, headers, and whole requests and responses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.kernel.limits import DECODE_ELEMENTS_MAX_UNAUTHENTICATED
from headwater.core_log.protocol.apis import (
    API_BY_KEY,
    APIS,
    Api,
    RequestHeader,
    decode_request,
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
)
from headwater.core_log.protocol.codec import decode, encode
from headwater.core_log.protocol.errors import DecodeError, EncodeError
from headwater.core_log.protocol.frame import FrameReader
from headwater.core_log.protocol.messages import headers
from headwater.core_log.protocol.messages.api_versions import ApiVersionsRequest
from headwater.core_log.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from headwater.core_log.protocol.messages.metadata import MetadataRequest
from headwater.core_log.protocol.messages.produce import ProduceRequest
from headwater.core_log.protocol.primitives import write_uvarint

API_VERSIONS = API_BY_KEY[18]
METADATA = API_BY_KEY[3]
ALL = pytest.mark.parametrize("api", APIS, ids=[api.name for api in APIS])


def test_keys_are_those_of_kafka_without_the_four_that_left() -> None:
    """LeaderAndIsr, StopReplica, UpdateMetadata and ControlledShutdown went with ZooKeeper."""
    assert [api.key for api in APIS] == [key for key in range(93) if key not in (4, 5, 6, 7)]


@ALL
def test_the_table_agrees_with_the_messages(api: Api) -> None:
    """Names, keys and versions of request and response."""
    for cls, suffix in ((api.request_class, "Request"), (api.response_class, "Response")):
        assert cls.__name__ == api.name + suffix
        assert api.key == cls.API_KEY
        assert (api.versions, api.flexible) == (cls.VERSIONS, cls.FLEXIBLE)


@ALL
def test_a_request_and_its_response_come_back(api: Api) -> None:
    """In every version, through a frame, header included."""
    for version in range(api.versions.first, api.versions.last + 1):
        asked = b"".join(encode_request(api, version, 2**31 - 1, "client", api.request_class()))
        (frame,) = FrameReader(1000).feed(asked)
        header = decode_request_header(frame)
        assert (header.api_key, header.api_version) == (api.key, version)
        assert (header.correlation_id, header.client_id) == (2**31 - 1, "client")
        assert decode_request(header, frame) == api.request_class()
        told = b"".join(encode_response(api, version, -5, api.response_class()))
        (frame,) = FrameReader(1000).feed(told)
        assert decode_response(api, version, frame) == (-5, api.response_class())


@given(
    api=st.sampled_from(APIS),
    version=st.sampled_from([0, 1, 3, 9, 13, 500, 2**15 - 1]),
    client_id=st.sampled_from([None, "", "client", "grüße", "c" * 300]),
    tags=st.sampled_from([b"", b"\5\1a", b"\5\0\x81\x01\2bb"]),
    view=st.booleans(),
)
def test_a_header_read_by_hand_is_what_its_class_reads(
    *, api: Api, version: int, client_id: str | None, tags: bytes, view: bool
) -> None:
    """Unknown versions and unknown tagged fields included; the rest is left for the body."""
    flexible = api.request_header_version(version)
    specified = headers.RequestHeader(
        request_api_key=api.key,
        request_api_version=version,
        correlation_id=77,
        client_id=client_id,
    )
    frame = encode(specified, flexible)
    if flexible == 2:
        frame = frame[:-1] + bytes((tags.count(b"\5") + tags.count(b"\x81"),)) + tags
    assert decode(headers.RequestHeader, flexible, frame) == specified
    data = memoryview(frame + b"body") if view else frame + b"body"
    assert decode_request_header(data) == RequestHeader(api.key, version, 77, client_id, len(frame))


@pytest.mark.parametrize("version", [8, 9])
def test_a_header_cut_short_is_refused_at_every_byte(version: int) -> None:
    """In old form and in flexible form."""
    whole = b"".join(encode_request(METADATA, version, 1, "client", MetadataRequest()))[4:]
    header = decode_request_header(whole)
    for size in range(header.body_offset):
        with pytest.raises(DecodeError, match="request header"):
            decode_request_header(whole[:size])


def tagged_header(count: int) -> bytes:
    return bytes.fromhex("0012 0003 00000001 ffff") + write_uvarint(count)


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (bytes.fromhex("7fff 0000 00000001 ffff"), "has the api key 32767, which does not exist"),
        (bytes.fromhex("ffff 0000 00000001 ffff"), "has the api key -1, which does not exist"),
        (bytes.fromhex("0004 0000 00000001 ffff"), "has the api key 4, which does not exist"),
        (bytes.fromhex("0012 0000 00000001 fffe"), "has a client id of -2 bytes"),
        (bytes.fromhex("0012 0000 00000001 0005 61"), "has a client id of 5 bytes"),
        (bytes.fromhex("0012 0000 00000001 0002 c328"), "has a client id that is not UTF-8"),
        (tagged_header(2**32 - 1) + bytes(9999), "has 4294967295 tagged fields"),
        (
            tagged_header(DECODE_ELEMENTS_MAX_UNAUTHENTICATED + 1) + bytes(9999),
            "has 1001 tagged fields",
        ),
    ],
)
def test_a_wrong_header_is_refused_with_its_reason(frame: bytes, said: str) -> None:
    """Attack 2 of the security list begins here."""
    with pytest.raises(DecodeError) as caught:
        decode_request_header(frame)
    assert str(caught.value) == f"request header {said}"


def test_a_version_outside_the_table_has_a_header_but_no_body() -> None:
    """So that ApiVersions can be answered when the version asked in is unknown."""
    frame = bytes.fromhex("0012 03e7 00000001 ffff 00 aabbcc")
    header = decode_request_header(frame)
    assert (header.api_key, header.api_version, header.body_offset) == (18, 999, 11)
    with pytest.raises(DecodeError, match="ApiVersionsRequest v999 is not one of versions 0-4"):
        decode_request(header, frame)


def test_the_response_to_api_versions_never_has_tags_in_its_header() -> None:
    """A client that asked in a version unknown to us must find the error code where it looks."""
    for version in range(5):
        assert API_VERSIONS.response_header_version(version) == 0
    assert METADATA.response_header_version(8) == 0
    assert METADATA.response_header_version(9) == 1


def test_an_api_that_was_never_flexible_has_old_headers() -> None:
    """SaslHandshake and OffsetDelete."""
    assert [api.name for api in APIS if api.flexible.last < 0] == ["SaslHandshake", "OffsetDelete"]
    for key in (17, 47):
        assert API_BY_KEY[key].request_header_version(0) == 1
        assert API_BY_KEY[key].response_header_version(0) == 0


def test_the_bytes_of_a_request_are_kafkas() -> None:
    """As a client sends them: size, key, version, correlation id, client id, tags, body."""
    message = ApiVersionsRequest(client_software_name="a", client_software_version="1")
    assert b"".join(encode_request(API_VERSIONS, 3, 7, "me", message)).hex(" ", 2) == (
        bytes.fromhex("00000012 0012 0003 00000007 0002 6d65 00 0261 0231 00").hex(" ", 2)
    )


def test_records_in_a_response_are_not_copied() -> None:
    """The size in front counts them."""
    records = b"r" * 1000
    part = PartitionData(records=records)
    message = FetchResponse(responses=[FetchableTopicResponse(partitions=[part, part])])
    parts = encode_response(API_BY_KEY[1], 17, 1, message)
    assert sum(part is records for part in parts) == 2
    whole = b"".join(parts)
    assert int.from_bytes(whole[:4], "big") == len(whole) - 4


def test_a_body_pays_from_the_budget_it_is_given() -> None:
    """Less before a peer has made itself known."""
    message = ProduceRequest()
    frame = b"".join(encode_request(API_BY_KEY[0], 9, 1, None, message))[4:]
    assert decode_request(decode_request_header(frame), frame, budget=0) == message


def test_a_response_cut_short_in_its_header_is_refused() -> None:
    """Correlation id or tags."""
    for size in range(5):
        with pytest.raises(DecodeError, match="response header"):
            decode_response(METADATA, 9, bytes(size))


def test_a_frame_that_no_size_can_say_is_not_written() -> None:
    """More than 2 GiB in one response."""

    class Huge(bytearray):
        def __len__(self) -> int:
            return 2**31

    part = PartitionData(records=Huge())
    message = FetchResponse(responses=[FetchableTopicResponse(partitions=[part])])
    with pytest.raises(EncodeError, match="frame would have 21474"):
        encode_response(API_BY_KEY[1], 17, 1, message)
