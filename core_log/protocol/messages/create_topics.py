"""New topics with their partitions and configuration.

Version 5 answers with what was created (KIP-525).
"""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import (
    NO_ID,
    Message,
    WireStruct,
    array,
    boolean,
    int8,
    int16,
    int32,
    string,
    struct,
    uuid,
    versions,
)


class CreatableReplicaAssignment(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    broker_ids: Annotated[list[int], array(int32, "0+")] = []


class CreatableTopicConfig(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    value: Annotated[str | None, string("0+", nullable="0+")] = ""


class CreatableTopic(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    num_partitions: Annotated[int, int32("0+")] = 0
    """-1 for the broker's default, and where ``assignments`` says."""
    replication_factor: Annotated[int, int16("0+")] = 0
    """-1 for the broker's default, and where ``assignments`` says."""
    assignments: Annotated[list[CreatableReplicaAssignment], array(struct, "0+")] = []
    configs: Annotated[list[CreatableTopicConfig], array(struct, "0+")] = []


class CreateTopicsRequest(Message, kw_only=True):
    API_KEY = 19
    VERSIONS = versions("2-7")
    FLEXIBLE = versions("5+")

    topics: Annotated[list[CreatableTopic], array(struct, "0+")] = []
    timeout_ms: Annotated[int, int32("0+")] = 60000
    validate_only: Annotated[bool, boolean("1+")] = False


class CreatableTopicConfigs(WireStruct, kw_only=True):
    name: Annotated[str, string("5+")] = ""
    value: Annotated[str | None, string("5+", nullable="5+")] = ""
    read_only: Annotated[bool, boolean("5+")] = False
    config_source: Annotated[int, int8("5+", ignorable=True)] = -1
    is_sensitive: Annotated[bool, boolean("5+")] = False


class CreatableTopicResult(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    topic_id: Annotated[bytes, uuid("7+", ignorable=True)] = NO_ID
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("1+", nullable="0+", ignorable=True)] = ""
    topic_config_error_code: Annotated[int, int16("5+", tag=0, ignorable=True)] = 0
    num_partitions: Annotated[int, int32("5+", ignorable=True)] = -1
    replication_factor: Annotated[int, int16("5+", ignorable=True)] = -1
    configs: Annotated[
        list[CreatableTopicConfigs] | None, array(struct, "5+", nullable="5+", ignorable=True)
    ] = []


class CreateTopicsResponse(Message, kw_only=True):
    API_KEY = 19
    VERSIONS = versions("2-7")
    FLEXIBLE = versions("5+")

    throttle_time_ms: Annotated[int, int32("2+", ignorable=True)] = 0
    topics: Annotated[list[CreatableTopicResult], array(struct, "0+")] = []
