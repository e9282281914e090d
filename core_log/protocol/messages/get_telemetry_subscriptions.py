"""Which metrics a client should push, and how often (KIP-714)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import NO_ID, Message, array, boolean, int8, int16, int32, string, uuid, versions


class GetTelemetrySubscriptionsRequest(Message, kw_only=True):
    API_KEY = 71
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    client_instance_id: Annotated[bytes, uuid("0+")] = NO_ID


class GetTelemetrySubscriptionsResponse(Message, kw_only=True):
    API_KEY = 71
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    client_instance_id: Annotated[bytes, uuid("0+")] = NO_ID
    subscription_id: Annotated[int, int32("0+")] = 0
    accepted_compression_types: Annotated[list[int], array(int8, "0+")] = []
    push_interval_ms: Annotated[int, int32("0+")] = 0
    telemetry_max_bytes: Annotated[int, int32("0+")] = 0
    delta_temporality: Annotated[bool, boolean("0+")] = False
    requested_metrics: Annotated[list[str], array(string, "0+")] = []
