"""A candidate of the metadata quorum asks for votes.

Before that it asks whether it would get them (KIP-595, KIP-996).
"""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import (
    NO_ID,
    Message,
    WireStruct,
    array,
    boolean,
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
    replica_epoch: Annotated[int, int32("0+")] = 0
    replica_id: Annotated[int, int32("0+")] = 0
    replica_directory_id: Annotated[bytes, uuid("1+", ignorable=True)] = NO_ID
    voter_directory_id: Annotated[bytes, uuid("1+", ignorable=True)] = NO_ID
    last_offset_epoch: Annotated[int, int32("0+")] = 0
    last_offset: Annotated[int, int64("0+")] = 0
    pre_vote: Annotated[bool, boolean("2+")] = False


class TopicData(WireStruct, kw_only=True):
    topic_name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[PartitionData], array(struct, "0+")] = []


class VoteRequest(Message, kw_only=True):
    API_KEY = 52
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("0+")

    cluster_id: Annotated[str | None, string("0+", nullable="0+")] = None
    voter_id: Annotated[int, int32("1+", ignorable=True)] = -1
    topics: Annotated[list[TopicData], array(struct, "0+")] = []


class PartitionDataResponse(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    leader_id: Annotated[int, int32("0+")] = 0
    leader_epoch: Annotated[int, int32("0+")] = 0
    vote_granted: Annotated[bool, boolean("0+")] = False


class TopicDataResponse(WireStruct, kw_only=True):
    topic_name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[PartitionDataResponse], array(struct, "0+")] = []


class NodeEndpoint(WireStruct, kw_only=True):
    node_id: Annotated[int, int32("1+")] = 0
    host: Annotated[str, string("1+")] = ""
    port: Annotated[int, uint16("1+")] = 0


class VoteResponse(Message, kw_only=True):
    API_KEY = 52
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("0+")

    error_code: Annotated[int, int16("0+")] = 0
    topics: Annotated[list[TopicDataResponse], array(struct, "0+")] = []
    node_endpoints: Annotated[list[NodeEndpoint], array(struct, "1+", tag=0)] = []
