"""The partitions whose share state is set up, or being removed (KIP-932)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import NO_ID, Message, WireStruct, array, int32, string, struct, uuid, versions


class ShareGroupStatePartitionMetadataKey(Message, kw_only=True):
    API_KEY = 15
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    group_id: Annotated[str, string("0")] = ""


class TopicPartitionsInfo(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    topic_name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[int], array(int32, "0+")] = []


class TopicInfo(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    topic_name: Annotated[str, string("0+")] = ""


class ShareGroupStatePartitionMetadataValue(Message, kw_only=True):
    API_KEY = 15
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    initializing_topics: Annotated[list[TopicPartitionsInfo], array(struct, "0+")] = []
    initialized_topics: Annotated[list[TopicPartitionsInfo], array(struct, "0+")] = []
    deleting_topics: Annotated[list[TopicInfo], array(struct, "0+")] = []
