"""What a member of a classic consumer group wishes for; opaque to the broker (KIP-429, KIP-792)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, binary, int32, string, struct, versions


class TopicPartition(WireStruct, kw_only=True):
    topic: Annotated[str, string("1+")] = ""
    partitions: Annotated[list[int], array(int32, "1+")] = []


class ConsumerProtocolSubscription(Message, kw_only=True):
    VERSIONS = versions("0-3")
    FLEXIBLE = versions("none")

    topics: Annotated[list[str], array(string, "0+")] = []
    user_data: Annotated[bytes | None, binary("0+", nullable="0+")] = None
    owned_partitions: Annotated[list[TopicPartition], array(struct, "1+", ignorable=True)] = []
    generation_id: Annotated[int, int32("2+", ignorable=True)] = -1
    rack_id: Annotated[str | None, string("3+", nullable="3+", ignorable=True)] = None
