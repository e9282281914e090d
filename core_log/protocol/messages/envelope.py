"""A client's request, forwarded by a broker to the controller (KIP-590)."""

from typing import Annotated

from ..schema import Message, binary, int16, versions


class EnvelopeRequest(Message, kw_only=True):
    API_KEY = 58
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    request_data: Annotated[bytes, binary("0+")] = b""
    request_principal: Annotated[bytes | None, binary("0+", nullable="0+")] = b""
    client_host_address: Annotated[bytes, binary("0+")] = b""


class EnvelopeResponse(Message, kw_only=True):
    API_KEY = 58
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    response_data: Annotated[bytes | None, binary("0+", nullable="0+")] = None
    error_code: Annotated[int, int16("0+")] = 0
