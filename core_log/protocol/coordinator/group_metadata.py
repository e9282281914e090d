"""A classic group: its generation, its leader and its members with their assignments.

KIP-345 added the group instance id.
"""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, binary, int32, int64, string, struct, versions


class GroupMetadataKey(Message, kw_only=True):
    API_KEY = 2
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    group: Annotated[str, string("0")] = ""


class MemberMetadata(WireStruct, kw_only=True):
    member_id: Annotated[str, string("0+")] = ""
    group_instance_id: Annotated[str | None, string("3+", nullable="3+", ignorable=True)] = None
    client_id: Annotated[str, string("0+")] = ""
    client_host: Annotated[str, string("0+")] = ""
    rebalance_timeout: Annotated[int, int32("1+", ignorable=True)] = -1
    session_timeout: Annotated[int, int32("0+")] = 0
    subscription: Annotated[bytes, binary("0+")] = b""
    assignment: Annotated[bytes, binary("0+")] = b""


class GroupMetadataValue(Message, kw_only=True):
    API_KEY = 2
    VERSIONS = versions("0-4")
    FLEXIBLE = versions("4+")

    protocol_type: Annotated[str, string("0+")] = ""
    generation: Annotated[int, int32("0+")] = 0
    protocol: Annotated[str | None, string("0+", nullable="0+")] = ""
    leader: Annotated[str | None, string("0+", nullable="0+")] = ""
    current_state_timestamp: Annotated[int, int64("2+", ignorable=True)] = -1
    """When the group got into its state; -1 from old brokers."""
    members: Annotated[list[MemberMetadata], array(struct, "0+")] = []
