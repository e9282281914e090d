"""State, protocol and members of classic groups."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import (
    INT32_MIN,
    Message,
    WireStruct,
    array,
    binary,
    boolean,
    int16,
    int32,
    string,
    struct,
    versions,
)


class DescribeGroupsRequest(Message, kw_only=True):
    API_KEY = 15
    VERSIONS = versions("0-6")
    FLEXIBLE = versions("5+")

    groups: Annotated[list[str], array(string, "0+")] = []
    include_authorized_operations: Annotated[bool, boolean("3+")] = False


class DescribedGroupMember(WireStruct, kw_only=True):
    member_id: Annotated[str, string("0+")] = ""
    group_instance_id: Annotated[str | None, string("4+", nullable="4+", ignorable=True)] = None
    client_id: Annotated[str, string("0+")] = ""
    client_host: Annotated[str, string("0+")] = ""
    member_metadata: Annotated[bytes, binary("0+")] = b""
    member_assignment: Annotated[bytes, binary("0+")] = b""


class DescribedGroup(WireStruct, kw_only=True):
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("6+", nullable="6+")] = None
    group_id: Annotated[str, string("0+")] = ""
    group_state: Annotated[str, string("0+")] = ""
    protocol_type: Annotated[str, string("0+")] = ""
    protocol_data: Annotated[str, string("0+")] = ""
    members: Annotated[list[DescribedGroupMember], array(struct, "0+")] = []
    authorized_operations: Annotated[int, int32("3+")] = INT32_MIN


class DescribeGroupsResponse(Message, kw_only=True):
    API_KEY = 15
    VERSIONS = versions("0-6")
    FLEXIBLE = versions("5+")

    throttle_time_ms: Annotated[int, int32("1+", ignorable=True)] = 0
    groups: Annotated[list[DescribedGroup], array(struct, "0+")] = []
