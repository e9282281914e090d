"""A group's positions for some partitions removed (KIP-496)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int16, int32, string, struct, versions


class OffsetDeleteRequestPartition(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0


class OffsetDeleteRequestTopic(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[OffsetDeleteRequestPartition], array(struct, "0+")] = []


class OffsetDeleteRequest(Message, kw_only=True):
    API_KEY = 47
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    group_id: Annotated[str, string("0+")] = ""
    topics: Annotated[list[OffsetDeleteRequestTopic], array(struct, "0+")] = []


class OffsetDeleteResponsePartition(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0


class OffsetDeleteResponseTopic(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[OffsetDeleteResponsePartition], array(struct, "0+")] = []


class OffsetDeleteResponse(Message, kw_only=True):
    API_KEY = 47
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    error_code: Annotated[int, int16("0+")] = 0
    throttle_time_ms: Annotated[int, int32("0+", ignorable=True)] = 0
    topics: Annotated[list[OffsetDeleteResponseTopic], array(struct, "0+")] = []
