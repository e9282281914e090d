"""Kafka 4.3's APIs, and what stands around a request and a response.

The table says what this package can read and write. What a broker *serves* is decided by its
handlers, which may give fewer versions.

A request is ``[2 key][2 version][4 correlation id][client id][tags]``, tags in flexible versions
only; a response is ``[4 correlation id][tags]``. The response to ApiVersions never has tags there:
its reader may not know the version (KIP-511).
"""

import struct
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Final

import msgspec

from ..kernel.limits import DECODE_ELEMENTS_MAX, DECODE_ELEMENTS_MAX_UNAUTHENTICATED
from ..kernel.ports import Buffer
from .codec import decode, decode_prefix, encode_parts
from .errors import DecodeError, EncodeError
from .primitives import WireProblem, read_uvarint, skip_tags
from .schema import Message, Versions

_REQUEST_HEAD: Final = struct.Struct(">hhih")
_REQUEST_START: Final = struct.Struct(">ihhi")
_RESPONSE_START: Final = struct.Struct(">ii")
_INT32: Final = struct.Struct(">i")

_API_VERSIONS_KEY: Final = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """One kind of request with its response."""

    key: int
    name: str
    versions: Versions
    flexible: Versions

    @property
    def request_class(self) -> type[Message]:
        """Its module is loaded when somebody first asks."""
        return _class(self.name, "Request")

    @property
    def response_class(self) -> type[Message]:
        """The same for the response."""
        return _class(self.name, "Response")

    def request_header_version(self, version: int) -> int:
        """2 for flexible bodies, else 1."""
        return 2 if version >= _FLEXIBLE_SINCE[self.key] else 1

    def response_header_version(self, version: int) -> int:
        """1 for flexible bodies, else 0; always 0 for ApiVersions."""
        return 1 if version >= _RESPONSE_TAGS_SINCE[self.key] else 0


class RequestHeader(msgspec.Struct, frozen=True, gc=False):
    """A request's header as read, and where its body begins in the frame."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None
    body_offset: int


def decode_request_header(frame: Buffer) -> RequestHeader:
    """The header at the start of a request. The version may be one that nobody serves.

    Raises DecodeError when the header is not well formed or the key is unknown: its length depends
    on the key, so nothing behind it could be read.
    """
    try:
        key, version, correlation_id, size = _REQUEST_HEAD.unpack_from(frame)
        offset = _REQUEST_HEAD.size
        client_id = None
        if size != -1:
            client_id, offset = _client_id(frame, offset, size)
        flexible_since = _FLEXIBLE_SINCE.get(key)
        if flexible_since is None:
            raise DecodeError("request header", f"has the api key {key}, which does not exist")
        if version >= flexible_since:
            offset = offset + 1 if frame[offset] == 0 else _skip_header_tags(frame, offset)
    except (struct.error, IndexError) as error:
        raise DecodeError("request header", "ends early") from error
    except WireProblem as error:
        raise DecodeError("request header", str(error)) from error
    return RequestHeader(key, version, correlation_id, client_id, offset)


def decode_request(
    header: RequestHeader, frame: Buffer, *, budget: int = DECODE_ELEMENTS_MAX
) -> Message:
    """The body behind a header. Raises DecodeError, also for a version outside the table.

    Bytes behind the body are passed over, as in Kafka: librdkafka 2.16 asks for all topics in
    Metadata 13 with three bytes too many.
    """
    cls = API_BY_KEY[header.api_key].request_class
    message, _ = decode_prefix(cls, header.api_version, frame, header.body_offset, budget=budget)
    return message


def encode_response(api: Api, version: int, correlation_id: int, message: Message) -> list[Buffer]:
    """A response's frame, its size in front, as buffers to be written one behind the other.

    Raises EncodeError.
    """
    head = bytearray(_RESPONSE_START.pack(0, correlation_id))
    if version >= _RESPONSE_TAGS_SINCE[api.key]:
        head.append(0)
    return _framed(head, encode_parts(message, version, head))


def encode_request(
    api: Api, version: int, correlation_id: int, client_id: str | None, message: Message
) -> list[Buffer]:
    """A request's frame in the same form. Raises EncodeError."""
    head = bytearray(_REQUEST_START.pack(0, api.key, version, correlation_id))
    if client_id is None:
        head += b"\xff\xff"
    else:
        name = client_id.encode()
        head += len(name).to_bytes(2, "big") + name
    if api.request_header_version(version) == 2:
        head.append(0)
    return _framed(head, encode_parts(message, version, head))


