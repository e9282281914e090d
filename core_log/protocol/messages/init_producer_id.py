"""A producer id with its epoch, for idempotence and for transactions (KIP-98, KIP-360)."""

from typing import Annotated

from ..schema import Message, boolean, int16, int32, int64, string, versions


class InitProducerIdRequest(Message, kw_only=True):
    API_KEY = 22
    VERSIONS = versions("0-6")
    FLEXIBLE = versions("2+")

    transactional_id: Annotated[str | None, string("0+", nullable="0+")] = ""
    """Null for idempotence alone."""
    transaction_timeout_ms: Annotated[int, int32("0+")] = 0
    producer_id: Annotated[int, int64("3+")] = -1
    """-1 unless a producer asks for its next epoch (KIP-360)."""
    producer_epoch: Annotated[int, int16("3+")] = -1
    enable_2pc: Annotated[bool, boolean("6+")] = False
    keep_prepared_txn: Annotated[bool, boolean("6+")] = False


class InitProducerIdResponse(Message, kw_only=True):
    API_KEY = 22
    VERSIONS = versions("0-6")
    FLEXIBLE = versions("2+")

    throttle_time_ms: Annotated[int, int32("0+", ignorable=True)] = 0
    error_code: Annotated[int, int16("0+")] = 0
    producer_id: Annotated[int, int64("0+")] = -1
    producer_epoch: Annotated[int, int16("0+")] = 0
    ongoing_txn_producer_id: Annotated[int, int64("6+")] = -1
    ongoing_txn_producer_epoch: Annotated[int, int16("6+")] = -1
