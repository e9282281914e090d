"""A controller tells the active one that it has started (KIP-919)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import (
    NO_ID,
    Message,
    WireStruct,
    array,
    boolean,
    int16,
    int32,
    string,
    struct,
    uint16,
    uuid,
    versions,
)


class Listener(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    host: Annotated[str, string("0+")] = ""
    port: Annotated[int, uint16("0+")] = 0
    security_protocol: Annotated[int, int16("0+")] = 0


class Feature(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    min_supported_version: Annotated[int, int16("0+")] = 0
    max_supported_version: Annotated[int, int16("0+")] = 0


class ControllerRegistrationRequest(Message, kw_only=True):
    API_KEY = 70
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    controller_id: Annotated[int, int32("0+")] = 0
    incarnation_id: Annotated[bytes, uuid("0+")] = NO_ID
    zk_migration_ready: Annotated[bool, boolean("0+")] = False
    listeners: Annotated[list[Listener], array(struct, "0+")] = []
    features: Annotated[list[Feature], array(struct, "0+")] = []


class ControllerRegistrationResponse(Message, kw_only=True):
    API_KEY = 70
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = ""
