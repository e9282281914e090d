"""Topics and partitions page by page, with eligible leaders (KIP-966)."""

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


class TopicRequest(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""


class Cursor(WireStruct, kw_only=True):
    topic_name: Annotated[str, string("0+")] = ""
    partition_index: Annotated[int, int32("0+")] = 0


class DescribeTopicPartitionsRequest(Message, kw_only=True):
    API_KEY = 75
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    topics: Annotated[list[TopicRequest], array(struct, "0+")] = []
    response_partition_limit: Annotated[int, int32("0+")] = 2000
    cursor: Annotated[Cursor | None, struct("0+", nullable="0+")] = None
    """Where to go on; null starts over."""


class DescribeTopicPartitionsResponsePartition(WireStruct, kw_only=True):
    error_code: Annotated[int, int16("0+")] = 0
    partition_index: Annotated[int, int32("0+")] = 0
    leader_id: Annotated[int, int32("0+")] = 0
    leader_epoch: Annotated[int, int32("0+", ignorable=True)] = -1
    replica_nodes: Annotated[list[int], array(int32, "0+")] = []
    isr_nodes: Annotated[list[int], array(int32, "0+")] = []
    eligible_leader_replicas: Annotated[list[int] | None, array(int32, "0+", nullable="0+")] = None
    last_known_elr: Annotated[list[int] | None, array(int32, "0+", nullable="0+")] = None
    offline_replicas: Annotated[list[int], array(int32, "0+", ignorable=True)] = []


class DescribeTopicPartitionsResponseTopic(WireStruct, kw_only=True):
    error_code: Annotated[int, int16("0+")] = 0
    name: Annotated[str | None, string("0+", nullable="0+")] = ""
    topic_id: Annotated[bytes, uuid("0+", ignorable=True)] = NO_ID
    is_internal: Annotated[bool, boolean("0+", ignorable=True)] = False
    partitions: Annotated[list[DescribeTopicPartitionsResponsePartition], array(struct, "0+")] = []
    topic_authorized_operations: Annotated[int, int32("0+")] = INT32_MIN


class DescribeTopicPartitionsResponse(Message, kw_only=True):
    API_KEY = 75
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+", ignorable=True)] = 0
    topics: Annotated[list[DescribeTopicPartitionsResponseTopic], array(struct, "0+")] = []
    next_cursor: Annotated[Cursor | None, struct("0+", nullable="0+")] = None
    """Where the next page starts; null at the end."""
