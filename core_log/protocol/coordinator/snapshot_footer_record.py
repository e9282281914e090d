"""The last record of a metadata snapshot (KIP-630)."""

from typing import Annotated

from ..schema import Message, int16, versions


class SnapshotFooterRecord(Message, kw_only=True):
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    version: Annotated[int, int16("0+")] = 0
