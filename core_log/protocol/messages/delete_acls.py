"""Access rules removed by filters, and which ones each filter removed."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int8, int16, int32, string, struct, versions


class DeleteAclsFilter(WireStruct, kw_only=True):
    resource_type_filter: Annotated[int, int8("0+")] = 0
    resource_name_filter: Annotated[str | None, string("0+", nullable="0+")] = ""
    pattern_type_filter: Annotated[int, int8("1+")] = 3
    principal_filter: Annotated[str | None, string("0+", nullable="0+")] = ""
    host_filter: Annotated[str | None, string("0+", nullable="0+")] = ""
    operation: Annotated[int, int8("0+")] = 0
    permission_type: Annotated[int, int8("0+")] = 0


class DeleteAclsRequest(Message, kw_only=True):
    API_KEY = 31
    VERSIONS = versions("1-3")
    FLEXIBLE = versions("2+")

    filters: Annotated[list[DeleteAclsFilter], array(struct, "0+")] = []


class DeleteAclsMatchingAcl(WireStruct, kw_only=True):
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = ""
    resource_type: Annotated[int, int8("0+")] = 0
    resource_name: Annotated[str, string("0+")] = ""
    pattern_type: Annotated[int, int8("1+")] = 3
    principal: Annotated[str, string("0+")] = ""
    host: Annotated[str, string("0+")] = ""
    operation: Annotated[int, int8("0+")] = 0
    permission_type: Annotated[int, int8("0+")] = 0


class DeleteAclsFilterResult(WireStruct, kw_only=True):
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = ""
    matching_acls: Annotated[list[DeleteAclsMatchingAcl], array(struct, "0+")] = []


class DeleteAclsResponse(Message, kw_only=True):
    API_KEY = 31
    VERSIONS = versions("1-3")
    FLEXIBLE = versions("2+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    filter_results: Annotated[list[DeleteAclsFilterResult], array(struct, "0+")] = []
