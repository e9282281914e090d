"""A client's metrics (KIP-714)."""

from typing import Annotated

from ..schema import NO_ID, Message, binary, boolean, int8, int16, int32, uuid, versions


class PushTelemetryRequest(Message, kw_only=True):
    API_KEY = 72
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    client_instance_id: Annotated[bytes, uuid("0+")] = NO_ID
    subscription_id: Annotated[int, int32("0+")] = 0
    terminating: Annotated[bool, boolean("0+")] = False
    compression_type: Annotated[int, int8("0+")] = 0
    metrics: Annotated[bytes, binary("0+")] = b""


class PushTelemetryResponse(Message, kw_only=True):
    API_KEY = 72
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
