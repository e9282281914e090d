"""The stored state of share partitions removed (KIP-932)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import NO_ID, Message, WireStruct, array, int16, int32, string, struct, uuid, versions


class PartitionData(WireStruct, kw_only=True):
    partition: Annotated[int, int32("0+")] = 0


class DeleteStateData(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    partitions: Annotated[list[PartitionData], array(struct, "0+")] = []


class DeleteShareGroupStateRequest(Message, kw_only=True):
    API_KEY = 86
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    group_id: Annotated[str, string("0+")] = ""
    topics: Annotated[list[DeleteStateData], array(struct, "0+")] = []


class PartitionResult(WireStruct, kw_only=True):
    partition: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = None


class DeleteStateResult(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    partitions: Annotated[list[PartitionResult], array(struct, "0+")] = []


class DeleteShareGroupStateResponse(Message, kw_only=True):
    API_KEY = 86
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    results: Annotated[list[DeleteStateResult], array(struct, "0+")] = []
