"""The tasks a member of a streams group should have (KIP-1071)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int32, string, struct, versions


class StreamsGroupTargetAssignmentMemberKey(Message, kw_only=True):
    API_KEY = 21
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    group_id: Annotated[str, string("0")] = ""
    member_id: Annotated[str, string("0")] = ""


class TaskIds(WireStruct, kw_only=True):
    subtopology_id: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[int], array(int32, "0+")] = []


class StreamsGroupTargetAssignmentMemberValue(Message, kw_only=True):
    API_KEY = 21
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    active_tasks: Annotated[list[TaskIds], array(struct, "0+")] = []
    standby_tasks: Annotated[list[TaskIds], array(struct, "0+")] = []
    warmup_tasks: Annotated[list[TaskIds], array(struct, "0+")] = []
