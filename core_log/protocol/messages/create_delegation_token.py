"""A new delegation token (KIP-48), for another owner too since KIP-373."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import (
    Message,
    WireStruct,
    array,
    binary,
    int16,
    int32,
    int64,
    string,
    struct,
    versions,
)


class CreatableRenewers(WireStruct, kw_only=True):
    principal_type: Annotated[str, string("0+")] = ""
    principal_name: Annotated[str, string("0+")] = ""


class CreateDelegationTokenRequest(Message, kw_only=True):
    API_KEY = 38
    VERSIONS = versions("1-3")
    FLEXIBLE = versions("2+")

    owner_principal_type: Annotated[str | None, string("3+", nullable="3+")] = ""
    owner_principal_name: Annotated[str | None, string("3+", nullable="3+")] = ""
    renewers: Annotated[list[CreatableRenewers], array(struct, "0+")] = []
    max_lifetime_ms: Annotated[int, int64("0+")] = 0


class CreateDelegationTokenResponse(Message, kw_only=True):
    API_KEY = 38
    VERSIONS = versions("1-3")
    FLEXIBLE = versions("2+")

    error_code: Annotated[int, int16("0+")] = 0
    principal_type: Annotated[str, string("0+")] = ""
    principal_name: Annotated[str, string("0+")] = ""
    token_requester_principal_type: Annotated[str, string("3+")] = ""
    token_requester_principal_name: Annotated[str, string("3+")] = ""
    issue_timestamp_ms: Annotated[int, int64("0+")] = 0
    expiry_timestamp_ms: Annotated[int, int64("0+")] = 0
    max_timestamp_ms: Annotated[int, int64("0+")] = 0
    token_id: Annotated[str, string("0+")] = ""
    hmac: Annotated[bytes, binary("0+")] = b""
    throttle_time_ms: Annotated[int, int32("0+")] = 0
