"""Groups without members removed, with their offsets (KIP-229)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int16, int32, string, struct, versions


class DeleteGroupsRequest(Message, kw_only=True):
    API_KEY = 42
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("2+")

    groups_names: Annotated[list[str], array(string, "0+")] = []


class DeletableGroupResult(WireStruct, kw_only=True):
    group_id: Annotated[str, string("0+")] = ""
    error_code: Annotated[int, int16("0+")] = 0


class DeleteGroupsResponse(Message, kw_only=True):
    API_KEY = 42
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("2+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    results: Annotated[list[DeletableGroupResult], array(struct, "0+")] = []
