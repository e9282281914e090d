"""A broker tells the controller which directories hold its replicas (KIP-858)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import NO_ID, Message, WireStruct, array, int16, int32, int64, struct, uuid, versions


class PartitionData(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0


class TopicData(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    partitions: Annotated[list[PartitionData], array(struct, "0+")] = []


class DirectoryData(WireStruct, kw_only=True):
    id: Annotated[bytes, uuid("0+")] = NO_ID
    topics: Annotated[list[TopicData], array(struct, "0+")] = []


class AssignReplicasToDirsRequest(Message, kw_only=True):
    API_KEY = 73
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    broker_id: Annotated[int, int32("0+")] = 0
    broker_epoch: Annotated[int, int64("0+")] = -1
    directories: Annotated[list[DirectoryData], array(struct, "0+")] = []


class PartitionDataResponse(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0


class TopicDataResponse(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    partitions: Annotated[list[PartitionDataResponse], array(struct, "0+")] = []


class DirectoryDataResponse(WireStruct, kw_only=True):
    id: Annotated[bytes, uuid("0+")] = NO_ID
    topics: Annotated[list[TopicDataResponse], array(struct, "0+")] = []


class AssignReplicasToDirsResponse(Message, kw_only=True):
    API_KEY = 73
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    directories: Annotated[list[DirectoryDataResponse], array(struct, "0+")] = []
