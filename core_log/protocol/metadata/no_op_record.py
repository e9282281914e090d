"""Nothing happened; the controller writes it to move the log's end (KIP-835)."""

from ..schema import Message, versions


class NoOpRecord(Message, kw_only=True):
    API_KEY = 20
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")
