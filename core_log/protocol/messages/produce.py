"""Record batches for partitions, each answered with the offset its first record got.

KIP-98 brought transactions, KIP-467 errors of single records, KIP-951 the new leader beside an
error, KIP-516 topic ids in place of names.
"""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from msgspec import field

from ...kernel.ports import Buffer
from ..schema import (
    NO_ID,
    Message,
    WireStruct,
    array,
    int16,
    int32,
    int64,
    record_batches,
    string,
    struct,
    uuid,
    versions,
)


class PartitionProduceData(WireStruct, kw_only=True):
    index: Annotated[int, int32("0+")] = 0
    records: Annotated[Buffer | None, record_batches("0+", nullable="0+")] = None


class TopicProduceData(WireStruct, kw_only=True):
    name: Annotated[str, string("0-12", ignorable=True)] = ""
    topic_id: Annotated[bytes, uuid("13+", ignorable=True)] = NO_ID
    partition_data: Annotated[list[PartitionProduceData], array(struct, "0+")] = []


class ProduceRequest(Message, kw_only=True):
    API_KEY = 0
    VERSIONS = versions("3-13")
    FLEXIBLE = versions("9+")

    transactional_id: Annotated[str | None, string("3+", nullable="3+")] = None
    """Null outside transactions."""
    acks: Annotated[int, int16("0+")] = 0
    """0: none, and no response; 1: the leader's; -1: all in-sync replicas'."""
    timeout_ms: Annotated[int, int32("0+")] = 0
    topic_data: Annotated[list[TopicProduceData], array(struct, "0+")] = []


class BatchIndexAndErrorMessage(WireStruct, kw_only=True):
    batch_index: Annotated[int, int32("8+")] = 0
    """Counts records within the batch, from 0."""
    batch_index_error_message: Annotated[str | None, string("8+", nullable="8+")] = None


class LeaderIdAndEpoch(WireStruct, kw_only=True):
    leader_id: Annotated[int, int32("10+")] = -1
    leader_epoch: Annotated[int, int32("10+")] = -1


class PartitionProduceResponse(WireStruct, kw_only=True):
    index: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    base_offset: Annotated[int, int64("0+")] = 0
    log_append_time_ms: Annotated[int, int64("2+", ignorable=True)] = -1
    """-1 unless the topic stamps records with the time of their append."""
    log_start_offset: Annotated[int, int64("5+", ignorable=True)] = -1
    record_errors: Annotated[
        list[BatchIndexAndErrorMessage], array(struct, "8+", ignorable=True)
    ] = []
    error_message: Annotated[str | None, string("8+", nullable="8+", ignorable=True)] = None
    current_leader: Annotated[LeaderIdAndEpoch, struct("10+", tag=0)] = field(
        default_factory=LeaderIdAndEpoch
    )


class TopicProduceResponse(WireStruct, kw_only=True):
    name: Annotated[str, string("0-12", ignorable=True)] = ""
    topic_id: Annotated[bytes, uuid("13+", ignorable=True)] = NO_ID
    partition_responses: Annotated[list[PartitionProduceResponse], array(struct, "0+")] = []


class NodeEndpoint(WireStruct, kw_only=True):
    node_id: Annotated[int, int32("10+")] = 0
    host: Annotated[str, string("10+")] = ""
    port: Annotated[int, int32("10+")] = 0
    rack: Annotated[str | None, string("10+", nullable="10+")] = None


class ProduceResponse(Message, kw_only=True):
    API_KEY = 0
    VERSIONS = versions("3-13")
    FLEXIBLE = versions("9+")

    responses: Annotated[list[TopicProduceResponse], array(struct, "0+")] = []
    throttle_time_ms: Annotated[int, int32("1+", ignorable=True)] = 0
    node_endpoints: Annotated[list[NodeEndpoint], array(struct, "10+", tag=0)] = []
