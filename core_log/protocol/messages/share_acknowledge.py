"""Acquired records acknowledged, released or rejected (KIP-932)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from msgspec import field

from ..schema import (
    NO_ID,
    Message,
    WireStruct,
    array,
    boolean,
    int8,
    int16,
    int32,
    int64,
    string,
    struct,
    uuid,
    versions,
)


class AcknowledgementBatch(WireStruct, kw_only=True):
    first_offset: Annotated[int, int64("0+")] = 0
    last_offset: Annotated[int, int64("0+")] = 0
    acknowledge_types: Annotated[list[int], array(int8, "0+")] = []


class AcknowledgePartition(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    acknowledgement_batches: Annotated[list[AcknowledgementBatch], array(struct, "0+")] = []


class AcknowledgeTopic(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    partitions: Annotated[list[AcknowledgePartition], array(struct, "0+")] = []


class ShareAcknowledgeRequest(Message, kw_only=True):
    API_KEY = 79
    VERSIONS = versions("1-2")
    FLEXIBLE = versions("0+")

    group_id: Annotated[str | None, string("0+", nullable="0+")] = None
    member_id: Annotated[str | None, string("0+", nullable="0+")] = ""
    share_session_epoch: Annotated[int, int32("0+")] = 0
    is_renew_ack: Annotated[bool, boolean("2+")] = False
    topics: Annotated[list[AcknowledgeTopic], array(struct, "0+")] = []


class LeaderIdAndEpoch(WireStruct, kw_only=True):
    leader_id: Annotated[int, int32("0+")] = 0
    leader_epoch: Annotated[int, int32("0+")] = 0


class PartitionData(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = None
    current_leader: Annotated[LeaderIdAndEpoch, struct("0+")] = field(
        default_factory=LeaderIdAndEpoch
    )


class ShareAcknowledgeTopicResponse(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    partitions: Annotated[list[PartitionData], array(struct, "0+")] = []


class NodeEndpoint(WireStruct, kw_only=True):
    node_id: Annotated[int, int32("0+")] = 0
    host: Annotated[str, string("0+")] = ""
    port: Annotated[int, int32("0+")] = 0
    rack: Annotated[str | None, string("0+", nullable="0+")] = None


class ShareAcknowledgeResponse(Message, kw_only=True):
    API_KEY = 79
    VERSIONS = versions("1-2")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = None
    acquisition_lock_timeout_ms: Annotated[int, int32("2+", ignorable=True)] = 0
    responses: Annotated[list[ShareAcknowledgeTopicResponse], array(struct, "0+")] = []
    node_endpoints: Annotated[list[NodeEndpoint], array(struct, "0+")] = []
