"""ListPartitionReassignments (key 46), version 0: replicas on the move (KIP-455)."""

from ...controller.reassignments import list_partition_reassignments
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from ..broker import Broker
from ..call import Call
from ..handler import Handler


def serve(
    broker: Broker, request: ListPartitionReassignmentsRequest, call: Call
) -> ListPartitionReassignmentsResponse:
    """Partitions whose replicas are being added or removed; null asks for all topics."""
    del call
    return list_partition_reassignments(broker.image, request)


HANDLER = Handler(api=API_BY_KEY[46], version_min=0, version_max=0, serve=serve)
