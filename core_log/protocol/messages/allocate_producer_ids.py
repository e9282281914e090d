"""A block of producer ids for a broker to hand out (KIP-730)."""

from typing import Annotated

from ..schema import Message, int16, int32, int64, versions


class AllocateProducerIdsRequest(Message, kw_only=True):
    API_KEY = 67
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    broker_id: Annotated[int, int32("0+")] = 0
    broker_epoch: Annotated[int, int64("0+")] = -1


class AllocateProducerIdsResponse(Message, kw_only=True):
    API_KEY = 67
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    producer_id_start: Annotated[int, int64("0+")] = 0
    producer_id_len: Annotated[int, int32("0+")] = 0
