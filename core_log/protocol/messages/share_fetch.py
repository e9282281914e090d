"""Records acquired by a member of a share group, and others acknowledged (KIP-932)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from msgspec import field

from ...kernel.ports import Buffer
from ..schema import (
    INT32_MAX,
    NO_ID,
    Message,
    WireStruct,
    array,
    boolean,
    int8,
    int16,
    int32,
    int64,
    record_batches,
    string,
    struct,
    uuid,
    versions,
)


class AcknowledgementBatch(WireStruct, kw_only=True):
    first_offset: Annotated[int, int64("0+")] = 0
    last_offset: Annotated[int, int64("0+")] = 0
    acknowledge_types: Annotated[list[int], array(int8, "0+")] = []


class FetchPartition(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    partition_max_bytes: Annotated[int, int32("0")] = 0
    acknowledgement_batches: Annotated[list[AcknowledgementBatch], array(struct, "0+")] = []


class FetchTopic(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    partitions: Annotated[list[FetchPartition], array(struct, "0+")] = []


class ForgottenTopic(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    partitions: Annotated[list[int], array(int32, "0+")] = []


class ShareFetchRequest(Message, kw_only=True):
    API_KEY = 78
    VERSIONS = versions("1-2")
    FLEXIBLE = versions("0+")

    group_id: Annotated[str | None, string("0+", nullable="0+")] = None
    member_id: Annotated[str | None, string("0+", nullable="0+")] = ""
    share_session_epoch: Annotated[int, int32("0+")] = 0
    max_wait_ms: Annotated[int, int32("0+")] = 0
    min_bytes: Annotated[int, int32("0+")] = 0
    max_bytes: Annotated[int, int32("0+")] = INT32_MAX
    max_records: Annotated[int, int32("1+")] = 0
    batch_size: Annotated[int, int32("1+")] = 0
    share_acquire_mode: Annotated[int, int8("2+", ignorable=True)] = 0
    is_renew_ack: Annotated[bool, boolean("2+")] = False
    topics: Annotated[list[FetchTopic], array(struct, "0+")] = []
    forgotten_topics_data: Annotated[list[ForgottenTopic], array(struct, "0+")] = []


class LeaderIdAndEpoch(WireStruct, kw_only=True):
    leader_id: Annotated[int, int32("0+")] = 0
    leader_epoch: Annotated[int, int32("0+")] = 0


class AcquiredRecords(WireStruct, kw_only=True):
    first_offset: Annotated[int, int64("0+")] = 0
    last_offset: Annotated[int, int64("0+")] = 0
    delivery_count: Annotated[int, int16("0+")] = 0


class PartitionData(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = None
    acknowledge_error_code: Annotated[int, int16("0+")] = 0
    acknowledge_error_message: Annotated[str | None, string("0+", nullable="0+")] = None
    current_leader: Annotated[LeaderIdAndEpoch, struct("0+")] = field(
        default_factory=LeaderIdAndEpoch
    )
    records: Annotated[Buffer | None, record_batches("0+", nullable="0")] = None
    """Whole batches; the last may be cut short."""
    acquired_records: Annotated[list[AcquiredRecords], array(struct, "0+")] = []


class ShareFetchableTopicResponse(WireStruct, kw_only=True):
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    partitions: Annotated[list[PartitionData], array(struct, "0+")] = []


class NodeEndpoint(WireStruct, kw_only=True):
    node_id: Annotated[int, int32("0+")] = 0
    host: Annotated[str, string("0+")] = ""
    port: Annotated[int, int32("0+")] = 0
    rack: Annotated[str | None, string("0+", nullable="0+")] = None


class ShareFetchResponse(Message, kw_only=True):
    API_KEY = 78
    VERSIONS = versions("1-2")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = None
    acquisition_lock_timeout_ms: Annotated[int, int32("1+")] = 0
    responses: Annotated[list[ShareFetchableTopicResponse], array(struct, "0+")] = []
    node_endpoints: Annotated[list[NodeEndpoint], array(struct, "0+")] = []
