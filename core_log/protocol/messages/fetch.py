"""Record batches out of partitions, for consumers and for following replicas.

KIP-227 brought sessions that send only what changed, KIP-320 leader epochs, KIP-392 reading from
the nearest replica, KIP-516 topic ids in place of names.
"""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from msgspec import field

from ...kernel.ports import Buffer
from ..schema import (
    INT32_MAX,
    INT64_MAX,
    NO_ID,
    Message,
    WireStruct,
    array,
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


class ReplicaState(WireStruct, kw_only=True):
    replica_id: Annotated[int, int32("15+")] = -1
    replica_epoch: Annotated[int, int64("15+")] = -1


class FetchPartition(WireStruct, kw_only=True):
    partition: Annotated[int, int32("0+")] = 0
    current_leader_epoch: Annotated[int, int32("9+", ignorable=True)] = -1
    """-1 when the client does not know it."""
    fetch_offset: Annotated[int, int64("0+")] = 0
    last_fetched_epoch: Annotated[int, int32("12+")] = -1
    """-1 for consumers: set by followers to find where logs differ."""
    log_start_offset: Annotated[int, int64("5+", ignorable=True)] = -1
    partition_max_bytes: Annotated[int, int32("0+")] = 0
    replica_directory_id: Annotated[bytes, uuid("17+", tag=0, ignorable=True)] = NO_ID
    high_watermark: Annotated[int, int64("18+", tag=1, ignorable=True)] = INT64_MAX


class FetchTopic(WireStruct, kw_only=True):
    topic: Annotated[str, string("0-12", ignorable=True)] = ""
    topic_id: Annotated[bytes, uuid("13+", ignorable=True)] = NO_ID
    partitions: Annotated[list[FetchPartition], array(struct, "0+")] = []


class ForgottenTopic(WireStruct, kw_only=True):
    topic: Annotated[str, string("7-12", ignorable=True)] = ""
    topic_id: Annotated[bytes, uuid("13+", ignorable=True)] = NO_ID
    partitions: Annotated[list[int], array(int32, "7+")] = []


class FetchRequest(Message, kw_only=True):
    API_KEY = 1
    VERSIONS = versions("4-18")
    FLEXIBLE = versions("12+")

    cluster_id: Annotated[str | None, string("12+", nullable="12+", tag=0, ignorable=True)] = None
    replica_id: Annotated[int, int32("0-14")] = -1
    """-1 for a consumer; a follower's node id. Moved into ``replica_state`` in version 15."""
    replica_state: Annotated[ReplicaState, struct("15+", tag=1)] = field(
        default_factory=ReplicaState
    )
    max_wait_ms: Annotated[int, int32("0+")] = 0
    min_bytes: Annotated[int, int32("0+")] = 0
    max_bytes: Annotated[int, int32("3+", ignorable=True)] = INT32_MAX
    isolation_level: Annotated[int, int8("4+", ignorable=True)] = 0
    """0: read uncommitted, 1: read committed."""
    session_id: Annotated[int, int32("7+", ignorable=True)] = 0
    """0 asks for a new session."""
    session_epoch: Annotated[int, int32("7+", ignorable=True)] = -1
    """-1: no session; 0: first request of one; then counting up."""
    topics: Annotated[list[FetchTopic], array(struct, "0+")] = []
    forgotten_topics_data: Annotated[list[ForgottenTopic], array(struct, "7+")] = []
    rack_id: Annotated[str, string("11+", ignorable=True)] = ""


class EpochEndOffset(WireStruct, kw_only=True):
    epoch: Annotated[int, int32("12+")] = -1
    end_offset: Annotated[int, int64("12+")] = -1


class LeaderIdAndEpoch(WireStruct, kw_only=True):
    leader_id: Annotated[int, int32("12+")] = -1
    leader_epoch: Annotated[int, int32("12+")] = -1


class SnapshotId(WireStruct, kw_only=True):
    end_offset: Annotated[int, int64("0+")] = -1
    epoch: Annotated[int, int32("0+")] = -1


class AbortedTransaction(WireStruct, kw_only=True):
    producer_id: Annotated[int, int64("4+")] = 0
    first_offset: Annotated[int, int64("4+")] = 0


class PartitionData(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    high_watermark: Annotated[int, int64("0+")] = 0
    last_stable_offset: Annotated[int, int64("4+", ignorable=True)] = -1
    """Before it, every transaction is decided."""
    log_start_offset: Annotated[int, int64("5+", ignorable=True)] = -1
    diverging_epoch: Annotated[EpochEndOffset, struct("12+", tag=0)] = field(
        default_factory=EpochEndOffset
    )
    current_leader: Annotated[LeaderIdAndEpoch, struct("12+", tag=1)] = field(
        default_factory=LeaderIdAndEpoch
    )
    snapshot_id: Annotated[SnapshotId, struct("12+", tag=2)] = field(default_factory=SnapshotId)
    aborted_transactions: Annotated[
        list[AbortedTransaction] | None, array(struct, "4+", nullable="4+", ignorable=True)
    ] = []
    """Null under read uncommitted."""
    preferred_read_replica: Annotated[int, int32("11+")] = -1
    """-1, or the replica the consumer should go on with."""
    records: Annotated[Buffer | None, record_batches("0+", nullable="0+")] = None
    """Whole batches; the last may be cut short."""


class FetchableTopicResponse(WireStruct, kw_only=True):
    topic: Annotated[str, string("0-12", ignorable=True)] = ""
    topic_id: Annotated[bytes, uuid("13+", ignorable=True)] = NO_ID
    partitions: Annotated[list[PartitionData], array(struct, "0+")] = []


class NodeEndpoint(WireStruct, kw_only=True):
    node_id: Annotated[int, int32("16+")] = 0
    host: Annotated[str, string("16+")] = ""
    port: Annotated[int, int32("16+")] = 0
    rack: Annotated[str | None, string("16+", nullable="16+")] = None


class FetchResponse(Message, kw_only=True):
    API_KEY = 1
    VERSIONS = versions("4-18")
    FLEXIBLE = versions("12+")

    throttle_time_ms: Annotated[int, int32("1+", ignorable=True)] = 0
    error_code: Annotated[int, int16("7+", ignorable=True)] = 0
    session_id: Annotated[int, int32("7+")] = 0
    responses: Annotated[list[FetchableTopicResponse], array(struct, "0+")] = []
    node_endpoints: Annotated[list[NodeEndpoint], array(struct, "16+", tag=0)] = []
