"""More partitions for topics (KIP-195)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, boolean, int16, int32, string, struct, versions


class CreatePartitionsAssignment(WireStruct, kw_only=True):
    broker_ids: Annotated[list[int], array(int32, "0+")] = []


class CreatePartitionsTopic(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    count: Annotated[int, int32("0+")] = 0
    assignments: Annotated[
        list[CreatePartitionsAssignment] | None, array(struct, "0+", nullable="0+")
    ] = []


class CreatePartitionsRequest(Message, kw_only=True):
    API_KEY = 37
    VERSIONS = versions("0-3")
    FLEXIBLE = versions("2+")

    topics: Annotated[list[CreatePartitionsTopic], array(struct, "0+")] = []
    timeout_ms: Annotated[int, int32("0+")] = 0
    validate_only: Annotated[bool, boolean("0+")] = False


class CreatePartitionsTopicResult(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = None


class CreatePartitionsResponse(Message, kw_only=True):
    API_KEY = 37
    VERSIONS = versions("0-3")
    FLEXIBLE = versions("2+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    results: Annotated[list[CreatePartitionsTopicResult], array(struct, "0+")] = []
