"""The records since the begin marker count (KIP-868)."""

from ..schema import Message, versions


class EndTransactionRecord(Message, kw_only=True):
    API_KEY = 24
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")
