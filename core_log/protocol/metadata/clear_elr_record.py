"""The eligible leader replicas of a topic, or of all topics, are forgotten (KIP-966)."""

from typing import Annotated

from ..schema import Message, string, versions


class ClearElrRecord(Message, kw_only=True):
    API_KEY = 28
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    topic_name: Annotated[str, string("0+")] = ""
