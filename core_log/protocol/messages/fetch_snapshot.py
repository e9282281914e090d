"""A piece of a snapshot of the metadata log (KIP-630)."""

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
    int16,
    int32,
    int64,
    record_batches,
    string,
    struct,
    uint16,
    uuid,
    versions,
)


class SnapshotId(WireStruct, kw_only=True):
    end_offset: Annotated[int, int64("0+")] = 0
    epoch: Annotated[int, int32("0+")] = 0


class PartitionSnapshot(WireStruct, kw_only=True):
    partition: Annotated[int, int32("0+")] = 0
    current_leader_epoch: Annotated[int, int32("0+")] = 0
    snapshot_id: Annotated[SnapshotId, struct("0+")] = field(default_factory=SnapshotId)
    position: Annotated[int, int64("0+")] = 0
    replica_directory_id: Annotated[bytes, uuid("1+", tag=0, ignorable=True)] = NO_ID


class TopicSnapshot(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[PartitionSnapshot], array(struct, "0+")] = []


class FetchSnapshotRequest(Message, kw_only=True):
    API_KEY = 59
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("0+")

    cluster_id: Annotated[str | None, string("0+", nullable="0+", tag=0)] = None
    replica_id: Annotated[int, int32("0+")] = -1
    max_bytes: Annotated[int, int32("0+")] = INT32_MAX
    topics: Annotated[list[TopicSnapshot], array(struct, "0+")] = []


class LeaderIdAndEpoch(WireStruct, kw_only=True):
    leader_id: Annotated[int, int32("0+")] = 0
    leader_epoch: Annotated[int, int32("0+")] = 0


class PartitionSnapshotResponse(WireStruct, kw_only=True):
    index: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    snapshot_id: Annotated[SnapshotId, struct("0+")] = field(default_factory=SnapshotId)
    current_leader: Annotated[LeaderIdAndEpoch, struct("0+", tag=0)] = field(
        default_factory=LeaderIdAndEpoch
    )
    size: Annotated[int, int64("0+")] = 0
    position: Annotated[int, int64("0+")] = 0
    unaligned_records: Annotated[Buffer | None, record_batches("0+")] = None


class TopicSnapshotResponse(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[PartitionSnapshotResponse], array(struct, "0+")] = []


class NodeEndpoint(WireStruct, kw_only=True):
    node_id: Annotated[int, int32("1+")] = 0
    host: Annotated[str, string("1+")] = ""
    port: Annotated[int, uint16("1+")] = 0


class FetchSnapshotResponse(Message, kw_only=True):
    API_KEY = 59
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+", ignorable=True)] = 0
    error_code: Annotated[int, int16("0+")] = 0
    topics: Annotated[list[TopicSnapshotResponse], array(struct, "0+")] = []
    node_endpoints: Annotated[list[NodeEndpoint], array(struct, "1+", tag=0)] = []
