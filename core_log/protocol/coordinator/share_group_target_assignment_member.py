"""The partitions a member of a share group should have (KIP-932)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import NO_ID, Message, WireStruct, array, int32, string, struct, uuid, versions


class ShareGroupTargetAssignmentMemberKey(Message, kw_only=True):
    API_KEY = 13
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    group_id: Annotated[str, string("0")] = ""
    member_id: Annotated[str, string("0")] = ""


class TopicPartition(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    partitions: Annotated[list[int], array(int32, "0+")] = []


class ShareGroupTargetAssignmentMemberValue(Message, kw_only=True):
    API_KEY = 13
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    topic_partitions: Annotated[list[TopicPartition], array(struct, "0+")] = []
