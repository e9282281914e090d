"""Single configuration values set, removed, or changed as lists (KIP-339)."""

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
    config_operation: Annotated[int, int8("0+")] = 0
    """0: set, 1: delete, 2: append, 3: subtract."""
    value: Annotated[str | None, string("0+", nullable="0+")] = ""


class AlterConfigsResource(WireStruct, kw_only=True):
    resource_type: Annotated[int, int8("0+")] = 0
    resource_name: Annotated[str, string("0+")] = ""
    configs: Annotated[list[AlterableConfig], array(struct, "0+")] = []


class IncrementalAlterConfigsRequest(Message, kw_only=True):
    API_KEY = 44
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("1+")

    resources: Annotated[list[AlterConfigsResource], array(struct, "0+")] = []
    validate_only: Annotated[bool, boolean("0+")] = False


class AlterConfigsResourceResponse(WireStruct, kw_only=True):
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = ""
    resource_type: Annotated[int, int8("0+")] = 0
    resource_name: Annotated[str, string("0+")] = ""


class IncrementalAlterConfigsResponse(Message, kw_only=True):
    API_KEY = 44
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("1+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    responses: Annotated[list[AlterConfigsResourceResponse], array(struct, "0+")] = []
