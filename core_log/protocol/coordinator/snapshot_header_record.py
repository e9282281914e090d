"""The first record of a metadata snapshot (KIP-630)."""

from typing import Annotated

from ..schema import Message, int16, int64, versions


class SnapshotHeaderRecord(Message, kw_only=True):
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    version: Annotated[int, int16("0+")] = 0
    last_contained_log_timestamp: Annotated[int, int64("0+")] = 0
