"""Configuration of a resource replaced as a whole. IncrementalAlterConfigs took its place."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import (
    Message,
    WireStruct,
    array,
    boolean,
    int8,
    int16,
    int32,
    string,
    struct,
    versions,
)


class AlterableConfig(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    value: Annotated[str | None, string("0+", nullable="0+")] = ""


class AlterConfigsResource(WireStruct, kw_only=True):
    resource_type: Annotated[int, int8("0+")] = 0
    resource_name: Annotated[str, string("0+")] = ""
    configs: Annotated[list[AlterableConfig], array(struct, "0+")] = []


class AlterConfigsRequest(Message, kw_only=True):
    API_KEY = 33
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("2+")

    resources: Annotated[list[AlterConfigsResource], array(struct, "0+")] = []
    validate_only: Annotated[bool, boolean("0+")] = False


class AlterConfigsResourceResponse(WireStruct, kw_only=True):
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = ""
    resource_type: Annotated[int, int8("0+")] = 0
    resource_name: Annotated[str, string("0+")] = ""


class AlterConfigsResponse(Message, kw_only=True):
    API_KEY = 33
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("2+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    responses: Annotated[list[AlterConfigsResourceResponse], array(struct, "0+")] = []
