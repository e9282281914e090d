"""A broker has started and told its listeners, rack and features."""

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


class BrokerEndpoint(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    host: Annotated[str, string("0+")] = ""
    port: Annotated[int, uint16("0+")] = 0
    security_protocol: Annotated[int, int16("0+")] = 0


class BrokerFeature(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    min_supported_version: Annotated[int, int16("0+")] = 0
    max_supported_version: Annotated[int, int16("0+")] = 0


class RegisterBrokerRecord(Message, kw_only=True):
    API_KEY = 0
    VERSIONS = versions("0-4")
    FLEXIBLE = versions("0+")

    broker_id: Annotated[int, int32("0+")] = 0
    is_migrating_zk_broker: Annotated[bool, boolean("2+")] = False
    incarnation_id: Annotated[bytes, uuid("0+")] = NO_ID
    broker_epoch: Annotated[int, int64("0+")] = 0
    end_points: Annotated[list[BrokerEndpoint], array(struct, "0+")] = []
    features: Annotated[list[BrokerFeature], array(struct, "0+")] = []
    rack: Annotated[str | None, string("0+", nullable="0+")] = ""
    fenced: Annotated[bool, boolean("0+")] = True
    in_controlled_shutdown: Annotated[bool, boolean("1+")] = False
    log_dirs: Annotated[list[bytes], array(uuid, "3+", tag=0)] = []
    cordoned_log_dirs: Annotated[list[bytes] | None, array(uuid, "4+", nullable="4+", tag=1)] = None
