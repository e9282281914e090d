"""Which broker coordinates a group, a transactional id or a share group.

Several keys at once since version 4 (KIP-699).
"""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int8, int16, int32, string, struct, versions


class FindCoordinatorRequest(Message, kw_only=True):
    API_KEY = 10
    VERSIONS = versions("0-6")
    FLEXIBLE = versions("3+")

    key: Annotated[str, string("0-3")] = ""
    key_type: Annotated[int, int8("1+")] = 0
    """0: group, 1: transaction, 2: share group."""
    coordinator_keys: Annotated[list[str], array(string, "4+")] = []


class Coordinator(WireStruct, kw_only=True):
    key: Annotated[str, string("4+")] = ""
    node_id: Annotated[int, int32("4+")] = 0
    host: Annotated[str, string("4+")] = ""
    port: Annotated[int, int32("4+")] = 0
    error_code: Annotated[int, int16("4+")] = 0
    error_message: Annotated[str | None, string("4+", nullable="4+", ignorable=True)] = ""


class FindCoordinatorResponse(Message, kw_only=True):
    API_KEY = 10
    VERSIONS = versions("0-6")
    FLEXIBLE = versions("3+")

    throttle_time_ms: Annotated[int, int32("1+", ignorable=True)] = 0
    error_code: Annotated[int, int16("0-3")] = 0
    error_message: Annotated[str | None, string("1-3", nullable="1-3", ignorable=True)] = ""
    node_id: Annotated[int, int32("0-3")] = 0
    host: Annotated[str, string("0-3")] = ""
    port: Annotated[int, int32("0-3")] = 0
    coordinators: Annotated[list[Coordinator], array(struct, "4+")] = []
