"""Members leave a classic group; several at once since version 3 (KIP-345)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int16, int32, string, struct, versions


class MemberIdentity(WireStruct, kw_only=True):
    member_id: Annotated[str, string("3+")] = ""
    group_instance_id: Annotated[str | None, string("3+", nullable="3+")] = None
    reason: Annotated[str | None, string("5+", nullable="5+", ignorable=True)] = None


class LeaveGroupRequest(Message, kw_only=True):
    API_KEY = 13
    VERSIONS = versions("0-5")
    FLEXIBLE = versions("4+")

    group_id: Annotated[str, string("0+")] = ""
    member_id: Annotated[str, string("0-2")] = ""
    members: Annotated[list[MemberIdentity], array(struct, "3+")] = []


class MemberResponse(WireStruct, kw_only=True):
    member_id: Annotated[str, string("3+")] = ""
    group_instance_id: Annotated[str | None, string("3+", nullable="3+")] = ""
    error_code: Annotated[int, int16("3+")] = 0


class LeaveGroupResponse(Message, kw_only=True):
    API_KEY = 13
    VERSIONS = versions("0-5")
    FLEXIBLE = versions("4+")

    throttle_time_ms: Annotated[int, int32("1+", ignorable=True)] = 0
    error_code: Annotated[int, int16("0+")] = 0
    members: Annotated[list[MemberResponse], array(struct, "3+")] = []
