"""The groups that a broker coordinates, by state (KIP-518) and type (KIP-848) if asked."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int16, int32, string, struct, versions


class ListGroupsRequest(Message, kw_only=True):
    API_KEY = 16
    VERSIONS = versions("0-5")
    FLEXIBLE = versions("3+")

    states_filter: Annotated[list[str], array(string, "4+")] = []
    types_filter: Annotated[list[str], array(string, "5+")] = []


class ListedGroup(WireStruct, kw_only=True):
    group_id: Annotated[str, string("0+")] = ""
    protocol_type: Annotated[str, string("0+")] = ""
    group_state: Annotated[str, string("4+", ignorable=True)] = ""
    group_type: Annotated[str, string("5+", ignorable=True)] = ""


class ListGroupsResponse(Message, kw_only=True):
    API_KEY = 16
    VERSIONS = versions("0-5")
    FLEXIBLE = versions("3+")

    throttle_time_ms: Annotated[int, int32("1+", ignorable=True)] = 0
    error_code: Annotated[int, int16("0+")] = 0
    groups: Annotated[list[ListedGroup], array(struct, "0+")] = []
