"""Start offsets of a share group's topics removed (KIP-932)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import NO_ID, Message, WireStruct, array, int16, int32, string, struct, uuid, versions


class DeleteShareGroupOffsetsRequestTopic(WireStruct, kw_only=True):
    topic_name: Annotated[str, string("0+")] = ""


class DeleteShareGroupOffsetsRequest(Message, kw_only=True):
    API_KEY = 92
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    group_id: Annotated[str, string("0+")] = ""
    topics: Annotated[list[DeleteShareGroupOffsetsRequestTopic], array(struct, "0+")] = []


class DeleteShareGroupOffsetsResponseTopic(WireStruct, kw_only=True):
    topic_name: Annotated[str, string("0+")] = ""
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = None


class DeleteShareGroupOffsetsResponse(Message, kw_only=True):
    API_KEY = 92
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = None
    responses: Annotated[list[DeleteShareGroupOffsetsResponseTopic], array(struct, "0+")] = []
