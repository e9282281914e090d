"""AlterPartitionReassignments (key 45), versions 0-1: replicas move (KIP-455)."""

from ...controller.reassignments import alter_partition_reassignments
from ...kernel.errors import ApiError
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..handler import Handler


def serve(
    broker: Broker, request: AlterPartitionReassignmentsRequest, call: Call
) -> Deferred[AlterPartitionReassignmentsResponse]:
    """One result for each partition."""
    del call
    return broker.submit(lambda image: alter_partition_reassignments(image, request)).map(
        lambda result: (
            AlterPartitionReassignmentsResponse(
                error_code=result.code, error_message=result.message
            )
            if isinstance(result, ApiError)
            else result
        )
    )


HANDLER = Handler(api=API_BY_KEY[45], version_min=0, version_max=1, serve=serve)
