"""Partitions' replicas moved to other brokers, or such moves called off (KIP-455)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, boolean, int16, int32, string, struct, versions


class ReassignablePartition(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    replicas: Annotated[list[int] | None, array(int32, "0+", nullable="0+")] = None
    """Null calls the move off."""


class ReassignableTopic(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[ReassignablePartition], array(struct, "0+")] = []


class AlterPartitionReassignmentsRequest(Message, kw_only=True):
    API_KEY = 45
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("0+")

    timeout_ms: Annotated[int, int32("0+")] = 60000
    allow_replication_factor_change: Annotated[bool, boolean("1+")] = True
    topics: Annotated[list[ReassignableTopic], array(struct, "0+")] = []


class ReassignablePartitionResponse(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = ""


class ReassignableTopicResponse(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[ReassignablePartitionResponse], array(struct, "0+")] = []


class AlterPartitionReassignmentsResponse(Message, kw_only=True):
    API_KEY = 45
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    allow_replication_factor_change: Annotated[bool, boolean("1+", ignorable=True)] = True
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = ""
    responses: Annotated[list[ReassignableTopicResponse], array(struct, "0+")] = []
