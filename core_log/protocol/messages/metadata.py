"""Which topics and partitions there are, who leads them, and the brokers' addresses.

KIP-516 brought topic ids, KIP-700 moved the cluster's authorized operations to DescribeCluster.
"""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import (
    INT32_MIN,
    NO_ID,
    Message,
    WireStruct,
    array,
    boolean,
    int16,
    int32,
    string,
    struct,
    uuid,
    versions,
)


class MetadataRequestTopic(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("10+", ignorable=True)] = NO_ID
    name: Annotated[str | None, string("0+", nullable="10+")] = ""


class MetadataRequest(Message, kw_only=True):
    API_KEY = 3
    VERSIONS = versions("0-13")
    FLEXIBLE = versions("9+")

    topics: Annotated[list[MetadataRequestTopic] | None, array(struct, "0+", nullable="1+")] = []
    """Null asks for all topics; so does an empty list in version 0, which later asks for none."""
    allow_auto_topic_creation: Annotated[bool, boolean("4+")] = True
    include_cluster_authorized_operations: Annotated[bool, boolean("8-10")] = False
    include_topic_authorized_operations: Annotated[bool, boolean("8+")] = False


class MetadataResponseBroker(WireStruct, kw_only=True):
    node_id: Annotated[int, int32("0+")] = 0
    host: Annotated[str, string("0+")] = ""
    port: Annotated[int, int32("0+")] = 0
    rack: Annotated[str | None, string("1+", nullable="1+", ignorable=True)] = None


class MetadataResponsePartition(WireStruct, kw_only=True):
    error_code: Annotated[int, int16("0+")] = 0
    partition_index: Annotated[int, int32("0+")] = 0
    leader_id: Annotated[int, int32("0+")] = 0
    """-1 when there is none."""
    leader_epoch: Annotated[int, int32("7+", ignorable=True)] = -1
    replica_nodes: Annotated[list[int], array(int32, "0+")] = []
    isr_nodes: Annotated[list[int], array(int32, "0+")] = []
    offline_replicas: Annotated[list[int], array(int32, "5+", ignorable=True)] = []


class MetadataResponseTopic(WireStruct, kw_only=True):
    error_code: Annotated[int, int16("0+")] = 0
    name: Annotated[str | None, string("0+", nullable="12+")] = ""
    topic_id: Annotated[bytes, uuid("10+", ignorable=True)] = NO_ID
    is_internal: Annotated[bool, boolean("1+", ignorable=True)] = False
    partitions: Annotated[list[MetadataResponsePartition], array(struct, "0+")] = []
    topic_authorized_operations: Annotated[int, int32("8+")] = INT32_MIN
    """Bits by operation; the smallest int32 when not asked for."""


class MetadataResponse(Message, kw_only=True):
    API_KEY = 3
    VERSIONS = versions("0-13")
    FLEXIBLE = versions("9+")

    throttle_time_ms: Annotated[int, int32("3+", ignorable=True)] = 0
    brokers: Annotated[list[MetadataResponseBroker], array(struct, "0+")] = []
    cluster_id: Annotated[str | None, string("2+", nullable="2+", ignorable=True)] = None
    controller_id: Annotated[int, int32("1+", ignorable=True)] = -1
    topics: Annotated[list[MetadataResponseTopic], array(struct, "0+")] = []
    cluster_authorized_operations: Annotated[int, int32("8-10")] = INT32_MIN
    error_code: Annotated[int, int16("13+", ignorable=True)] = 0
