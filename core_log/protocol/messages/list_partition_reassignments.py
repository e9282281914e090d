"""The moves of replicas under way (KIP-455)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int16, int32, string, struct, versions


class ListPartitionReassignmentsTopics(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partition_indexes: Annotated[list[int], array(int32, "0+")] = []


class ListPartitionReassignmentsRequest(Message, kw_only=True):
    API_KEY = 46
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    timeout_ms: Annotated[int, int32("0+")] = 60000
    topics: Annotated[
        list[ListPartitionReassignmentsTopics] | None, array(struct, "0+", nullable="0+")
    ] = None
    """Null asks for all."""


class OngoingPartitionReassignment(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    replicas: Annotated[list[int], array(int32, "0+")] = []
    adding_replicas: Annotated[list[int], array(int32, "0+")] = []
    removing_replicas: Annotated[list[int], array(int32, "0+")] = []


class OngoingTopicReassignment(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[OngoingPartitionReassignment], array(struct, "0+")] = []


class ListPartitionReassignmentsResponse(Message, kw_only=True):
    API_KEY = 46
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = ""
    topics: Annotated[list[OngoingTopicReassignment], array(struct, "0+")] = []
