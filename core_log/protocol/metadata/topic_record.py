"""A topic exists."""

from typing import Annotated

from ..schema import NO_ID, Message, string, uuid, versions


class TopicRecord(Message, kw_only=True):
    API_KEY = 2
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    name: Annotated[str, string("0+")] = ""
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
