"""The producers a partition remembers, with their open transactions (KIP-664)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int16, int32, int64, string, struct, versions


class TopicRequest(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partition_indexes: Annotated[list[int], array(int32, "0+")] = []


class DescribeProducersRequest(Message, kw_only=True):
    API_KEY = 61
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    topics: Annotated[list[TopicRequest], array(struct, "0+")] = []


class ProducerState(WireStruct, kw_only=True):
    producer_id: Annotated[int, int64("0+")] = 0
    producer_epoch: Annotated[int, int32("0+")] = 0
    last_sequence: Annotated[int, int32("0+")] = -1
    last_timestamp: Annotated[int, int64("0+")] = -1
    coordinator_epoch: Annotated[int, int32("0+")] = 0
    current_txn_start_offset: Annotated[int, int64("0+")] = -1


class PartitionResponse(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = None
    active_producers: Annotated[list[ProducerState], array(struct, "0+")] = []


class TopicResponse(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[PartitionResponse], array(struct, "0+")] = []


class DescribeProducersResponse(Message, kw_only=True):
    API_KEY = 61
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    topics: Annotated[list[TopicResponse], array(struct, "0+")] = []
