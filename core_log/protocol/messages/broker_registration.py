"""A broker tells the controller that it has started, and where it listens (KIP-631)."""

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
    int64,
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


class BrokerRegistrationRequest(Message, kw_only=True):
    API_KEY = 62
    VERSIONS = versions("0-4")
    FLEXIBLE = versions("0+")

    broker_id: Annotated[int, int32("0+")] = 0
    cluster_id: Annotated[str, string("0+")] = ""
    incarnation_id: Annotated[bytes, uuid("0+")] = NO_ID
    listeners: Annotated[list[Listener], array(struct, "0+")] = []
    features: Annotated[list[Feature], array(struct, "0+")] = []
    rack: Annotated[str | None, string("0+", nullable="0+")] = ""
    is_migrating_zk_broker: Annotated[bool, boolean("1+")] = False
    log_dirs: Annotated[list[bytes], array(uuid, "2+", ignorable=True)] = []
    previous_broker_epoch: Annotated[int, int64("3+", ignorable=True)] = -1


class BrokerRegistrationResponse(Message, kw_only=True):
    API_KEY = 62
    VERSIONS = versions("0-4")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    broker_epoch: Annotated[int, int64("0+")] = -1
