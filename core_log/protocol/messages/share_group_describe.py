"""State and members of share groups (KIP-932)."""

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
    int16,
    int32,
    string,
    struct,
    uuid,
    versions,
)


class ShareGroupDescribeRequest(Message, kw_only=True):
    API_KEY = 77
    VERSIONS = versions("1")
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
    rack_id: Annotated[str | None, string("0+", nullable="0+")] = None
    member_epoch: Annotated[int, int32("0+")] = 0
    client_id: Annotated[str, string("0+")] = ""
    client_host: Annotated[str, string("0+")] = ""
    subscribed_topic_names: Annotated[list[str], array(string, "0+")] = []
    assignment: Annotated[Assignment, struct("0+")] = field(default_factory=Assignment)


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


class ShareGroupDescribeResponse(Message, kw_only=True):
    API_KEY = 77
    VERSIONS = versions("1")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    groups: Annotated[list[DescribedGroup], array(struct, "0+")] = []
