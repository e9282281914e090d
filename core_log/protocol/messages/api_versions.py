"""The keys and versions a broker serves; the first request of nearly every client.

The response has header version 0 whatever its version, for a client that asked in a version the
broker does not know must still read the answer (KIP-511). KIP-584 added features.
"""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import (
    Message,
    WireStruct,
    array,
    boolean,
    int16,
    int32,
    int64,
    string,
    struct,
    versions,
)


class ApiVersionsRequest(Message, kw_only=True):
    API_KEY = 18
    VERSIONS = versions("0-4")
    FLEXIBLE = versions("3+")

    client_software_name: Annotated[str, string("3+", ignorable=True)] = ""
    client_software_version: Annotated[str, string("3+", ignorable=True)] = ""


class ApiVersion(WireStruct, kw_only=True):
    api_key: Annotated[int, int16("0+")] = 0
    min_version: Annotated[int, int16("0+")] = 0
    max_version: Annotated[int, int16("0+")] = 0


class SupportedFeatureKey(WireStruct, kw_only=True):
    name: Annotated[str, string("3+")] = ""
    min_version: Annotated[int, int16("3+")] = 0
    max_version: Annotated[int, int16("3+")] = 0


class FinalizedFeatureKey(WireStruct, kw_only=True):
    name: Annotated[str, string("3+")] = ""
    max_version_level: Annotated[int, int16("3+")] = 0
    min_version_level: Annotated[int, int16("3+")] = 0


class ApiVersionsResponse(Message, kw_only=True):
    API_KEY = 18
    VERSIONS = versions("0-4")
    FLEXIBLE = versions("3+")

    error_code: Annotated[int, int16("0+")] = 0
    api_keys: Annotated[list[ApiVersion], array(struct, "0+")] = []
    throttle_time_ms: Annotated[int, int32("1+", ignorable=True)] = 0
    supported_features: Annotated[
        list[SupportedFeatureKey], array(struct, "3+", tag=0, ignorable=True)
    ] = []
    finalized_features_epoch: Annotated[int, int64("3+", tag=1, ignorable=True)] = -1
    finalized_features: Annotated[
        list[FinalizedFeatureKey], array(struct, "3+", tag=2, ignorable=True)
    ] = []
    zk_migration_ready: Annotated[bool, boolean("3+", tag=3, ignorable=True)] = False
