"""State and members of consumer groups of the new protocol (KIP-848)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from msgspec import field

from ..schema import (
    INT32_MIN,
    NO_ID,
    Message,
    WireStruct,
    array,
    boolean,
    int8,
    int16,
    int32,
    string,
    struct,
    uuid,
    versions,
)


class ConsumerGroupDescribeRequest(Message, kw_only=True):
    API_KEY = 69
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("0+")

    group_ids: Annotated[list[str], array(string, "0+")] = []
    include_authorized_operations: Annotated[bool, boolean("0+")] = False


class TopicPartitions(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    topic_name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[int], array(int32, "0+")] = []


class Assignment(WireStruct, kw_only=True):
    topic_partitions: Annotated[list[TopicPartitions], array(struct, "0+")] = []


class Member(WireStruct, kw_only=True):
    member_id: Annotated[str, string("0+")] = ""
    instance_id: Annotated[str | None, string("0+", nullable="0+")] = None
    rack_id: Annotated[str | None, string("0+", nullable="0+")] = None
    member_epoch: Annotated[int, int32("0+")] = 0
    client_id: Annotated[str, string("0+")] = ""
    client_host: Annotated[str, string("0+")] = ""
    subscribed_topic_names: Annotated[list[str], array(string, "0+")] = []
    subscribed_topic_regex: Annotated[str | None, string("0+", nullable="0+")] = None
    assignment: Annotated[Assignment, struct("0+")] = field(default_factory=Assignment)
    target_assignment: Annotated[Assignment, struct("0+")] = field(default_factory=Assignment)
    member_type: Annotated[int, int8("1+", ignorable=True)] = -1


class DescribedGroup(WireStruct, kw_only=True):
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = None
    group_id: Annotated[str, string("0+")] = ""
    group_state: Annotated[str, string("0+")] = ""
    group_epoch: Annotated[int, int32("0+")] = 0
    assignment_epoch: Annotated[int, int32("0+")] = 0
    assignor_name: Annotated[str, string("0+")] = ""
    members: Annotated[list[Member], array(struct, "0+")] = []
    authorized_operations: Annotated[int, int32("0+")] = INT32_MIN


class ConsumerGroupDescribeResponse(Message, kw_only=True):
    API_KEY = 69
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    groups: Annotated[list[DescribedGroup], array(struct, "0+")] = []
