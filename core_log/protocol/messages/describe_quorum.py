"""How far each voter and observer of the metadata quorum has come (KIP-595, KIP-836)."""

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
    uint16,
    uuid,
    versions,
)


class PartitionData(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0


class TopicData(WireStruct, kw_only=True):
    topic_name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[PartitionData], array(struct, "0+")] = []


class DescribeQuorumRequest(Message, kw_only=True):
    API_KEY = 55
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("0+")

    topics: Annotated[list[TopicData], array(struct, "0+")] = []


class ReplicaState(WireStruct, kw_only=True):
    replica_id: Annotated[int, int32("0+")] = 0
    replica_directory_id: Annotated[bytes, uuid("2+")] = NO_ID
    log_end_offset: Annotated[int, int64("0+")] = 0
    last_fetch_timestamp: Annotated[int, int64("1+", ignorable=True)] = -1
    last_caught_up_timestamp: Annotated[int, int64("1+", ignorable=True)] = -1


class PartitionDataResponse(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("2+", nullable="2+", ignorable=True)] = ""
    leader_id: Annotated[int, int32("0+")] = 0
    leader_epoch: Annotated[int, int32("0+")] = 0
    high_watermark: Annotated[int, int64("0+")] = 0
    current_voters: Annotated[list[ReplicaState], array(struct, "0+")] = []
    observers: Annotated[list[ReplicaState], array(struct, "0+")] = []


class TopicDataResponse(WireStruct, kw_only=True):
    topic_name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[PartitionDataResponse], array(struct, "0+")] = []


class Listener(WireStruct, kw_only=True):
    name: Annotated[str, string("2+")] = ""
    host: Annotated[str, string("2+")] = ""
    port: Annotated[int, uint16("2+")] = 0


class Node(WireStruct, kw_only=True):
    node_id: Annotated[int, int32("2+")] = 0
    listeners: Annotated[list[Listener], array(struct, "2+")] = []


class DescribeQuorumResponse(Message, kw_only=True):
    API_KEY = 55
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("0+")

    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("2+", nullable="2+", ignorable=True)] = ""
    topics: Annotated[list[TopicDataResponse], array(struct, "0+")] = []
    nodes: Annotated[list[Node], array(struct, "2+")] = []
