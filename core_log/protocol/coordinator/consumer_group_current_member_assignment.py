"""The partitions a member has, and those it must give up (KIP-848)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import NO_ID, Message, WireStruct, array, int8, int32, string, struct, uuid, versions


class ConsumerGroupCurrentMemberAssignmentKey(Message, kw_only=True):
    API_KEY = 8
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    group_id: Annotated[str, string("0")] = ""
    member_id: Annotated[str, string("0")] = ""


class TopicPartitions(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    partitions: Annotated[list[int], array(int32, "0+")] = []
    assignment_epochs: Annotated[list[int] | None, array(int32, "0+", nullable="0+", tag=0)] = []


class ConsumerGroupCurrentMemberAssignmentValue(Message, kw_only=True):
    API_KEY = 8
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    member_epoch: Annotated[int, int32("0+")] = 0
    previous_member_epoch: Annotated[int, int32("0+")] = 0
    state: Annotated[int, int8("0+")] = 0
    assigned_partitions: Annotated[list[TopicPartitions], array(struct, "0+")] = []
    partitions_pending_revocation: Annotated[list[TopicPartitions], array(struct, "0+")] = []
