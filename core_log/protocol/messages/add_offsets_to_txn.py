"""A group's offsets joined to a transaction (KIP-98)."""

from typing import Annotated

from ..schema import Message, int16, int32, int64, string, versions


class AddOffsetsToTxnRequest(Message, kw_only=True):
    API_KEY = 25
    VERSIONS = versions("0-4")
    FLEXIBLE = versions("3+")

    transactional_id: Annotated[str, string("0+")] = ""
    producer_id: Annotated[int, int64("0+")] = 0
    producer_epoch: Annotated[int, int16("0+")] = 0
    group_id: Annotated[str, string("0+")] = ""


class AddOffsetsToTxnResponse(Message, kw_only=True):
    API_KEY = 25
    VERSIONS = versions("0-4")
    FLEXIBLE = versions("3+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
