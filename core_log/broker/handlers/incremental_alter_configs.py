"""IncrementalAlterConfigs (key 44), versions 0-1: sets, deletes, appends, subtracts (KIP-339)."""

from ...controller.alter_configs import incremental_alter_configs
from ...kernel.errors import ApiError
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..handler import Handler


def serve(
    broker: Broker, request: IncrementalAlterConfigsRequest, call: Call
) -> Deferred[IncrementalAlterConfigsResponse]:
    """One result for each resource."""
    del call
    return broker.submit(
        lambda image: incremental_alter_configs(image, request, broker.controller_config)
    ).map(lambda result: _refusal(request, result) if isinstance(result, ApiError) else result)


def _refusal(
    request: IncrementalAlterConfigsRequest, error: ApiError
) -> IncrementalAlterConfigsResponse:
    return IncrementalAlterConfigsResponse(
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


HANDLER = Handler(api=API_BY_KEY[44], version_min=0, version_max=1, serve=serve)
