"""The transactions that a broker coordinates (KIP-664, KIP-994, KIP-1152)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int16, int32, int64, string, struct, versions


class ListTransactionsRequest(Message, kw_only=True):
    API_KEY = 66
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("0+")

    state_filters: Annotated[list[str], array(string, "0+")] = []
    producer_id_filters: Annotated[list[int], array(int64, "0+")] = []
    duration_filter: Annotated[int, int64("1+")] = -1
    transactional_id_pattern: Annotated[str | None, string("2+", nullable="2+")] = None


class TransactionState(WireStruct, kw_only=True):
    transactional_id: Annotated[str, string("0+")] = ""
    producer_id: Annotated[int, int64("0+")] = 0
    transaction_state: Annotated[str, string("0+")] = ""


class ListTransactionsResponse(Message, kw_only=True):
    API_KEY = 66
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    unknown_state_filters: Annotated[list[str], array(string, "0+")] = []
    transaction_states: Annotated[list[TransactionState], array(struct, "0+")] = []
