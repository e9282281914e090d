"""A partition exists, with its replicas, in-sync replicas and leader."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import NO_ID, Message, array, int8, int32, uuid, versions


class PartitionRecord(Message, kw_only=True):
    API_KEY = 3
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("0+")

    partition_id: Annotated[int, int32("0+")] = -1
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    replicas: Annotated[list[int], array(int32, "0+")] = []
    isr: Annotated[list[int], array(int32, "0+")] = []
    removing_replicas: Annotated[list[int], array(int32, "0+")] = []
    adding_replicas: Annotated[list[int], array(int32, "0+")] = []
    leader: Annotated[int, int32("0+")] = -1
    """-1 when there is none."""
    leader_recovery_state: Annotated[int, int8("0+", tag=0)] = 0
    """1 while a leader recovers from an unclean election."""
    leader_epoch: Annotated[int, int32("0+")] = -1
    partition_epoch: Annotated[int, int32("0+")] = -1
    directories: Annotated[list[bytes], array(uuid, "1+")] = []
    eligible_leader_replicas: Annotated[
        list[int] | None, array(int32, "2+", nullable="2+", tag=1)
    ] = None
    last_known_elr: Annotated[list[int] | None, array(int32, "2+", nullable="2+", tag=2)] = None
