"""A block of producer ids is handed out; the next block starts here (KIP-730)."""

from typing import Annotated

from ..schema import Message, int32, int64, versions


class ProducerIdsRecord(Message, kw_only=True):
    API_KEY = 15
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    broker_id: Annotated[int, int32("0+")] = 0
    broker_epoch: Annotated[int, int64("0+")] = -1
    next_producer_id: Annotated[int, int64("0+")] = 0
