"""A group's position in one partition as the oldest brokers wrote it. Read only."""

from typing import Annotated

from ..schema import Message, int32, int64, string, versions


class LegacyOffsetCommitKey(Message, kw_only=True):
    API_KEY = 0
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    group: Annotated[str, string("0")] = ""
    topic: Annotated[str, string("0")] = ""
    partition: Annotated[int, int32("0")] = 0


class LegacyOffsetCommitValue(Message, kw_only=True):
    API_KEY = 0
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    offset: Annotated[int, int64("0")] = 0
    metadata: Annotated[str, string("0")] = ""
    commit_timestamp: Annotated[int, int64("0")] = 0
