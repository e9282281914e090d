"""A new leader of the metadata quorum makes itself known (KIP-595)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import (
    NO_ID,
    Message,
    WireStruct,
    array,
    int16,
    int32,
    string,
    struct,
    uint16,
    uuid,
    versions,
)


class PartitionData(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    voter_directory_id: Annotated[bytes, uuid("1+", ignorable=True)] = NO_ID
    leader_id: Annotated[int, int32("0+")] = 0
    leader_epoch: Annotated[int, int32("0+")] = 0


class TopicData(WireStruct, kw_only=True):
    topic_name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[PartitionData], array(struct, "0+")] = []


class LeaderEndpoint(WireStruct, kw_only=True):
    name: Annotated[str, string("1+")] = ""
    host: Annotated[str, string("1+")] = ""
    port: Annotated[int, uint16("1+")] = 0


class BeginQuorumEpochRequest(Message, kw_only=True):
    API_KEY = 53
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("1+")

    cluster_id: Annotated[str | None, string("0+", nullable="0+")] = None
    voter_id: Annotated[int, int32("1+", ignorable=True)] = -1
    topics: Annotated[list[TopicData], array(struct, "0+")] = []
    leader_endpoints: Annotated[list[LeaderEndpoint], array(struct, "1+", ignorable=True)] = []


class PartitionDataResponse(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    leader_id: Annotated[int, int32("0+")] = 0
    leader_epoch: Annotated[int, int32("0+")] = 0


class TopicDataResponse(WireStruct, kw_only=True):
    topic_name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[PartitionDataResponse], array(struct, "0+")] = []


class NodeEndpoint(WireStruct, kw_only=True):
    node_id: Annotated[int, int32("1+")] = 0
    host: Annotated[str, string("1+")] = ""
    port: Annotated[int, uint16("1+")] = 0


class BeginQuorumEpochResponse(Message, kw_only=True):
    API_KEY = 53
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("1+")

    error_code: Annotated[int, int16("0+")] = 0
    topics: Annotated[list[TopicDataResponse], array(struct, "0+")] = []
    node_endpoints: Annotated[list[NodeEndpoint], array(struct, "1+", tag=0)] = []
