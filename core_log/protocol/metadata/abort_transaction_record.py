"""The records since the begin marker do not count (KIP-868)."""

from typing import Annotated

from ..schema import Message, string, versions


class AbortTransactionRecord(Message, kw_only=True):
    API_KEY = 25
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    reason: Annotated[str | None, string("0+", nullable="0+", tag=0)] = None
