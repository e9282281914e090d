"""A topic is deleted, and all its partitions with it."""

from typing import Annotated

from ..schema import NO_ID, Message, uuid, versions


class RemoveTopicRecord(Message, kw_only=True):
    API_KEY = 9
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
