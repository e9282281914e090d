"""A group's positions, stored when the transaction commits (KIP-98, KIP-447)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int16, int32, int64, string, struct, versions


class TxnOffsetCommitRequestPartition(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    committed_offset: Annotated[int, int64("0+")] = 0
    committed_leader_epoch: Annotated[int, int32("2+", ignorable=True)] = -1
    committed_metadata: Annotated[str | None, string("0+", nullable="0+")] = ""


class TxnOffsetCommitRequestTopic(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[TxnOffsetCommitRequestPartition], array(struct, "0+")] = []


class TxnOffsetCommitRequest(Message, kw_only=True):
    API_KEY = 28
    VERSIONS = versions("0-5")
    FLEXIBLE = versions("3+")

    transactional_id: Annotated[str, string("0+")] = ""
    group_id: Annotated[str, string("0+")] = ""
    producer_id: Annotated[int, int64("0+")] = 0
    producer_epoch: Annotated[int, int16("0+")] = 0
    generation_id: Annotated[int, int32("3+")] = -1
    member_id: Annotated[str, string("3+")] = ""
    group_instance_id: Annotated[str | None, string("3+", nullable="3+")] = None
    topics: Annotated[list[TxnOffsetCommitRequestTopic], array(struct, "0+")] = []


class TxnOffsetCommitResponsePartition(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0


class TxnOffsetCommitResponseTopic(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[TxnOffsetCommitResponsePartition], array(struct, "0+")] = []


class TxnOffsetCommitResponse(Message, kw_only=True):
    API_KEY = 28
    VERSIONS = versions("0-5")
    FLEXIBLE = versions("3+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    topics: Annotated[list[TxnOffsetCommitResponseTopic], array(struct, "0+")] = []
