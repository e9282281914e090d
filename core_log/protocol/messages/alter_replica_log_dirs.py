"""Replicas of this broker moved to another of its directories (KIP-113)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int16, int32, string, struct, versions


class AlterReplicaLogDirTopic(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[int], array(int32, "0+")] = []


class AlterReplicaLogDir(WireStruct, kw_only=True):
    path: Annotated[str, string("0+")] = ""
    topics: Annotated[list[AlterReplicaLogDirTopic], array(struct, "0+")] = []


class AlterReplicaLogDirsRequest(Message, kw_only=True):
    API_KEY = 34
    VERSIONS = versions("1-2")
    FLEXIBLE = versions("2+")

    dirs: Annotated[list[AlterReplicaLogDir], array(struct, "0+")] = []


class AlterReplicaLogDirPartitionResult(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0


class AlterReplicaLogDirTopicResult(WireStruct, kw_only=True):
    topic_name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[AlterReplicaLogDirPartitionResult], array(struct, "0+")] = []


class AlterReplicaLogDirsResponse(Message, kw_only=True):
    API_KEY = 34
    VERSIONS = versions("1-2")
    FLEXIBLE = versions("2+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    results: Annotated[list[AlterReplicaLogDirTopicResult], array(struct, "0+")] = []
