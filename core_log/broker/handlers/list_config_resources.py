"""ListConfigResources (key 74), versions 0-1: what has, or may have, configurations (KIP-1142)."""

from ...controller.configs import list_config_resources
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.list_config_resources import (
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from ..broker import Broker
from ..call import Call
from ..handler import Handler


def serve(
    broker: Broker, request: ListConfigResourcesRequest, call: Call
) -> ListConfigResourcesResponse:
    """Names by type; version 0 lists client metrics subscriptions only."""
    return list_config_resources(broker.image, request, version=call.api_version)


HANDLER = Handler(api=API_BY_KEY[74], version_min=0, version_max=1, serve=serve)
