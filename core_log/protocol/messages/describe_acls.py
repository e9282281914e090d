"""Access rules that match a filter."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int8, int16, int32, string, struct, versions


class DescribeAclsRequest(Message, kw_only=True):
    API_KEY = 29
    VERSIONS = versions("1-3")
    FLEXIBLE = versions("2+")

    resource_type_filter: Annotated[int, int8("0+")] = 0
    resource_name_filter: Annotated[str | None, string("0+", nullable="0+")] = ""
    pattern_type_filter: Annotated[int, int8("1+")] = 3
    principal_filter: Annotated[str | None, string("0+", nullable="0+")] = ""
    host_filter: Annotated[str | None, string("0+", nullable="0+")] = ""
    operation: Annotated[int, int8("0+")] = 0
    permission_type: Annotated[int, int8("0+")] = 0


class AclDescription(WireStruct, kw_only=True):
    principal: Annotated[str, string("0+")] = ""
    host: Annotated[str, string("0+")] = ""
    operation: Annotated[int, int8("0+")] = 0
    permission_type: Annotated[int, int8("0+")] = 0


class DescribeAclsResource(WireStruct, kw_only=True):
    resource_type: Annotated[int, int8("0+")] = 0
    resource_name: Annotated[str, string("0+")] = ""
    pattern_type: Annotated[int, int8("1+")] = 3
    acls: Annotated[list[AclDescription], array(struct, "0+")] = []


class DescribeAclsResponse(Message, kw_only=True):
    API_KEY = 29
    VERSIONS = versions("1-3")
    FLEXIBLE = versions("2+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = ""
    resources: Annotated[list[DescribeAclsResource], array(struct, "0+")] = []
