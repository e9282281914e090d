"""What a member of a classic consumer group was given; opaque to the broker."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, binary, int32, string, struct, versions


class TopicPartition(WireStruct, kw_only=True):
    topic: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[int], array(int32, "0+")] = []


class ConsumerProtocolAssignment(Message, kw_only=True):
    VERSIONS = versions("0-3")
    FLEXIBLE = versions("none")

    assigned_partitions: Annotated[list[TopicPartition], array(struct, "0+")] = []
    user_data: Annotated[bytes | None, binary("0+", nullable="0+")] = None
