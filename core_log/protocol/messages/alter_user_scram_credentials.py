"""SCRAM credentials of users set or removed (KIP-554)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import (
    Message,
    WireStruct,
    array,
    binary,
    int8,
    int16,
    int32,
    string,
    struct,
    versions,
)


class ScramCredentialDeletion(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    mechanism: Annotated[int, int8("0+")] = 0


class ScramCredentialUpsertion(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    mechanism: Annotated[int, int8("0+")] = 0
    iterations: Annotated[int, int32("0+")] = 0
    salt: Annotated[bytes, binary("0+")] = b""
    salted_password: Annotated[bytes, binary("0+")] = b""


class AlterUserScramCredentialsRequest(Message, kw_only=True):
    API_KEY = 51
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    deletions: Annotated[list[ScramCredentialDeletion], array(struct, "0+")] = []
    upsertions: Annotated[list[ScramCredentialUpsertion], array(struct, "0+")] = []


class AlterUserScramCredentialsResult(WireStruct, kw_only=True):
    user: Annotated[str, string("0+")] = ""
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = ""


class AlterUserScramCredentialsResponse(Message, kw_only=True):
    API_KEY = 51
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    results: Annotated[list[AlterUserScramCredentialsResult], array(struct, "0+")] = []
