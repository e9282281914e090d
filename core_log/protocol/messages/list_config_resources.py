"""The resources that have configuration; once only those for client metrics (KIP-714, KIP-1142)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int8, int16, int32, string, struct, versions


class ListConfigResourcesRequest(Message, kw_only=True):
    API_KEY = 74
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("0+")

    resource_types: Annotated[list[int], array(int8, "1+")] = []


class ConfigResource(WireStruct, kw_only=True):
    resource_name: Annotated[str, string("0+")] = ""
    resource_type: Annotated[int, int8("1+", ignorable=True)] = 16


class ListConfigResourcesResponse(Message, kw_only=True):
    API_KEY = 74
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    config_resources: Annotated[list[ConfigResource], array(struct, "0+")] = []
