"""A member joins, stays in or leaves a share group (KIP-932)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import NO_ID, Message, WireStruct, array, int16, int32, string, struct, uuid, versions


class ShareGroupHeartbeatRequest(Message, kw_only=True):
    API_KEY = 76
    VERSIONS = versions("1")
    FLEXIBLE = versions("0+")

    group_id: Annotated[str, string("0+")] = ""
    member_id: Annotated[str, string("0+")] = ""
    member_epoch: Annotated[int, int32("0+")] = 0
    rack_id: Annotated[str | None, string("0+", nullable="0+")] = None
    subscribed_topic_names: Annotated[list[str] | None, array(string, "0+", nullable="0+")] = None


class TopicPartitions(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    partitions: Annotated[list[int], array(int32, "0+")] = []


class Assignment(WireStruct, kw_only=True):
    topic_partitions: Annotated[list[TopicPartitions], array(struct, "0+")] = []


class ShareGroupHeartbeatResponse(Message, kw_only=True):
    API_KEY = 76
    VERSIONS = versions("1")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = None
    member_id: Annotated[str | None, string("0+", nullable="0+")] = None
    member_epoch: Annotated[int, int32("0+")] = 0
    heartbeat_interval_ms: Annotated[int, int32("0+")] = 0
    assignment: Annotated[Assignment | None, struct("0+", nullable="0+")] = None
