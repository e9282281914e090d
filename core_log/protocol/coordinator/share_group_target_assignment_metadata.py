"""The epoch of a share group's target assignment (KIP-932)."""

from typing import Annotated

from ..schema import Message, int32, int64, string, versions


class ShareGroupTargetAssignmentMetadataKey(Message, kw_only=True):
    API_KEY = 12
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    group_id: Annotated[str, string("0")] = ""


class ShareGroupTargetAssignmentMetadataValue(Message, kw_only=True):
    API_KEY = 12
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    assignment_epoch: Annotated[int, int32("0+")] = 0
    assignment_timestamp: Annotated[int, int64("0+", tag=0, ignorable=True)] = 0
