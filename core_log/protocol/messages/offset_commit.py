"""A group's positions, stored. Since version 10 topics go by id (KIP-848)."""

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
    uuid,
    versions,
)


class OffsetCommitRequestPartition(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    committed_offset: Annotated[int, int64("0+")] = 0
    committed_leader_epoch: Annotated[int, int32("6+", ignorable=True)] = -1
    committed_metadata: Annotated[str | None, string("0+", nullable="0+")] = ""


class OffsetCommitRequestTopic(WireStruct, kw_only=True):
    name: Annotated[str, string("0-9", ignorable=True)] = ""
    topic_id: Annotated[bytes, uuid("10+", ignorable=True)] = NO_ID
    partitions: Annotated[list[OffsetCommitRequestPartition], array(struct, "0+")] = []


class OffsetCommitRequest(Message, kw_only=True):
    API_KEY = 8
    VERSIONS = versions("2-10")
    FLEXIBLE = versions("8+")

    group_id: Annotated[str, string("0+")] = ""
    generation_id_or_member_epoch: Annotated[int, int32("1+", ignorable=True)] = -1
    """-1 from consumers that assign partitions by themselves."""
    member_id: Annotated[str, string("1+", ignorable=True)] = ""
    group_instance_id: Annotated[str | None, string("7+", nullable="7+")] = None
    retention_time_ms: Annotated[int, int64("2-4", ignorable=True)] = -1
    """-1 for the broker's setting. Ignored since KIP-211."""
    topics: Annotated[list[OffsetCommitRequestTopic], array(struct, "0+")] = []


class OffsetCommitResponsePartition(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0


class OffsetCommitResponseTopic(WireStruct, kw_only=True):
    name: Annotated[str, string("0-9", ignorable=True)] = ""
    topic_id: Annotated[bytes, uuid("10+", ignorable=True)] = NO_ID
    partitions: Annotated[list[OffsetCommitResponsePartition], array(struct, "0+")] = []


class OffsetCommitResponse(Message, kw_only=True):
    API_KEY = 8
    VERSIONS = versions("2-10")
    FLEXIBLE = versions("8+")

    throttle_time_ms: Annotated[int, int32("3+", ignorable=True)] = 0
    topics: Annotated[list[OffsetCommitResponseTopic], array(struct, "0+")] = []
