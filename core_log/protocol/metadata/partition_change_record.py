"""A partition has changed; what is null or left out has not."""

from typing import Annotated

from ..schema import NO_ID, Message, array, int8, int32, uuid, versions


class PartitionChangeRecord(Message, kw_only=True):
    API_KEY = 5
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("0+")

    partition_id: Annotated[int, int32("0+")] = -1
    topic_id: Annotated[bytes, uuid("0+")] = NO_ID
    isr: Annotated[list[int] | None, array(int32, "0+", nullable="0+", tag=0)] = None
    """Null when unchanged, as everywhere in this record."""
    leader: Annotated[int, int32("0+", tag=1)] = -2
    """-2 when unchanged, -1 when there is none."""
    replicas: Annotated[list[int] | None, array(int32, "0+", nullable="0+", tag=2)] = None
    removing_replicas: Annotated[list[int] | None, array(int32, "0+", nullable="0+", tag=3)] = None
    adding_replicas: Annotated[list[int] | None, array(int32, "0+", nullable="0+", tag=4)] = None
    leader_recovery_state: Annotated[int, int8("0+", tag=5)] = -1
    """-1 when unchanged."""
    directories: Annotated[list[bytes] | None, array(uuid, "1+", nullable="1+", tag=8)] = None
    eligible_leader_replicas: Annotated[
        list[int] | None, array(int32, "2+", nullable="2+", tag=6)
    ] = None
    last_known_elr: Annotated[list[int] | None, array(int32, "2+", nullable="2+", tag=7)] = None
