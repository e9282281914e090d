"""An earlier expiry, or none left, for a delegation token (KIP-48)."""

from typing import Annotated

from ..schema import Message, binary, int16, int32, int64, versions


class ExpireDelegationTokenRequest(Message, kw_only=True):
    API_KEY = 40
    VERSIONS = versions("1-2")
    FLEXIBLE = versions("2+")

    hmac: Annotated[bytes, binary("0+")] = b""
    expiry_time_period_ms: Annotated[int, int64("0+")] = 0


class ExpireDelegationTokenResponse(Message, kw_only=True):
    API_KEY = 40
    VERSIONS = versions("1-2")
    FLEXIBLE = versions("2+")

    error_code: Annotated[int, int16("0+")] = 0
    expiry_timestamp_ms: Annotated[int, int64("0+")] = 0
    throttle_time_ms: Annotated[int, int32("0+")] = 0
