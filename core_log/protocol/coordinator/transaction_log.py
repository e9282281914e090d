"""The state of one transactional id (KIP-98).

KIP-890 added the previous and next producer id, so that an epoch can run over.
"""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int8, int16, int32, int64, string, struct, versions


class TransactionLogKey(Message, kw_only=True):
    API_KEY = 0
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    transactional_id: Annotated[str, string("0")] = ""


class PartitionsSchema(WireStruct, kw_only=True):
    topic: Annotated[str, string("0+")] = ""
    partition_ids: Annotated[list[int], array(int32, "0+")] = []


class TransactionLogValue(Message, kw_only=True):
    API_KEY = 0
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("1+")

    producer_id: Annotated[int, int64("0+")] = 0
    previous_producer_id: Annotated[int, int64("1+", tag=0)] = -1
    next_producer_id: Annotated[int, int64("1+", tag=1)] = -1
    producer_epoch: Annotated[int, int16("0+")] = 0
    next_producer_epoch: Annotated[int, int16("1+", tag=3)] = -1
    transaction_timeout_ms: Annotated[int, int32("0+")] = 0
    transaction_status: Annotated[int, int8("0+")] = 0
    transaction_partitions: Annotated[
        list[PartitionsSchema] | None, array(struct, "0+", nullable="0+")
    ] = []
    transaction_last_update_timestamp_ms: Annotated[int, int64("0+")] = 0
    transaction_start_timestamp_ms: Annotated[int, int64("0+")] = 0
    client_transaction_version: Annotated[int, int16("1+", tag=2)] = 0
