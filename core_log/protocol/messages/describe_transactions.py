"""State and partitions of transactions (KIP-664)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int16, int32, int64, string, struct, versions


class DescribeTransactionsRequest(Message, kw_only=True):
    API_KEY = 65
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    transactional_ids: Annotated[list[str], array(string, "0+")] = []


class TopicData(WireStruct, kw_only=True):
    topic: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[int], array(int32, "0+")] = []


class TransactionState(WireStruct, kw_only=True):
    error_code: Annotated[int, int16("0+")] = 0
    transactional_id: Annotated[str, string("0+")] = ""
    transaction_state: Annotated[str, string("0+")] = ""
    transaction_timeout_ms: Annotated[int, int32("0+")] = 0
    transaction_start_time_ms: Annotated[int, int64("0+")] = 0
    producer_id: Annotated[int, int64("0+")] = 0
    producer_epoch: Annotated[int, int16("0+")] = 0
    topics: Annotated[list[TopicData], array(struct, "0+")] = []


class DescribeTransactionsResponse(Message, kw_only=True):
    API_KEY = 65
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    transaction_states: Annotated[list[TransactionState], array(struct, "0+")] = []
