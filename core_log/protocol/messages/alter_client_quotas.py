"""Client quotas set or removed (KIP-546)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import (
    Message,
    WireStruct,
    array,
    boolean,
    float64,
    int16,
    int32,
    string,
    struct,
    versions,
)


class EntityData(WireStruct, kw_only=True):
    entity_type: Annotated[str, string("0+")] = ""
    entity_name: Annotated[str | None, string("0+", nullable="0+")] = ""


class OpData(WireStruct, kw_only=True):
    key: Annotated[str, string("0+")] = ""
    value: Annotated[float, float64("0+")] = 0.0
    remove: Annotated[bool, boolean("0+")] = False


class EntryData(WireStruct, kw_only=True):
    entity: Annotated[list[EntityData], array(struct, "0+")] = []
    ops: Annotated[list[OpData], array(struct, "0+")] = []


class AlterClientQuotasRequest(Message, kw_only=True):
    API_KEY = 49
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("1+")

    entries: Annotated[list[EntryData], array(struct, "0+")] = []
    validate_only: Annotated[bool, boolean("0+")] = False


class EntryDataResponse(WireStruct, kw_only=True):
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = ""
    entity: Annotated[list[EntityData], array(struct, "0+")] = []


class AlterClientQuotasResponse(Message, kw_only=True):
    API_KEY = 49
    VERSIONS = versions("0-1")
    FLEXIBLE = versions("1+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    entries: Annotated[list[EntryDataResponse], array(struct, "0+")] = []
