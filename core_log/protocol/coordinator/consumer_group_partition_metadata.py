"""Partition counts and racks of the topics a group subscribes to. Kafka 4.1 stopped writing it."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import NO_ID, Message, WireStruct, array, int32, string, struct, uuid, versions


class ConsumerGroupPartitionMetadataKey(Message, kw_only=True):
    API_KEY = 4
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    group_id: Annotated[str, string("0")] = ""


class PartitionMetadata(WireStruct, kw_only=True):
    partition: Annotated[int, int32("0+")] = 0
    racks: Annotated[list[str], array(string, "0+")] = []


class TopicMetadata(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    topic_name: Annotated[str, string("0+")] = ""
    num_partitions: Annotated[int, int32("0+")] = 0
    partition_metadata: Annotated[list[PartitionMetadata], array(struct, "0+")] = []


class ConsumerGroupPartitionMetadataValue(Message, kw_only=True):
    API_KEY = 4
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    topics: Annotated[list[TopicMetadata], array(struct, "0+")] = []
