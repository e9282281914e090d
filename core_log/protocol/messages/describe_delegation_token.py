"""The delegation tokens of some owners (KIP-48)."""

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


class DescribeDelegationTokenOwner(WireStruct, kw_only=True):
    principal_type: Annotated[str, string("0+")] = ""
    principal_name: Annotated[str, string("0+")] = ""


class DescribeDelegationTokenRequest(Message, kw_only=True):
    API_KEY = 41
    VERSIONS = versions("1-3")
    FLEXIBLE = versions("2+")

    owners: Annotated[
        list[DescribeDelegationTokenOwner] | None, array(struct, "0+", nullable="0+")
    ] = []


class DescribedDelegationTokenRenewer(WireStruct, kw_only=True):
    principal_type: Annotated[str, string("0+")] = ""
    principal_name: Annotated[str, string("0+")] = ""


class DescribedDelegationToken(WireStruct, kw_only=True):
    principal_type: Annotated[str, string("0+")] = ""
    principal_name: Annotated[str, string("0+")] = ""
    token_requester_principal_type: Annotated[str, string("3+")] = ""
    token_requester_principal_name: Annotated[str, string("3+")] = ""
    issue_timestamp: Annotated[int, int64("0+")] = 0
    expiry_timestamp: Annotated[int, int64("0+")] = 0
    max_timestamp: Annotated[int, int64("0+")] = 0
    token_id: Annotated[str, string("0+")] = ""
    hmac: Annotated[bytes, binary("0+")] = b""
    renewers: Annotated[list[DescribedDelegationTokenRenewer], array(struct, "0+")] = []


class DescribeDelegationTokenResponse(Message, kw_only=True):
    API_KEY = 41
    VERSIONS = versions("1-3")
    FLEXIBLE = versions("2+")

    error_code: Annotated[int, int16("0+")] = 0
    tokens: Annotated[list[DescribedDelegationToken], array(struct, "0+")] = []
    throttle_time_ms: Annotated[int, int32("0+")] = 0
