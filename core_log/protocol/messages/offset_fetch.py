"""A group's stored positions, read back; several groups at once since version 8 (KIP-709)."""

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
    uuid,
    versions,
)


class OffsetFetchRequestTopic(WireStruct, kw_only=True):
    name: Annotated[str, string("0-7")] = ""
    partition_indexes: Annotated[list[int], array(int32, "0-7")] = []


class OffsetFetchRequestTopics(WireStruct, kw_only=True):
    name: Annotated[str, string("8-9", ignorable=True)] = ""
    topic_id: Annotated[bytes, uuid("10+", ignorable=True)] = NO_ID
    partition_indexes: Annotated[list[int], array(int32, "8+")] = []


class OffsetFetchRequestGroup(WireStruct, kw_only=True):
    group_id: Annotated[str, string("8+")] = ""
    member_id: Annotated[str | None, string("9+", nullable="9+", ignorable=True)] = None
    member_epoch: Annotated[int, int32("9+", ignorable=True)] = -1
    topics: Annotated[
        list[OffsetFetchRequestTopics] | None, array(struct, "8+", nullable="8+")
    ] = []
    """Null asks for all."""


class OffsetFetchRequest(Message, kw_only=True):
    API_KEY = 9
    VERSIONS = versions("1-10")
    FLEXIBLE = versions("6+")

    group_id: Annotated[str, string("0-7")] = ""
    topics: Annotated[
        list[OffsetFetchRequestTopic] | None, array(struct, "0-7", nullable="2-7")
    ] = []
    """Null asks for all."""
    groups: Annotated[list[OffsetFetchRequestGroup], array(struct, "8+")] = []
    require_stable: Annotated[bool, boolean("7+")] = False
    """Answer UNSTABLE_OFFSET_COMMIT while a transaction holds offsets open (KIP-447)."""


class OffsetFetchResponsePartition(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0-7")] = 0
    committed_offset: Annotated[int, int64("0-7")] = 0
    """-1 when nothing is stored."""
    committed_leader_epoch: Annotated[int, int32("5-7", ignorable=True)] = -1
    metadata: Annotated[str | None, string("0-7", nullable="0-7")] = ""
    error_code: Annotated[int, int16("0-7")] = 0


class OffsetFetchResponseTopic(WireStruct, kw_only=True):
    name: Annotated[str, string("0-7")] = ""
    partitions: Annotated[list[OffsetFetchResponsePartition], array(struct, "0-7")] = []


class OffsetFetchResponsePartitions(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("8+")] = 0
    committed_offset: Annotated[int, int64("8+")] = 0
    """-1 when nothing is stored."""
    committed_leader_epoch: Annotated[int, int32("8+", ignorable=True)] = -1
    metadata: Annotated[str | None, string("8+", nullable="8+")] = ""
    error_code: Annotated[int, int16("8+")] = 0


class OffsetFetchResponseTopics(WireStruct, kw_only=True):
    name: Annotated[str, string("8-9", ignorable=True)] = ""
    topic_id: Annotated[bytes, uuid("10+", ignorable=True)] = NO_ID
    partitions: Annotated[list[OffsetFetchResponsePartitions], array(struct, "8+")] = []


class OffsetFetchResponseGroup(WireStruct, kw_only=True):
    group_id: Annotated[str, string("8+")] = ""
    topics: Annotated[list[OffsetFetchResponseTopics], array(struct, "8+")] = []
    error_code: Annotated[int, int16("8+")] = 0


class OffsetFetchResponse(Message, kw_only=True):
    API_KEY = 9
    VERSIONS = versions("1-10")
    FLEXIBLE = versions("6+")

    throttle_time_ms: Annotated[int, int32("3+", ignorable=True)] = 0
    topics: Annotated[list[OffsetFetchResponseTopic], array(struct, "0-7")] = []
    error_code: Annotated[int, int16("2-7", ignorable=True)] = 0
    groups: Annotated[list[OffsetFetchResponseGroup], array(struct, "8+")] = []
