"""A new voter for the metadata quorum (KIP-853)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import (
    NO_ID,
    Message,
    WireStruct,
    array,
    boolean,
    int16,
    int32,
    string,
    struct,
    uint16,
    uuid,
    versions,
)


class Listener(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    host: Annotated[str, string("0+")] = ""
    port: Annotated[int, uint16("0+")] = 0


class AddRaftVoterRequest(Message, kw_only=True):
    API_KEY = 80
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("0+")

    cluster_id: Annotated[str | None, string("0+", nullable="0+")] = ""
    timeout_ms: Annotated[int, int32("0+")] = 0
    voter_id: Annotated[int, int32("0+")] = 0
    voter_directory_id: Annotated[bytes, uuid("0+")] = NO_ID
    listeners: Annotated[list[Listener], array(struct, "0+")] = []
    ack_when_committed: Annotated[bool, boolean("1+")] = True


class AddRaftVoterResponse(Message, kw_only=True):
    API_KEY = 80
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+", ignorable=True)] = ""
