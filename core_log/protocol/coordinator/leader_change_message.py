"""The first record of a quorum leader's epoch (KIP-595)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import NO_ID, Message, WireStruct, array, int16, int32, struct, uuid, versions


class Voter(WireStruct, kw_only=True):
    voter_id: Annotated[int, int32("0+")] = 0
    voter_directory_id: Annotated[bytes, uuid("1+")] = NO_ID


class LeaderChangeMessage(Message, kw_only=True):
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("0+")

    version: Annotated[int, int16("0+")] = 0
    leader_id: Annotated[int, int32("0+")] = 0
    voters: Annotated[list[Voter], array(struct, "0+")] = []
    granting_voters: Annotated[list[Voter], array(struct, "0+")] = []
