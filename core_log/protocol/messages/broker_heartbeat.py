"""A broker tells the controller that it lives and what it wishes for (KIP-631)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, array, boolean, int16, int32, int64, uuid, versions


class BrokerHeartbeatRequest(Message, kw_only=True):
    API_KEY = 63
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("0+")

    broker_id: Annotated[int, int32("0+")] = 0
    broker_epoch: Annotated[int, int64("0+")] = -1
    current_metadata_offset: Annotated[int, int64("0+")] = 0
    want_fence: Annotated[bool, boolean("0+")] = False
    want_shut_down: Annotated[bool, boolean("0+")] = False
    offline_log_dirs: Annotated[list[bytes], array(uuid, "1+", tag=0)] = []
    cordoned_log_dirs: Annotated[list[bytes] | None, array(uuid, "2+", nullable="2+", tag=1)] = None


class BrokerHeartbeatResponse(Message, kw_only=True):
    API_KEY = 63
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    is_caught_up: Annotated[bool, boolean("0+")] = False
    is_fenced: Annotated[bool, boolean("0+")] = True
    should_shut_down: Annotated[bool, boolean("0+")] = False