def decode_response(
    api: Api, version: int, frame: Buffer, *, budget: int = DECODE_ELEMENTS_MAX
) -> tuple[int, Message]:
    """Correlation id and body of a response to a request of *version*. Raises DecodeError."""
    try:
        (correlation_id,) = _INT32.unpack_from(frame)
        offset = _INT32.size
        if api.response_header_version(version) == 1:
            offset = _skip_header_tags(frame, offset)
    except (struct.error, IndexError, WireProblem) as error:
        raise DecodeError("response header", str(error)) from error
    return correlation_id, decode(api.response_class, version, frame, offset=offset, budget=budget)


def _client_id(frame: Buffer, offset: int, size: int) -> tuple[str, int]:
    end = offset + size
    if size < 0 or end > len(frame):
        raise WireProblem(f"has a client id of {size} bytes")
    try:
        return str(frame[offset:end], "utf-8"), end
    except UnicodeDecodeError as error:
        raise WireProblem("has a client id that is not UTF-8") from error


def _skip_header_tags(frame: Buffer, offset: int) -> int:
    """The offset behind the tagged fields of a header, of which none is known.

    Their number is bounded, for each costs a turn of the loop and they come before any budget.
    """
    count, offset = read_uvarint(frame, offset)
    if count > DECODE_ELEMENTS_MAX_UNAUTHENTICATED:
        raise WireProblem(f"has {count} tagged fields")
    return skip_tags(frame, offset, count)


def _framed(head: bytearray, parts: list[Buffer]) -> list[Buffer]:
    size = (len(head) if len(parts) == 1 else sum(map(len, parts))) - _INT32.size
    try:
        _INT32.pack_into(head, 0, size)
    except struct.error as error:
        raise EncodeError("frame", f"would have {size} bytes") from error
    return parts


@cache
def _class(name: str, suffix: str) -> type[Message]:
    found: type[Message] = getattr(
        import_module(f".messages.{_snake(name)}", __package__), name + suffix
    )
    return found


