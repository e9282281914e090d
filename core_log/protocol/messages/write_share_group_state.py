"""New state of share partitions, stored (KIP-932)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import (
    NO_ID,
    Message,
    WireStruct,
    array,
    int8,
    int16,
    int32,
    int64,
    string,
    struct,
    uuid,
    versions,
)


class StateBatch(WireStruct, kw_only=True):
    first_offset: Annotated[int, int64("0+")] = 0
    last_offset: Annotated[int, int64("0+")] = 0
    delivery_state: Annotated[int, int8("0+")] = 0
    delivery_count: Annotated[int, int16("0+")] = 0


class PartitionData(WireStruct, kw_only=True):
    partition: Annotated[int, int32("0+")] = 0
    state_epoch: Annotated[int, int32("0+")] = 0
    leader_epoch: Annotated[int, int32("0+")] = 0
    start_offset: Annotated[int, int64("0+")] = 0
    delivery_complete_count: Annotated[int, int32("1+", ignorable=True)] = -1
    state_batches: Annotated[list[StateBatch], array(struct, "0+")] = []


class WriteStateData(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    partitions: Annotated[list[PartitionData], array(struct, "0+")] = []


class WriteShareGroupStateRequest(Message, kw_only=True):
    API_KEY = 85
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("0+")

    group_id: Annotated[str, string("0+")] = ""
    topics: Annotated[list[WriteStateData], array(struct, "0+")] = []


class PartitionResult(WireStruct, kw_only=True):
    partition: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = None


class WriteStateResult(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    partitions: Annotated[list[PartitionResult], array(struct, "0+")] = []


class WriteShareGroupStateResponse(Message, kw_only=True):
    API_KEY = 85
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("0+")

    results: Annotated[list[WriteStateResult], array(struct, "0+")] = []
