"""DescribeCluster (key 60), versions 0-2: cluster id, controller and brokers (KIP-700, KIP-919)."""

from ...kernel.errors import ErrorCode
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from ..broker import Broker
from ..call import Call
from ..describe import CLUSTER_OPERATIONS, NO_OPERATIONS_ASKED, live_brokers
from ..handler import Handler

BROKERS = 1
CONTROLLERS = 2


def serve(broker: Broker, request: DescribeClusterRequest, call: Call) -> DescribeClusterResponse:
    """The brokers as clients of this listener reach them; controllers are not asked here."""
    if request.endpoint_type != BROKERS:
        known = request.endpoint_type == CONTROLLERS
        return DescribeClusterResponse(
            error_code=(
                ErrorCode.MISMATCHED_ENDPOINT_TYPE if known else ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
            ),
            error_message="this listener describes brokers (endpoint type 1)",
            cluster_id="",
            brokers=[],
        )
    return DescribeClusterResponse(
        error_code=ErrorCode.NONE,
        cluster_id=broker.image.cluster_id,
        controller_id=broker.controller_id,
        brokers=[
            DescribeClusterBroker(
                broker_id=node.broker_id,
                host=endpoint.host,
                port=endpoint.port,
                rack=node.rack,
                is_fenced=node.fenced,
            )
            for node, endpoint in live_brokers(
                broker.image, call.session.listener, with_fenced=request.include_fenced_brokers
            )
        ],
        cluster_authorized_operations=(
            CLUSTER_OPERATIONS
            if request.include_cluster_authorized_operations
            else NO_OPERATIONS_ASKED
        ),
    )


HANDLER = Handler(api=API_BY_KEY[60], version_min=0, version_max=2, serve=serve)
