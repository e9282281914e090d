"""Where share groups start to read (KIP-932)."""

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


class DescribeShareGroupOffsetsRequestTopic(WireStruct, kw_only=True):
    topic_name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[int], array(int32, "0+")] = []


class DescribeShareGroupOffsetsRequestGroup(WireStruct, kw_only=True):
    group_id: Annotated[str, string("0+")] = ""
    topics: Annotated[
        list[DescribeShareGroupOffsetsRequestTopic] | None, array(struct, "0+", nullable="0+")
    ] = []


class DescribeShareGroupOffsetsRequest(Message, kw_only=True):
    API_KEY = 90
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("0+")

    groups: Annotated[list[DescribeShareGroupOffsetsRequestGroup], array(struct, "0+")] = []


class DescribeShareGroupOffsetsResponsePartition(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    start_offset: Annotated[int, int64("0+")] = 0
    leader_epoch: Annotated[int, int32("0+")] = 0
    lag: Annotated[int, int64("1+", ignorable=True)] = -1
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = None


class DescribeShareGroupOffsetsResponseTopic(WireStruct, kw_only=True):
    topic_name: Annotated[str, string("0+")] = ""
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    partitions: Annotated[
        list[DescribeShareGroupOffsetsResponsePartition], array(struct, "0+")
    ] = []


class DescribeShareGroupOffsetsResponseGroup(WireStruct, kw_only=True):
    group_id: Annotated[str, string("0+")] = ""
    topics: Annotated[list[DescribeShareGroupOffsetsResponseTopic], array(struct, "0+")] = []
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = None


class DescribeShareGroupOffsetsResponse(Message, kw_only=True):
    API_KEY = 90
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    groups: Annotated[list[DescribeShareGroupOffsetsResponseGroup], array(struct, "0+")] = []
