"""AlterConfigs (key 33), versions 0-2: replaces the configurations of a resource."""

from ...controller.alter_configs import alter_configs
from ...kernel.errors import ApiError
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..handler import Handler


def serve(
    broker: Broker, request: AlterConfigsRequest, call: Call
) -> Deferred[AlterConfigsResponse]:
    """One result for each resource."""
    del call
    return broker.submit(lambda image: alter_configs(image, request, broker.controller_config)).map(
        lambda result: _refusal(request, result) if isinstance(result, ApiError) else result
    )


def _refusal(request: AlterConfigsRequest, error: ApiError) -> AlterConfigsResponse:
    return AlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                error_code=error.code,
                error_message=error.message,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource in request.resources
        ]
    )


HANDLER = Handler(api=API_BY_KEY[33], version_min=0, version_max=2, serve=serve)
