"""The topology that a streams group runs (KIP-1071)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int16, int32, string, struct, versions


class StreamsGroupTopologyKey(Message, kw_only=True):
    API_KEY = 23
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    group_id: Annotated[str, string("0")] = ""


class TopicConfig(WireStruct, kw_only=True):
    key: Annotated[str, string("0+")] = ""
    value: Annotated[str, string("0+")] = ""


class TopicInfo(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partitions: Annotated[int, int32("0+")] = 0
    replication_factor: Annotated[int, int16("0+")] = 0
    topic_configs: Annotated[list[TopicConfig], array(struct, "0+")] = []


class CopartitionGroup(WireStruct, kw_only=True):
    source_topics: Annotated[list[int], array(int16, "0+")] = []
    source_topic_regex: Annotated[list[int], array(int16, "0+")] = []
    repartition_source_topics: Annotated[list[int], array(int16, "0+")] = []


class Subtopology(WireStruct, kw_only=True):
    subtopology_id: Annotated[str, string("0+")] = ""
    source_topics: Annotated[list[str], array(string, "0+")] = []
    source_topic_regex: Annotated[list[str], array(string, "0+")] = []
    state_changelog_topics: Annotated[list[TopicInfo], array(struct, "0+")] = []
    repartition_sink_topics: Annotated[list[str], array(string, "0+")] = []
    repartition_source_topics: Annotated[list[TopicInfo], array(struct, "0+")] = []
    copartition_groups: Annotated[list[CopartitionGroup], array(struct, "0+")] = []


class StreamsGroupTopologyValue(Message, kw_only=True):
    API_KEY = 23
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    epoch: Annotated[int, int32("0+")] = 0
    subtopologies: Annotated[list[Subtopology], array(struct, "0+")] = []
