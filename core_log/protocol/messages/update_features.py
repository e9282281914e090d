"""Feature levels finalized for the cluster (KIP-584)."""

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


class FeatureUpdateKey(WireStruct, kw_only=True):
    feature: Annotated[str, string("0+")] = ""
    max_version_level: Annotated[int, int16("0+")] = 0
    allow_downgrade: Annotated[bool, boolean("0")] = False
    upgrade_type: Annotated[int, int8("1+")] = 1


class UpdateFeaturesRequest(Message, kw_only=True):
    API_KEY = 57
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("0+")

    timeout_ms: Annotated[int, int32("0+")] = 60000
    feature_updates: Annotated[list[FeatureUpdateKey], array(struct, "0+")] = []
    validate_only: Annotated[bool, boolean("1+")] = False


class UpdatableFeatureResult(WireStruct, kw_only=True):
    feature: Annotated[str, string("0+")] = ""
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = ""


class UpdateFeaturesResponse(Message, kw_only=True):
    API_KEY = 57
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("0+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = ""
    results: Annotated[list[UpdatableFeatureResult], array(struct, "0-1", ignorable=True)] = []
