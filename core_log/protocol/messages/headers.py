"""What stands before every request and response.

Version 1 of the request header goes with inflexible bodies, version 2 with flexible ones; responses
have 0 and 1. The client id keeps its two-byte length in both, so that a broker can read it before
it knows the version (KIP-482). ``apis`` reads the request header by hand; these classes are its
specification.
"""

from typing import Annotated

from ..schema import Message, inflexible_string, int16, int32, versions


class RequestHeader(Message, kw_only=True):
    VERSIONS = versions("1-2")
    FLEXIBLE = versions("2+")

    request_api_key: Annotated[int, int16("0+")] = 0
    request_api_version: Annotated[int, int16("0+")] = 0
    correlation_id: Annotated[int, int32("0+")] = 0
    client_id: Annotated[str | None, inflexible_string("1+", nullable="1+")] = ""


class ResponseHeader(Message, kw_only=True):
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("1+")

    correlation_id: Annotated[int, int32("0+")] = 0
