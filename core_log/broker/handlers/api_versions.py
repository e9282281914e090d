"""ApiVersions (key 18), versions 0-4: exactly the table of served APIs.

Answered before anything else on a connection. An unknown version gets error 35 in version 0 with
the keys (KIP-511). The finalized features tell clients which protocols to prefer.
"""

import re

from ...kernel.errors import ErrorCode
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from ..broker import Broker
from ..call import Call
from ..handler import Handler

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def serve(broker: Broker, request: ApiVersionsRequest, call: Call) -> ApiVersionsResponse:
    """The APIs and features of this broker; remembers what the client calls itself (KIP-511)."""
    if call.api_version >= 3:
        names = (request.client_software_name, request.client_software_version)
        if not all(_SOFTWARE.fullmatch(name) for name in names):
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST, api_keys=[])
        call.session.client_software = names
    response = listing(broker, ErrorCode.NONE)
    features = broker.image.features
    response.finalized_features_epoch = broker.image.last_offset
    response.finalized_features = [
        FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
        for name, level in sorted(features.finalized.items())
        if level > 0
    ]
    response.supported_features = [
        SupportedFeatureKey(name=name, min_version=low, max_version=high)
        for name, (low, high) in sorted(features.supported.items())
        # Clients before version 4 take a minimum of 0 for a malformed answer (KAFKA-17011).
        if low > 0 or call.api_version >= 4
    ]
    return response


def listing(broker: Broker, error_code: ErrorCode) -> ApiVersionsResponse:
    """The bare list of APIs, as it also goes to a client that asked in an unknown version."""
    return ApiVersionsResponse(
        error_code=error_code,
        api_keys=[
            ApiVersion(
                api_key=served.key,
                min_version=served.version_min,
                max_version=served.version_max,
            )
            for served in broker.served
        ],
    )


HANDLER = Handler(api=API_BY_KEY[18], version_min=0, version_max=4, serve=serve)
