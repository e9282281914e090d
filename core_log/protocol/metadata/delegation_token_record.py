"""A delegation token exists or has changed (KIP-900)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, array, int64, string, versions


class DelegationTokenRecord(Message, kw_only=True):
    API_KEY = 10
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    owner: Annotated[str, string("0+")] = ""
    requester: Annotated[str, string("0+")] = ""
    renewers: Annotated[list[str], array(string, "0+")] = []
    issue_timestamp: Annotated[int, int64("0+")] = 0
    max_timestamp: Annotated[int, int64("0+")] = 0
    expiration_timestamp: Annotated[int, int64("0+")] = 0
    token_id: Annotated[str, string("0+")] = ""
