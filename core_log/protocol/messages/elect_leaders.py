"""A leader election for partitions, preferred or unclean (KIP-183, KIP-460)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import Message, WireStruct, array, int8, int16, int32, string, struct, versions


class TopicPartitions(WireStruct, kw_only=True):
    topic: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[int], array(int32, "0+")] = []


class ElectLeadersRequest(Message, kw_only=True):
    API_KEY = 43
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("2+")

    election_type: Annotated[int, int8("1+")] = 0
    """0: preferred, 1: unclean."""
    topic_partitions: Annotated[
        list[TopicPartitions] | None, array(struct, "0+", nullable="0+")
    ] = []
    """Null asks for all."""
    timeout_ms: Annotated[int, int32("0+")] = 60000


class PartitionResult(WireStruct, kw_only=True):
    partition_id: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("0+")] = 0
    error_message: Annotated[str | None, string("0+", nullable="0+")] = ""


class ReplicaElectionResult(WireStruct, kw_only=True):
    topic: Annotated[str, string("0+")] = ""
    partition_result: Annotated[list[PartitionResult], array(struct, "0+")] = []


class ElectLeadersResponse(Message, kw_only=True):
    API_KEY = 43
    VERSIONS = versions("0-2")
    FLEXIBLE = versions("2+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("1+")] = 0
    replica_election_results: Annotated[list[ReplicaElectionResult], array(struct, "0+")] = []
