"""A broker that will not come back taken off the controller's list (KIP-631)."""

from typing import Annotated

from ..schema import Message, int16, int32, string, versions


class UnregisterBrokerRequest(Message, kw_only=True):
    API_KEY = 64
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    broker_id: Annotated[int, int32("0+")] = 0


class UnregisterBrokerResponse(Message, kw_only=True):
    API_KEY = 64
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = ""
