"""A streams group and its epoch (KIP-1071)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int32, int64, string, struct, versions


class StreamsGroupMetadataKey(Message, kw_only=True):
    API_KEY = 17
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    group_id: Annotated[str, string("0")] = ""


class LastAssignmentConfig(WireStruct, kw_only=True):
    key: Annotated[str, string("0+")] = ""
    value: Annotated[str, string("0+")] = ""


class StreamsGroupMetadataValue(Message, kw_only=True):
    API_KEY = 17
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    epoch: Annotated[int, int32("0+")] = 0
    metadata_hash: Annotated[int, int64("0+")] = 0
    validated_topology_epoch: Annotated[int, int32("0+", tag=0)] = -1
    last_assignment_configs: Annotated[
        list[LastAssignmentConfig] | None, array(struct, "0+", nullable="0+", tag=1)
    ] = []
