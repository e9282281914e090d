"""A voter taken out of the metadata quorum (KIP-853)."""

from typing import Annotated

from ..schema import NO_ID, Message, int16, int32, string, uuid, versions


class RemoveRaftVoterRequest(Message, kw_only=True):
    API_KEY = 81
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    cluster_id: Annotated[str | None, string("0+", nullable="0+")] = ""
    voter_id: Annotated[int, int32("0+")] = 0
    voter_directory_id: Annotated[bytes, uuid("0+")] = NO_ID


class RemoveRaftVoterResponse(Message, kw_only=True):
    API_KEY = 81
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+", ignorable=True)] = ""
