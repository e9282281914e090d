"""A controller has started and told its listeners and features (KIP-919)."""

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


class ControllerEndpoint(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    host: Annotated[str, string("0+")] = ""
    port: Annotated[int, uint16("0+")] = 0
    security_protocol: Annotated[int, int16("0+")] = 0


class ControllerFeature(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    min_supported_version: Annotated[int, int16("0+")] = 0
    max_supported_version: Annotated[int, int16("0+")] = 0


class RegisterControllerRecord(Message, kw_only=True):
    API_KEY = 27
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    controller_id: Annotated[int, int32("0+")] = 0
    incarnation_id: Annotated[bytes, uuid("0+")] = NO_ID
    zk_migration_ready: Annotated[bool, boolean("0+")] = False
    end_points: Annotated[list[ControllerEndpoint], array(struct, "0+")] = []
    features: Annotated[list[ControllerFeature], array(struct, "0+")] = []
