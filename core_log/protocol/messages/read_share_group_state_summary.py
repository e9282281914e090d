"""Start offset and epoch of share partitions without their batches (KIP-932)."""

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


class PartitionData(WireStruct, kw_only=True):
    partition: Annotated[int, int32("0+")] = 0
    leader_epoch: Annotated[int, int32("0+")] = 0


class ReadStateSummaryData(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    partitions: Annotated[list[PartitionData], array(struct, "0+")] = []


class ReadShareGroupStateSummaryRequest(Message, kw_only=True):
    API_KEY = 87
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("0+")

    group_id: Annotated[str, string("0+")] = ""
    topics: Annotated[list[ReadStateSummaryData], array(struct, "0+")] = []


class PartitionResult(WireStruct, kw_only=True):
    partition: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = None
    state_epoch: Annotated[int, int32("0+")] = 0
    leader_epoch: Annotated[int, int32("0+")] = 0
    start_offset: Annotated[int, int64("0+")] = 0
    delivery_complete_count: Annotated[int, int32("1+", ignorable=True)] = -1


class ReadStateSummaryResult(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    partitions: Annotated[list[PartitionResult], array(struct, "0+")] = []


class ReadShareGroupStateSummaryResponse(Message, kw_only=True):
    API_KEY = 87
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("0+")

    results: Annotated[list[ReadStateSummaryResult], array(struct, "0+")] = []
