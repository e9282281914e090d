"""A group's position in one partition.

KIP-211 took the expiry out of the value, KIP-320 added the leader epoch, KIP-848 the topic id.
"""

from typing import Annotated

from ..schema import NO_ID, Message, int32, int64, string, uuid, versions


class OffsetCommitKey(Message, kw_only=True):
    API_KEY = 1
    VERSIONS = versions("0")
    FLEXIBLE = versions("none")

    group: Annotated[str, string("0")] = ""
    topic: Annotated[str, string("0")] = ""
    partition: Annotated[int, int32("0")] = 0


class OffsetCommitValue(Message, kw_only=True):
    API_KEY = 1
    VERSIONS = versions("0-4")
    FLEXIBLE = versions("4+")

    offset: Annotated[int, int64("0+")] = 0
    leader_epoch: Annotated[int, int32("3+", ignorable=True)] = -1
    metadata: Annotated[str, string("0+")] = ""
    commit_timestamp: Annotated[int, int64("0+")] = 0
    expire_timestamp: Annotated[int, int64("1", ignorable=True)] = -1
    """-1 when the group's retention decides."""
    topic_id: Annotated[bytes, uuid("4+", tag=0, ignorable=True)] = NO_ID
