"""Configuration of topics, brokers and groups, with where each value comes from (KIP-226)."""

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


class DescribeConfigsResource(WireStruct, kw_only=True):
    resource_type: Annotated[int, int8("0+")] = 0
    resource_name: Annotated[str, string("0+")] = ""
    configuration_keys: Annotated[list[str] | None, array(string, "0+", nullable="0+")] = []
    """Null asks for all."""


class DescribeConfigsRequest(Message, kw_only=True):
    API_KEY = 32
    VERSIONS = versions("1-4")
    FLEXIBLE = versions("4+")

    resources: Annotated[list[DescribeConfigsResource], array(struct, "0+")] = []
    include_synonyms: Annotated[bool, boolean("1+")] = False
    include_documentation: Annotated[bool, boolean("3+")] = False


class DescribeConfigsSynonym(WireStruct, kw_only=True):
    name: Annotated[str, string("1+")] = ""
    value: Annotated[str | None, string("1+", nullable="0+")] = ""
    source: Annotated[int, int8("1+")] = 0


class DescribeConfigsResourceResult(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    value: Annotated[str | None, string("0+", nullable="0+")] = ""
    read_only: Annotated[bool, boolean("0+")] = False
    config_source: Annotated[int, int8("1+", ignorable=True)] = -1
    """1: topic, 2: broker, 3: broker default, 4: static, 5: default of the code, 6: broker
    logger, 7: client metrics, 8: group."""
    is_sensitive: Annotated[bool, boolean("0+")] = False
    synonyms: Annotated[list[DescribeConfigsSynonym], array(struct, "1+", ignorable=True)] = []
    config_type: Annotated[int, int8("3+", ignorable=True)] = 0
    documentation: Annotated[str | None, string("3+", nullable="0+", ignorable=True)] = ""


class DescribeConfigsResult(WireStruct, kw_only=True):
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = ""
    resource_type: Annotated[int, int8("0+")] = 0
    resource_name: Annotated[str, string("0+")] = ""
    configs: Annotated[list[DescribeConfigsResourceResult], array(struct, "0+")] = []


class DescribeConfigsResponse(Message, kw_only=True):
    API_KEY = 32
    VERSIONS = versions("1-4")
    FLEXIBLE = versions("4+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    results: Annotated[list[DescribeConfigsResult], array(struct, "0+")] = []
