"""The cluster's id, its brokers or controllers, and the controller (KIP-700, KIP-919)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import (
    INT32_MIN,
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


class DescribeClusterRequest(Message, kw_only=True):
    API_KEY = 60
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("0+")

    include_cluster_authorized_operations: Annotated[bool, boolean("0+")] = False
    endpoint_type: Annotated[int, int8("1+")] = 1
    """1: brokers, 2: controllers."""
    include_fenced_brokers: Annotated[bool, boolean("2+")] = False


class DescribeClusterBroker(WireStruct, kw_only=True):
    broker_id: Annotated[int, int32("0+")] = 0
    host: Annotated[str, string("0+")] = ""
    port: Annotated[int, int32("0+")] = 0
    rack: Annotated[str | None, string("0+", nullable="0+")] = None
    is_fenced: Annotated[bool, boolean("2+")] = False


class DescribeClusterResponse(Message, kw_only=True):
    API_KEY = 60
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = None
    endpoint_type: Annotated[int, int8("1+")] = 1
    cluster_id: Annotated[str, string("0+")] = ""
    controller_id: Annotated[int, int32("0+")] = -1
    brokers: Annotated[list[DescribeClusterBroker], array(struct, "0+")] = []
    cluster_authorized_operations: Annotated[int, int32("0+")] = INT32_MIN
