"""UpdateFeatures (key 57), versions 0-2: finalized feature levels change (KIP-584)."""

from ...controller.feature_updates import update_features
from ...kernel.errors import ApiError
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..handler import Handler


def serve(
    broker: Broker, request: UpdateFeaturesRequest, call: Call
) -> Deferred[UpdateFeaturesResponse]:
    """Whether all updates were taken; none is when one cannot be."""
    return broker.submit(
        lambda image: update_features(
            image, request, broker.controller_config, version=call.api_version
        )
    ).map(
        lambda result: (
            UpdateFeaturesResponse(error_code=result.code, error_message=result.message)
            if isinstance(result, ApiError)
            else result
        )
    )


HANDLER = Handler(api=API_BY_KEY[57], version_min=0, version_max=2, serve=serve)
