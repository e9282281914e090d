"""A member of a streams group (KIP-1071)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int32, string, struct, uint16, versions


class StreamsGroupMemberMetadataKey(Message, kw_only=True):
    API_KEY = 19
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    group_id: Annotated[str, string("0")] = ""
    member_id: Annotated[str, string("0")] = ""


class Endpoint(WireStruct, kw_only=True):
    host: Annotated[str, string("0+")] = ""
    port: Annotated[int, uint16("0+")] = 0


class KeyValue(WireStruct, kw_only=True):
    key: Annotated[str, string("0+")] = ""
    value: Annotated[str, string("0+")] = ""


class StreamsGroupMemberMetadataValue(Message, kw_only=True):
    API_KEY = 19
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    instance_id: Annotated[str | None, string("0+", nullable="0+")] = ""
    rack_id: Annotated[str | None, string("0+", nullable="0+")] = ""
    client_id: Annotated[str, string("0+")] = ""
    client_host: Annotated[str, string("0+")] = ""
    rebalance_timeout_ms: Annotated[int, int32("0+")] = -1
    topology_epoch: Annotated[int, int32("0+")] = 0
    process_id: Annotated[str, string("0+")] = ""
    user_endpoint: Annotated[Endpoint | None, struct("0+", nullable="0+")] = None
    client_tags: Annotated[list[KeyValue], array(struct, "0+")] = []
