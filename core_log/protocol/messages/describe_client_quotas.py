"""Client quotas that match a filter (KIP-546)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import (
    Message,
    WireStruct,
    array,
    boolean,
    float64,
    int8,
    int16,
    int32,
    string,
    struct,
    versions,
)


class ComponentData(WireStruct, kw_only=True):
    entity_type: Annotated[str, string("0+")] = ""
    match_type: Annotated[int, int8("0+")] = 0
    match: Annotated[str | None, string("0+", nullable="0+")] = ""


class DescribeClientQuotasRequest(Message, kw_only=True):
    API_KEY = 48
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("1+")

    components: Annotated[list[ComponentData], array(struct, "0+")] = []
    strict: Annotated[bool, boolean("0+")] = False


class EntityData(WireStruct, kw_only=True):
    entity_type: Annotated[str, string("0+")] = ""
    entity_name: Annotated[str | None, string("0+", nullable="0+")] = ""


class ValueData(WireStruct, kw_only=True):
    key: Annotated[str, string("0+")] = ""
    value: Annotated[float, float64("0+")] = 0.0


class EntryData(WireStruct, kw_only=True):
    entity: Annotated[list[EntityData], array(struct, "0+")] = []
    values: Annotated[list[ValueData], array(struct, "0+")] = []


class DescribeClientQuotasResponse(Message, kw_only=True):
    API_KEY = 48
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("1+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = ""
    entries: Annotated[list[EntryData] | None, array(struct, "0+", nullable="0+")] = []
