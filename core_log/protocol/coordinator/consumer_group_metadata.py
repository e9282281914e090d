"""A consumer group of the new protocol and its epoch (KIP-848)."""

from typing import Annotated

from ..schema import Message, int32, int64, string, versions


class ConsumerGroupMetadataKey(Message, kw_only=True):
    API_KEY = 3
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    group_id: Annotated[str, string("0")] = ""


class ConsumerGroupMetadataValue(Message, kw_only=True):
    API_KEY = 3
    VERSIONS = versions("0")
    FLEXIBLE = versions("0+")

    epoch: Annotated[int, int32("0+")] = 0
    metadata_hash: Annotated[int, int64("0+", tag=0)] = 0
