"""A coordinator has the end of transactions written into their partitions (KIP-98)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import (
    Message,
    WireStruct,
    array,
    boolean,
    int8,
    int16,
    int32,
    int64,
    string,
    struct,
    versions,
)


class WritableTxnMarkerTopic(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partition_indexes: Annotated[list[int], array(int32, "0+")] = []


class WritableTxnMarker(WireStruct, kw_only=True):
    producer_id: Annotated[int, int64("0+")] = 0
    producer_epoch: Annotated[int, int16("0+")] = 0
    transaction_result: Annotated[bool, boolean("0+")] = False
    topics: Annotated[list[WritableTxnMarkerTopic], array(struct, "0+")] = []
    coordinator_epoch: Annotated[int, int32("0+")] = 0
    transaction_version: Annotated[int, int8("2+", ignorable=True)] = 0


class WriteTxnMarkersRequest(Message, kw_only=True):
    API_KEY = 27
    VERSIONS = versions("1-2")
    FLEXIBLE = versions("1+")

    markers: Annotated[list[WritableTxnMarker], array(struct, "0+")] = []


class WritableTxnMarkerPartitionResult(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0


class WritableTxnMarkerTopicResult(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[WritableTxnMarkerPartitionResult], array(struct, "0+")] = []


class WritableTxnMarkerResult(WireStruct, kw_only=True):
    producer_id: Annotated[int, int64("0+")] = 0
    topics: Annotated[list[WritableTxnMarkerTopicResult], array(struct, "0+")] = []


class WriteTxnMarkersResponse(Message, kw_only=True):
    API_KEY = 27
    VERSIONS = versions("1-2")
    FLEXIBLE = versions("1+")

    markers: Annotated[list[WritableTxnMarkerResult], array(struct, "0+")] = []