def _snake(name: str) -> str:
    """``ListOffsets`` to ``list_offsets``."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)[1:]


APIS: Final = tuple(
    Api(key=key, name=name, versions=Versions.parse(known), flexible=Versions.parse(flexible))
    for key, name, known, flexible in (
        (0, "Produce", "3-13", "9+"),
        (1, "Fetch", "4-18", "12+"),
        (2, "ListOffsets", "1-11", "6+"),
        (3, "Metadata", "0-13", "9+"),
        (8, "OffsetCommit", "2-10", "8+"),
        (9, "OffsetFetch", "1-10", "6+"),
        (10, "FindCoordinator", "0-6", "3+"),
        (11, "JoinGroup", "0-9", "6+"),
        (12, "Heartbeat", "0-4", "4+"),
        (13, "LeaveGroup", "0-5", "4+"),
        (14, "SyncGroup", "0-5", "4+"),
        (15, "DescribeGroups", "0-6", "5+"),
        (16, "ListGroups", "0-5", "3+"),
        (17, "SaslHandshake", "0-1", "none"),
        (18, "ApiVersions", "0-4", "3+"),
        (19, "CreateTopics", "2-7", "5+"),
        (20, "DeleteTopics", "1-6", "4+"),
        (21, "DeleteRecords", "0-2", "2+"),
        (22, "InitProducerId", "0-6", "2+"),
        (23, "OffsetForLeaderEpoch", "2-4", "4+"),
        (24, "AddPartitionsToTxn", "0-5", "3+"),
        (25, "AddOffsetsToTxn", "0-4", "3+"),
        (26, "EndTxn", "0-5", "3+"),
        (27, "WriteTxnMarkers", "1-2", "1+"),
        (28, "TxnOffsetCommit", "0-5", "3+"),
        (29, "DescribeAcls", "1-3", "2+"),
        (30, "CreateAcls", "1-3", "2+"),
        (31, "DeleteAcls", "1-3", "2+"),
        (32, "DescribeConfigs", "1-4", "4+"),
        (33, "AlterConfigs", "0-2", "2+"),
        (34, "AlterReplicaLogDirs", "1-2", "2+"),
        (35, "DescribeLogDirs", "1-5", "2+"),
        (36, "SaslAuthenticate", "0-2", "2+"),
        (37, "CreatePartitions", "0-3", "2+"),
        (38, "CreateDelegationToken", "1-3", "2+"),
        (39, "RenewDelegationToken", "1-2", "2+"),
        (40, "ExpireDelegationToken", "1-2", "2+"),
        (41, "DescribeDelegationToken", "1-3", "2+"),
        (42, "DeleteGroups", "0-2", "2+"),
        (43, "ElectLeaders", "0-2", "2+"),
        (44, "IncrementalAlterConfigs", "0-1", "1+"),
        (45, "AlterPartitionReassignments", "0-1", "0+"),
        (46, "ListPartitionReassignments", "0", "0+"),
        (47, "OffsetDelete", "0", "none"),
        (48, "DescribeClientQuotas", "0-1", "1+"),
        (49, "AlterClientQuotas", "0-1", "1+"),
        (50, "DescribeUserScramCredentials", "0", "0+"),
        (51, "AlterUserScramCredentials", "0", "0+"),
        (52, "Vote", "0-2", "0+"),
        (53, "BeginQuorumEpoch", "0-1", "1+"),
        (54, "EndQuorumEpoch", "0-1", "1+"),
        (55, "DescribeQuorum", "0-2", "0+"),
        (56, "AlterPartition", "2-3", "0+"),
        (57, "UpdateFeatures", "0-2", "0+"),
        (58, "Envelope", "0", "0+"),
        (59, "FetchSnapshot", "0-1", "0+"),
        (60, "DescribeCluster", "0-2", "0+"),
        (61, "DescribeProducers", "0", "0+"),
        (62, "BrokerRegistration", "0-4", "0+"),
        (63, "BrokerHeartbeat", "0-2", "0+"),
        (64, "UnregisterBroker", "0", "0+"),
        (65, "DescribeTransactions", "0", "0+"),
        (66, "ListTransactions", "0-2", "0+"),
        (67, "AllocateProducerIds", "0", "0+"),
        (68, "ConsumerGroupHeartbeat", "0-1", "0+"),
        (69, "ConsumerGroupDescribe", "0-1", "0+"),
        (70, "ControllerRegistration", "0", "0+"),
        (71, "GetTelemetrySubscriptions", "0", "0+"),
        (72, "PushTelemetry", "0", "0+"),
        (73, "AssignReplicasToDirs", "0", "0+"),
        (74, "ListConfigResources", "0-1", "0+"),
        (75, "DescribeTopicPartitions", "0", "0+"),
        (76, "ShareGroupHeartbeat", "1", "0+"),
        (77, "ShareGroupDescribe", "1", "0+"),
        (78, "ShareFetch", "1-2", "0+"),
        (79, "ShareAcknowledge", "1-2", "0+"),
        (80, "AddRaftVoter", "0-1", "0+"),
        (81, "RemoveRaftVoter", "0", "0+"),
        (82, "UpdateRaftVoter", "0", "0+"),
        (83, "InitializeShareGroupState", "0", "0+"),
        (84, "ReadShareGroupState", "0", "0+"),
        (85, "WriteShareGroupState", "0-1", "0+"),
        (86, "DeleteShareGroupState", "0", "0+"),
        (87, "ReadShareGroupStateSummary", "0-1", "0+"),
        (88, "StreamsGroupHeartbeat", "0", "0+"),
        (89, "StreamsGroupDescribe", "0", "0+"),
        (90, "DescribeShareGroupOffsets", "0-1", "0+"),
        (91, "AlterShareGroupOffsets", "0", "0+"),
        (92, "DeleteShareGroupOffsets", "0", "0+"),
    )
)
"""All APIs in order of their keys."""

API_BY_KEY: Final = {api.key: api for api in APIS}

_NEVER: Final = 2**15
"""Beyond every version."""

_FLEXIBLE_SINCE: Final = {
    api.key: api.flexible.first if api.flexible.last > 0 else _NEVER for api in APIS
}

_RESPONSE_TAGS_SINCE: Final = _FLEXIBLE_SINCE | {_API_VERSIONS_KEY: _NEVER}
