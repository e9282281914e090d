"""The quorum's voters with their endpoints (KIP-853)."""

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


class Endpoint(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    host: Annotated[str, string("0+")] = ""
    port: Annotated[int, uint16("0+")] = 0


class KRaftVersionFeature(WireStruct, kw_only=True):
    min_supported_version: Annotated[int, int16("0+")] = 0
    max_supported_version: Annotated[int, int16("0+")] = 0


class Voter(WireStruct, kw_only=True):
    voter_id: Annotated[int, int32("0+")] = 0
    voter_directory_id: Annotated[bytes, uuid("0+")] = NO_ID
    endpoints: Annotated[list[Endpoint], array(struct, "0+")] = []
    kraft_version_feature: Annotated[KRaftVersionFeature, struct("0+")] = field(
        default_factory=KRaftVersionFeature
    )


class VotersRecord(Message, kw_only=True):
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    version: Annotated[int, int16("0+")] = 0
    voters: Annotated[list[Voter], array(struct, "0+")] = []
