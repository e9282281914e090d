"""A voter tells the leader its endpoints and the versions it speaks (KIP-853)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from msgspec import field

from ..schema import (
    NO_ID,
    Message,
    WireStruct,
    array,
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


class KRaftVersionFeature(WireStruct, kw_only=True):
    min_supported_version: Annotated[int, int16("0+")] = 0
    max_supported_version: Annotated[int, int16("0+")] = 0


class UpdateRaftVoterRequest(Message, kw_only=True):
    API_KEY = 82
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    cluster_id: Annotated[str | None, string("0+", nullable="0+")] = ""
    current_leader_epoch: Annotated[int, int32("0+")] = 0
    voter_id: Annotated[int, int32("0+")] = 0
    voter_directory_id: Annotated[bytes, uuid("0+")] = NO_ID
    listeners: Annotated[list[Listener], array(struct, "0+")] = []
    kraft_version_feature: Annotated[KRaftVersionFeature, struct("0+")] = field(
        default_factory=KRaftVersionFeature
    )


class CurrentLeader(WireStruct, kw_only=True):
    leader_id: Annotated[int, int32("0+")] = -1
    leader_epoch: Annotated[int, int32("0+")] = -1
    host: Annotated[str, string("0+")] = ""
    port: Annotated[int, int32("0+")] = 0


class UpdateRaftVoterResponse(Message, kw_only=True):
    API_KEY = 82
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    current_leader: Annotated[CurrentLeader, struct("0+", tag=0)] = field(
        default_factory=CurrentLeader
    )
