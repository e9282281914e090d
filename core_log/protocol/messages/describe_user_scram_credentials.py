"""Which SCRAM mechanisms users have credentials for (KIP-554)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int8, int16, int32, string, struct, versions


class UserName(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""


class DescribeUserScramCredentialsRequest(Message, kw_only=True):
    API_KEY = 50
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    users: Annotated[list[UserName] | None, array(struct, "0+", nullable="0+")] = []


class CredentialInfo(WireStruct, kw_only=True):
    mechanism: Annotated[int, int8("0+")] = 0
    iterations: Annotated[int, int32("0+")] = 0


class DescribeUserScramCredentialsResult(WireStruct, kw_only=True):
    user: Annotated[str, string("0+")] = ""
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = ""
    credential_infos: Annotated[list[CredentialInfo], array(struct, "0+")] = []


class DescribeUserScramCredentialsResponse(Message, kw_only=True):
    API_KEY = 50
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = ""
    results: Annotated[list[DescribeUserScramCredentialsResult], array(struct, "0+")] = []
