"""A member of a consumer group and what it subscribes to (KIP-848)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from msgspec import field

from ..schema import Message, WireStruct, array, binary, int32, string, struct, versions


class ConsumerGroupMemberMetadataKey(Message, kw_only=True):
    API_KEY = 5
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    group_id: Annotated[str, string("0")] = ""
    member_id: Annotated[str, string("0")] = ""


class ClassicProtocol(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    metadata: Annotated[bytes, binary("0+")] = b""


class ClassicMemberMetadata(WireStruct, kw_only=True):
    session_timeout_ms: Annotated[int, int32("0+")] = 0
    supported_protocols: Annotated[list[ClassicProtocol], array(struct, "0+")] = []


class ConsumerGroupMemberMetadataValue(Message, kw_only=True):
    API_KEY = 5
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    instance_id: Annotated[str | None, string("0+", nullable="0+")] = ""
    rack_id: Annotated[str | None, string("0+", nullable="0+")] = ""
    client_id: Annotated[str, string("0+")] = ""
    client_host: Annotated[str, string("0+")] = ""
    subscribed_topic_names: Annotated[list[str], array(string, "0+")] = []
    subscribed_topic_regex: Annotated[str | None, string("0+", nullable="0+")] = ""
    rebalance_timeout_ms: Annotated[int, int32("0+")] = -1
    server_assignor: Annotated[str | None, string("0+", nullable="0+")] = ""
    classic_member_metadata: Annotated[
        ClassicMemberMetadata | None, struct("0+", nullable="0+", tag=0)
    ] = field(default_factory=ClassicMemberMetadata)
