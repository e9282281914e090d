"""Records up to the end marker count together or not at all (KIP-868)."""

from typing import Annotated

from ..schema import Message, string, versions


class BeginTransactionRecord(Message, kw_only=True):
    API_KEY = 23
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    name: Annotated[str | None, string("0+", nullable="0+", tag=0)] = None
