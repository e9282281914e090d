"""What has changed in a share partition since the last snapshot (KIP-932)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import (
    NO_ID,
    Message,
    WireStruct,
    array,
    int8,
    int16,
    int32,
    int64,
    string,
    struct,
    uuid,
    versions,
)


class ShareUpdateKey(Message, kw_only=True):
    API_KEY = 1
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    group_id: Annotated[str, string("0")] = ""
    topic_id: Annotated[bytes, uuid("0")] = NO_ID
    partition: Annotated[int, int32("0")] = 0


class StateBatch(WireStruct, kw_only=True):
    first_offset: Annotated[int, int64("0+")] = 0
    last_offset: Annotated[int, int64("0+")] = 0
    delivery_state: Annotated[int, int8("0+")] = 0
    delivery_count: Annotated[int, int16("0+")] = 0


class ShareUpdateValue(Message, kw_only=True):
    API_KEY = 1
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    snapshot_epoch: Annotated[int, int32("0+")] = 0
    leader_epoch: Annotated[int, int32("0+")] = 0
    start_offset: Annotated[int, int64("0+")] = 0
    delivery_complete_count: Annotated[int, int32("0+", tag=0)] = -1
    state_batches: Annotated[list[StateBatch], array(struct, "0+")] = []
