"""The SASL mechanism a client wants, and those the listener offers."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, array, int16, string, versions


class SaslHandshakeRequest(Message, kw_only=True):
    API_KEY = 17
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("none")

    mechanism: Annotated[str, string("0+")] = ""


class SaslHandshakeResponse(Message, kw_only=True):
    API_KEY = 17
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("none")

    error_code: Annotated[int, int16("0+")] = 0
    mechanisms: Annotated[list[str], array(string, "0+")] = []
