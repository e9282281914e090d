"""Start offsets of a share group set (KIP-932)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import (
    NO_ID,
    Message,
    WireStruct,
    array,
    int16,
    int32,
    int64,
    string,
    struct,
    uuid,
    versions,
)


class AlterShareGroupOffsetsRequestPartition(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    start_offset: Annotated[int, int64("0+")] = 0


class AlterShareGroupOffsetsRequestTopic(WireStruct, kw_only=True):
    topic_name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[AlterShareGroupOffsetsRequestPartition], array(struct, "0+")] = []


class AlterShareGroupOffsetsRequest(Message, kw_only=True):
    API_KEY = 91
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    group_id: Annotated[str, string("0+")] = ""
    topics: Annotated[list[AlterShareGroupOffsetsRequestTopic], array(struct, "0+")] = []


class AlterShareGroupOffsetsResponsePartition(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = None


class AlterShareGroupOffsetsResponseTopic(WireStruct, kw_only=True):
    topic_name: Annotated[str, string("0+")] = ""
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    partitions: Annotated[list[AlterShareGroupOffsetsResponsePartition], array(struct, "0+")] = []


class AlterShareGroupOffsetsResponse(Message, kw_only=True):
    API_KEY = 91
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = None
    responses: Annotated[list[AlterShareGroupOffsetsResponseTopic], array(struct, "0+")] = []
