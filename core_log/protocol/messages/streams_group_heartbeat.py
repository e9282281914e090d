"""A member joins, stays in or leaves a streams group (KIP-1071)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from msgspec import field

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
    uint16,
    versions,
)


class KeyValue(WireStruct, kw_only=True):
    key: Annotated[str, string("0+")] = ""
    value: Annotated[str, string("0+")] = ""


class TopicInfo(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partitions: Annotated[int, int32("0+")] = 0
    replication_factor: Annotated[int, int16("0+")] = 0
    topic_configs: Annotated[list[KeyValue], array(struct, "0+")] = []


class CopartitionGroup(WireStruct, kw_only=True):
    source_topics: Annotated[list[int], array(int16, "0+")] = []
    source_topic_regex: Annotated[list[int], array(int16, "0+")] = []
    repartition_source_topics: Annotated[list[int], array(int16, "0+")] = []


class Subtopology(WireStruct, kw_only=True):
    subtopology_id: Annotated[str, string("0+")] = ""
    source_topics: Annotated[list[str], array(string, "0+")] = []
    source_topic_regex: Annotated[list[str], array(string, "0+")] = []
    state_changelog_topics: Annotated[list[TopicInfo], array(struct, "0+")] = []
    repartition_sink_topics: Annotated[list[str], array(string, "0+")] = []
    repartition_source_topics: Annotated[list[TopicInfo], array(struct, "0+")] = []
    copartition_groups: Annotated[list[CopartitionGroup], array(struct, "0+")] = []


class Topology(WireStruct, kw_only=True):
    epoch: Annotated[int, int32("0+")] = 0
    subtopologies: Annotated[list[Subtopology], array(struct, "0+")] = []


class TaskIds(WireStruct, kw_only=True):
    subtopology_id: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[int], array(int32, "0+")] = []


class Endpoint(WireStruct, kw_only=True):
    host: Annotated[str, string("0+")] = ""
    port: Annotated[int, uint16("0+")] = 0


class TaskOffset(WireStruct, kw_only=True):
    subtopology_id: Annotated[str, string("0+")] = ""
    partition: Annotated[int, int32("0+")] = 0
    offset: Annotated[int, int64("0+")] = 0


class StreamsGroupHeartbeatRequest(Message, kw_only=True):
    API_KEY = 88
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    group_id: Annotated[str, string("0+")] = ""
    member_id: Annotated[str, string("0+")] = ""
    member_epoch: Annotated[int, int32("0+")] = 0
    endpoint_information_epoch: Annotated[int, int32("0+")] = 0
    instance_id: Annotated[str | None, string("0+", nullable="0+")] = None
    rack_id: Annotated[str | None, string("0+", nullable="0+")] = None
    rebalance_timeout_ms: Annotated[int, int32("0+")] = -1
    topology: Annotated[Topology | None, struct("0+", nullable="0+")] = None
    active_tasks: Annotated[list[TaskIds] | None, array(struct, "0+", nullable="0+")] = None
    standby_tasks: Annotated[list[TaskIds] | None, array(struct, "0+", nullable="0+")] = None
    warmup_tasks: Annotated[list[TaskIds] | None, array(struct, "0+", nullable="0+")] = None
    process_id: Annotated[str | None, string("0+", nullable="0+")] = None
    user_endpoint: Annotated[Endpoint | None, struct("0+", nullable="0+")] = None
    client_tags: Annotated[list[KeyValue] | None, array(struct, "0+", nullable="0+")] = None
    task_offsets: Annotated[list[TaskOffset] | None, array(struct, "0+", nullable="0+")] = None
    task_end_offsets: Annotated[list[TaskOffset] | None, array(struct, "0+", nullable="0+")] = None
    shutdown_application: Annotated[bool, boolean("0+")] = False


class Status(WireStruct, kw_only=True):
    status_code: Annotated[int, int8("0+")] = 0
    status_detail: Annotated[str, string("0+")] = ""


class TopicPartition(WireStruct, kw_only=True):
    topic: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[int], array(int32, "0+")] = []


class EndpointToPartitions(WireStruct, kw_only=True):
    user_endpoint: Annotated[Endpoint, struct("0+")] = field(default_factory=Endpoint)
    active_partitions: Annotated[list[TopicPartition], array(struct, "0+")] = []
    standby_partitions: Annotated[list[TopicPartition], array(struct, "0+")] = []


class StreamsGroupHeartbeatResponse(Message, kw_only=True):
    API_KEY = 88
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = None
    member_id: Annotated[str, string("0+")] = ""
    member_epoch: Annotated[int, int32("0+")] = 0
    heartbeat_interval_ms: Annotated[int, int32("0+")] = 0
    acceptable_recovery_lag: Annotated[int, int32("0+")] = 0
    task_offset_interval_ms: Annotated[int, int32("0+")] = 0
    status: Annotated[list[Status] | None, array(struct, "0+", nullable="0+")] = []
    active_tasks: Annotated[list[TaskIds] | None, array(struct, "0+", nullable="0+")] = None
    standby_tasks: Annotated[list[TaskIds] | None, array(struct, "0+", nullable="0+")] = None
    warmup_tasks: Annotated[list[TaskIds] | None, array(struct, "0+", nullable="0+")] = None
    endpoint_information_epoch: Annotated[int, int32("0+")] = 0
    partitions_by_user_endpoint: Annotated[
        list[EndpointToPartitions] | None, array(struct, "0+", nullable="0+")
    ] = None
