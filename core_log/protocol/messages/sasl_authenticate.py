"""One step of a SASL exchange (KIP-152), with the life time of the session since KIP-368."""

from typing import Annotated

from ..schema import Message, binary, int16, int64, string, versions


class SaslAuthenticateRequest(Message, kw_only=True):
    API_KEY = 36
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("2+")

    auth_bytes: Annotated[bytes, binary("0+")] = b""


class SaslAuthenticateResponse(Message, kw_only=True):
    API_KEY = 36
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("2+")

    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = ""
    auth_bytes: Annotated[bytes, binary("0+")] = b""
    session_lifetime_ms: Annotated[int, int64("1+", ignorable=True)] = 0
