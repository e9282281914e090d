"""A member of a classic group says that it lives, and learns whether the group rebalances."""

from typing import Annotated

from ..schema import Message, int16, int32, string, versions


class HeartbeatRequest(Message, kw_only=True):
    API_KEY = 12
    VERSIONS = versions("0-4")
    FLEXIBLE = versions("4+")

    group_id: Annotated[str, string("0+")] = ""
    generation_id: Annotated[int, int32("0+")] = 0
    member_id: Annotated[str, string("0+")] = ""
    group_instance_id: Annotated[str | None, string("3+", nullable="3+")] = None


class HeartbeatResponse(Message, kw_only=True):
    API_KEY = 12
    VERSIONS = versions("0-4")
    FLEXIBLE = versions("4+")

    throttle_time_ms: Annotated[int, int32("1+", ignorable=True)] = 0
    error_code: Annotated[int, int16("0+")] = 0
