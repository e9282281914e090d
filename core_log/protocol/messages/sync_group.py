"""The leader of a classic group hands in the assignment, each member takes its part home."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, binary, int16, int32, string, struct, versions


class SyncGroupRequestAssignment(WireStruct, kw_only=True):
    member_id: Annotated[str, string("0+")] = ""
    assignment: Annotated[bytes, binary("0+")] = b""


class SyncGroupRequest(Message, kw_only=True):
    API_KEY = 14
    VERSIONS = versions("0-5")
    FLEXIBLE = versions("4+")

    group_id: Annotated[str, string("0+")] = ""
    generation_id: Annotated[int, int32("0+")] = 0
    member_id: Annotated[str, string("0+")] = ""
    group_instance_id: Annotated[str | None, string("3+", nullable="3+")] = None
    protocol_type: Annotated[str | None, string("5+", nullable="5+", ignorable=True)] = None
    protocol_name: Annotated[str | None, string("5+", nullable="5+", ignorable=True)] = None
    assignments: Annotated[list[SyncGroupRequestAssignment], array(struct, "0+")] = []


class SyncGroupResponse(Message, kw_only=True):
    API_KEY = 14
    VERSIONS = versions("0-5")
    FLEXIBLE = versions("4+")

    throttle_time_ms: Annotated[int, int32("1+", ignorable=True)] = 0
    error_code: Annotated[int, int16("0+")] = 0
    protocol_type: Annotated[str | None, string("5+", nullable="5+", ignorable=True)] = None
    protocol_name: Annotated[str | None, string("5+", nullable="5+", ignorable=True)] = None
    assignment: Annotated[bytes, binary("0+")] = b""
