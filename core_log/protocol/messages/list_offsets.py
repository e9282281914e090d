"""The offset behind a timestamp, or behind one of the special timestamps for first and last.

KIP-320 brought leader epochs, KIP-734 the record with the largest timestamp, KIP-405 tiered logs.
"""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int8, int16, int32, int64, string, struct, versions


class ListOffsetsPartition(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    current_leader_epoch: Annotated[int, int32("4+", ignorable=True)] = -1
    timestamp: Annotated[int, int64("0+")] = 0
    """-1: last, -2: first, -3: the largest timestamp, -4: first local, -5: last tiered,
    -6: first not yet tiered."""


class ListOffsetsTopic(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[ListOffsetsPartition], array(struct, "0+")] = []


class ListOffsetsRequest(Message, kw_only=True):
    API_KEY = 2
    VERSIONS = versions("1-11")
    FLEXIBLE = versions("6+")

    replica_id: Annotated[int, int32("0+")] = 0
    """-1 for a consumer; -2 for tools."""
    isolation_level: Annotated[int, int8("2+")] = 0
    """0: read uncommitted, 1: read committed."""
    topics: Annotated[list[ListOffsetsTopic], array(struct, "0+")] = []
    timeout_ms: Annotated[int, int32("10+", ignorable=True)] = 0


class ListOffsetsPartitionResponse(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    timestamp: Annotated[int, int64("1+")] = -1
    offset: Annotated[int, int64("1+")] = -1
    """-1 when no record matches."""
    leader_epoch: Annotated[int, int32("4+")] = -1


class ListOffsetsTopicResponse(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[ListOffsetsPartitionResponse], array(struct, "0+")] = []


class ListOffsetsResponse(Message, kw_only=True):
    API_KEY = 2
    VERSIONS = versions("1-11")
    FLEXIBLE = versions("6+")

    throttle_time_ms: Annotated[int, int32("2+", ignorable=True)] = 0
    topics: Annotated[list[ListOffsetsTopicResponse], array(struct, "0+")] = []
