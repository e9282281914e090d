"""A member enters a classic group, or enters it again when it rebalances.

KIP-345 brought static members, KIP-394 the round trip for a member id.
"""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import (
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


class JoinGroupRequestProtocol(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    metadata: Annotated[bytes, binary("0+")] = b""


class JoinGroupRequest(Message, kw_only=True):
    API_KEY = 11
    VERSIONS = versions("0-9")
    FLEXIBLE = versions("6+")

    group_id: Annotated[str, string("0+")] = ""
    session_timeout_ms: Annotated[int, int32("0+")] = 0
    rebalance_timeout_ms: Annotated[int, int32("1+", ignorable=True)] = -1
    """-1 in version 0, where the session timeout stands for it."""
    member_id: Annotated[str, string("0+")] = ""
    """Empty on the first join."""
    group_instance_id: Annotated[str | None, string("5+", nullable="5+")] = None
    protocol_type: Annotated[str, string("0+")] = ""
    protocols: Annotated[list[JoinGroupRequestProtocol], array(struct, "0+")] = []
    reason: Annotated[str | None, string("8+", nullable="8+", ignorable=True)] = None


class JoinGroupResponseMember(WireStruct, kw_only=True):
    member_id: Annotated[str, string("0+")] = ""
    group_instance_id: Annotated[str | None, string("5+", nullable="5+", ignorable=True)] = None
    metadata: Annotated[bytes, binary("0+")] = b""


class JoinGroupResponse(Message, kw_only=True):
    API_KEY = 11
    VERSIONS = versions("0-9")
    FLEXIBLE = versions("6+")

    throttle_time_ms: Annotated[int, int32("2+", ignorable=True)] = 0
    error_code: Annotated[int, int16("0+")] = 0
    generation_id: Annotated[int, int32("0+")] = -1
    protocol_type: Annotated[str | None, string("7+", nullable="7+", ignorable=True)] = None
    protocol_name: Annotated[str | None, string("0+", nullable="7+")] = ""
    leader: Annotated[str, string("0+")] = ""
    skip_assignment: Annotated[bool, boolean("9+")] = False
    member_id: Annotated[str, string("0+")] = ""
    members: Annotated[list[JoinGroupResponseMember], array(struct, "0+")] = []
    """Only the leader gets them."""
