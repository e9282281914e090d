"""ElectLeaders (key 43), versions 0-2: preferred or unclean election (KIP-460)."""

from ...controller.elections import elect_leaders
from ...kernel.errors import ApiError
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..handler import Handler


def serve(
    broker: Broker, request: ElectLeadersRequest, call: Call
) -> Deferred[ElectLeadersResponse]:
    """One result for each partition asked for, or for each of the cluster."""
    del call
    return broker.submit(lambda image: elect_leaders(image, request)).map(
        lambda result: (
            ElectLeadersResponse(error_code=result.code) if isinstance(result, ApiError) else result
        )
    )


HANDLER = Handler(api=API_BY_KEY[43], version_min=0, version_max=2, serve=serve)
