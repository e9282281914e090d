"""New access rules."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int8, int16, int32, string, struct, versions


class AclCreation(WireStruct, kw_only=True):
    resource_type: Annotated[int, int8("0+")] = 0
    resource_name: Annotated[str, string("0+")] = ""
    resource_pattern_type: Annotated[int, int8("1+")] = 3
    principal: Annotated[str, string("0+")] = ""
    host: Annotated[str, string("0+")] = ""
    operation: Annotated[int, int8("0+")] = 0
    permission_type: Annotated[int, int8("0+")] = 0


class CreateAclsRequest(Message, kw_only=True):
    API_KEY = 30
    VERSIONS = versions("1-3")
    FLEXIBLE = versions("2+")

    creations: Annotated[list[AclCreation], array(struct, "0+")] = []


class AclCreationResult(WireStruct, kw_only=True):
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = ""


class CreateAclsResponse(Message, kw_only=True):
    API_KEY = 30
    VERSIONS = versions("1-3")
    FLEXIBLE = versions("2+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    results: Annotated[list[AclCreationResult], array(struct, "0+")] = []
