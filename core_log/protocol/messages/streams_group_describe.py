"""State, topology and members of streams groups (KIP-1071)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from msgspec import field

from ..schema import (
    INT32_MIN,
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
    versions,
)


class StreamsGroupDescribeRequest(Message, kw_only=True):
    API_KEY = 89
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    group_ids: Annotated[list[str], array(string, "0+")] = []
    include_authorized_operations: Annotated[bool, boolean("0+")] = False


class KeyValue(WireStruct, kw_only=True):
    key: Annotated[str, string("0+")] = ""
    value: Annotated[str, string("0+")] = ""


class TopicInfo(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partitions: Annotated[int, int32("0+")] = 0
    replication_factor: Annotated[int, int16("0+")] = 0
    topic_configs: Annotated[list[KeyValue], array(struct, "0+")] = []


class Subtopology(WireStruct, kw_only=True):
    subtopology_id: Annotated[str, string("0+")] = ""
    source_topics: Annotated[list[str], array(string, "0+")] = []
    repartition_sink_topics: Annotated[list[str], array(string, "0+")] = []
    state_changelog_topics: Annotated[list[TopicInfo], array(struct, "0+")] = []
    repartition_source_topics: Annotated[list[TopicInfo], array(struct, "0+")] = []


class Topology(WireStruct, kw_only=True):
    epoch: Annotated[int, int32("0+")] = 0
    subtopologies: Annotated[list[Subtopology] | None, array(struct, "0+", nullable="0+")] = None


class Endpoint(WireStruct, kw_only=True):
    host: Annotated[str, string("0+")] = ""
    port: Annotated[int, uint16("0+")] = 0


class TaskOffset(WireStruct, kw_only=True):
    subtopology_id: Annotated[str, string("0+")] = ""
    partition: Annotated[int, int32("0+")] = 0
    offset: Annotated[int, int64("0+")] = 0


class TaskIds(WireStruct, kw_only=True):
    subtopology_id: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[int], array(int32, "0+")] = []


class Assignment(WireStruct, kw_only=True):
    active_tasks: Annotated[list[TaskIds], array(struct, "0+")] = []
    standby_tasks: Annotated[list[TaskIds], array(struct, "0+")] = []
    warmup_tasks: Annotated[list[TaskIds], array(struct, "0+")] = []


class Member(WireStruct, kw_only=True):
    member_id: Annotated[str, string("0+")] = ""
    member_epoch: Annotated[int, int32("0+")] = 0
    instance_id: Annotated[str | None, string("0+", nullable="0+")] = None
    rack_id: Annotated[str | None, string("0+", nullable="0+")] = None
    client_id: Annotated[str, string("0+")] = ""
    client_host: Annotated[str, string("0+")] = ""
    topology_epoch: Annotated[int, int32("0+")] = 0
    process_id: Annotated[str, string("0+")] = ""
    user_endpoint: Annotated[Endpoint | None, struct("0+", nullable="0+")] = None
    client_tags: Annotated[list[KeyValue], array(struct, "0+")] = []
    task_offsets: Annotated[list[TaskOffset], array(struct, "0+")] = []
    task_end_offsets: Annotated[list[TaskOffset], array(struct, "0+")] = []
    assignment: Annotated[Assignment, struct("0+")] = field(default_factory=Assignment)
    target_assignment: Annotated[Assignment, struct("0+")] = field(default_factory=Assignment)
    is_classic: Annotated[bool, boolean("0+")] = False


class DescribedGroup(WireStruct, kw_only=True):
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = None
    group_id: Annotated[str, string("0+")] = ""
    group_state: Annotated[str, string("0+")] = ""
    group_epoch: Annotated[int, int32("0+")] = 0
    assignment_epoch: Annotated[int, int32("0+")] = 0
    topology: Annotated[Topology | None, struct("0+", nullable="0+")] = None
    members: Annotated[list[Member], array(struct, "0+")] = []
    authorized_operations: Annotated[int, int32("0+")] = INT32_MIN


class StreamsGroupDescribeResponse(Message, kw_only=True):
    API_KEY = 89
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    groups: Annotated[list[DescribedGroup], array(struct, "0+")] = []
