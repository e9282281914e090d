"""The tasks a member of a streams group has, and those it must give up (KIP-1071)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int8, int32, string, struct, versions


class StreamsGroupCurrentMemberAssignmentKey(Message, kw_only=True):
    API_KEY = 22
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    group_id: Annotated[str, string("0")] = ""
    member_id: Annotated[str, string("0")] = ""


class TaskIds(WireStruct, kw_only=True):
    subtopology_id: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[int], array(int32, "0+")] = []
    assignment_epochs: Annotated[list[int] | None, array(int32, "0+", nullable="0+", tag=0)] = []


class StreamsGroupCurrentMemberAssignmentValue(Message, kw_only=True):
    API_KEY = 22
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    member_epoch: Annotated[int, int32("0+")] = 0
    previous_member_epoch: Annotated[int, int32("0+")] = 0
    state: Annotated[int, int8("0+")] = 0
    active_tasks: Annotated[list[TaskIds], array(struct, "0+")] = []
    standby_tasks: Annotated[list[TaskIds], array(struct, "0+")] = []
    warmup_tasks: Annotated[list[TaskIds], array(struct, "0+")] = []
    active_tasks_pending_revocation: Annotated[list[TaskIds], array(struct, "0+")] = []
    standby_tasks_pending_revocation: Annotated[list[TaskIds], array(struct, "0+")] = []
    warmup_tasks_pending_revocation: Annotated[list[TaskIds], array(struct, "0+")] = []
