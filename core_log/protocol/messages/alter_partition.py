"""A partition's leader asks the controller to change the in-sync replicas (KIP-497)."""

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
    struct,
    uuid,
    versions,
)


class BrokerState(WireStruct, kw_only=True):
    broker_id: Annotated[int, int32("3+")] = 0
    broker_epoch: Annotated[int, int64("3+")] = -1


class PartitionData(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    leader_epoch: Annotated[int, int32("0+")] = 0
    new_isr: Annotated[list[int], array(int32, "0-2")] = []
    new_isr_with_epochs: Annotated[list[BrokerState], array(struct, "3+")] = []
    leader_recovery_state: Annotated[int, int8("1+")] = 0
    partition_epoch: Annotated[int, int32("0+")] = 0


class TopicData(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("2+", ignorable=True)] = NO_ID
    partitions: Annotated[list[PartitionData], array(struct, "0+")] = []


class AlterPartitionRequest(Message, kw_only=True):
    API_KEY = 56
    VERSIONS = versions("2-3")
    FLEXIBLE = versions("0+")

    broker_id: Annotated[int, int32("0+")] = 0
    broker_epoch: Annotated[int, int64("0+")] = -1
    topics: Annotated[list[TopicData], array(struct, "0+")] = []


class PartitionDataResponse(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    leader_id: Annotated[int, int32("0+")] = 0
    leader_epoch: Annotated[int, int32("0+")] = 0
    isr: Annotated[list[int], array(int32, "0+")] = []
    leader_recovery_state: Annotated[int, int8("1+", ignorable=True)] = 0
    partition_epoch: Annotated[int, int32("0+")] = 0


class TopicDataResponse(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("2+", ignorable=True)] = NO_ID
    partitions: Annotated[list[PartitionDataResponse], array(struct, "0+")] = []


class AlterPartitionResponse(Message, kw_only=True):
    API_KEY = 56
    VERSIONS = versions("2-3")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    topics: Annotated[list[TopicDataResponse], array(struct, "0+")] = []
