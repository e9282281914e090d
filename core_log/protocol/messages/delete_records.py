"""The start of partitions moved up, so that older records are gone (KIP-107)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int16, int32, int64, string, struct, versions


class DeleteRecordsPartition(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    offset: Annotated[int, int64("0+")] = 0
    """Records below it go; -1 stands for the high watermark."""


class DeleteRecordsTopic(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[DeleteRecordsPartition], array(struct, "0+")] = []


class DeleteRecordsRequest(Message, kw_only=True):
    API_KEY = 21
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("2+")

    topics: Annotated[list[DeleteRecordsTopic], array(struct, "0+")] = []
    timeout_ms: Annotated[int, int32("0+")] = 0


class DeleteRecordsPartitionResult(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    low_watermark: Annotated[int, int64("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0


class DeleteRecordsTopicResult(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[DeleteRecordsPartitionResult], array(struct, "0+")] = []


class DeleteRecordsResponse(Message, kw_only=True):
    API_KEY = 21
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("2+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    topics: Annotated[list[DeleteRecordsTopicResult], array(struct, "0+")] = []
