"""Where a leader epoch ended in the log, by which truncation is found (KIP-101, KIP-320)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int16, int32, int64, string, struct, versions


class OffsetForLeaderPartition(WireStruct, kw_only=True):
    partition: Annotated[int, int32("0+")] = 0
    current_leader_epoch: Annotated[int, int32("2+", ignorable=True)] = -1
    leader_epoch: Annotated[int, int32("0+")] = 0


class OffsetForLeaderTopic(WireStruct, kw_only=True):
    topic: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[OffsetForLeaderPartition], array(struct, "0+")] = []


class OffsetForLeaderEpochRequest(Message, kw_only=True):
    API_KEY = 23
    VERSIONS = versions("2-4")
    FLEXIBLE = versions("4+")

    replica_id: Annotated[int, int32("3+", ignorable=True)] = -2
    topics: Annotated[list[OffsetForLeaderTopic], array(struct, "0+")] = []


class EpochEndOffset(WireStruct, kw_only=True):
    error_code: Annotated[int, int16("0+")] = 0
    partition: Annotated[int, int32("0+")] = 0
    leader_epoch: Annotated[int, int32("1+", ignorable=True)] = -1
    end_offset: Annotated[int, int64("0+")] = -1


class OffsetForLeaderTopicResult(WireStruct, kw_only=True):
    topic: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[EpochEndOffset], array(struct, "0+")] = []


class OffsetForLeaderEpochResponse(Message, kw_only=True):
    API_KEY = 23
    VERSIONS = versions("2-4")
    FLEXIBLE = versions("4+")

    throttle_time_ms: Annotated[int, int32("2+", ignorable=True)] = 0
    topics: Annotated[list[OffsetForLeaderTopicResult], array(struct, "0+")] = []
