"""A transaction committed or aborted; since version 5 the answer bumps the epoch (KIP-890)."""

from typing import Annotated

from ..schema import Message, boolean, int16, int32, int64, string, versions


class EndTxnRequest(Message, kw_only=True):
    API_KEY = 26
    VERSIONS = versions("0-5")
    FLEXIBLE = versions("3+")

    transactional_id: Annotated[str, string("0+")] = ""
    producer_id: Annotated[int, int64("0+")] = 0
    producer_epoch: Annotated[int, int16("0+")] = 0
    committed: Annotated[bool, boolean("0+")] = False


class EndTxnResponse(Message, kw_only=True):
    API_KEY = 26
    VERSIONS = versions("0-5")
    FLEXIBLE = versions("3+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    producer_id: Annotated[int, int64("5+", ignorable=True)] = -1
    producer_epoch: Annotated[int, int16("5+", ignorable=True)] = -1
