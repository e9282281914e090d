"""ElectLeaders: the preferred replica, or any replica where no in-sync one is left.

Pure. Source: KIP-460.
"""

from collections.abc import Iterator
from enum import IntEnum

from ..kernel.errors import ApiError, ErrorCode
from ..protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from ..protocol.metadata.partition_change_record import PartitionChangeRecord
from ..protocol.schema import Message
from .decision import RECORDS_MAX, Decision, too_many_records
from .image import NO_LEADER, MetadataImage, PartitionImage

_RECOVERING = 1


class ElectionType(IntEnum):
    """Which replica may become leader."""

    PREFERRED = 0
    UNCLEAN = 1


def elect_leaders(
    image: MetadataImage, request: ElectLeadersRequest
) -> Decision[ElectLeadersResponse]:
    """Elect leaders of the partitions named, or of all that need it when none are named."""
    records: list[Message] = []
    results: list[ReplicaElectionResult] = []
    for topic, indexes in _asked(image, request):
        result = ReplicaElectionResult(topic=topic)
        results.append(result)
        for index in indexes:
            try:
                record = _elect(image, topic, index, request.election_type)
                if len(records) == RECORDS_MAX:
                    raise too_many_records()
            except ApiError as error:
                if request.topic_partitions is None:
                    continue  # nobody asked for this partition in particular
                result.partition_result.append(
                    PartitionResult(
                        partition_id=index, error_code=error.code, error_message=error.message
                    )
                )
            else:
                records.append(record)
                result.partition_result.append(
                    PartitionResult(partition_id=index, error_message=None)
                )
    known = request.election_type in tuple(ElectionType)
    response = ElectLeadersResponse(
        error_code=ErrorCode.NONE if known else ErrorCode.INVALID_REQUEST,
        replica_election_results=results,
    )
    return Decision(records=tuple(records), response=response)


def _asked(image: MetadataImage, request: ElectLeadersRequest) -> Iterator[tuple[str, list[int]]]:
    if request.topic_partitions is None:
        for topic in image.topics.values():
            yield topic.name, [*range(len(topic.partitions))]
    else:
        for asked in request.topic_partitions:
            yield asked.topic, asked.partitions


def _elect(
    image: MetadataImage, topic: str, index: int, election_type: int
) -> PartitionChangeRecord:
    """The change of leader. Raises ApiError when there is none to make."""
    if election_type not in tuple(ElectionType):
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown election type {election_type}")
    found = image.topic(topic)
    if found is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {topic}")
    partition = image.partition(topic, index)
    if partition is None:
        raise ApiError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {topic}-{index}"
        )
    record = (
        _preferred(image, partition)
        if election_type == ElectionType.PREFERRED
        else _unclean(image, partition)
    )
    record.topic_id, record.partition_id = found.topic_id, index
    return record


def _preferred(image: MetadataImage, partition: PartitionImage) -> PartitionChangeRecord:
    preferred = partition.replicas[0]
    if partition.leader == preferred:
        raise _not_needed()
    if preferred not in partition.isr or not _is_up(image, preferred):
        raise ApiError(
            ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
            "The preferred leader was not available.",
        )
    return PartitionChangeRecord(leader=preferred)


def _unclean(image: MetadataImage, partition: PartitionImage) -> PartitionChangeRecord:
    if partition.leader != NO_LEADER:
        raise _not_needed()
    up = [node for node in partition.replicas if _is_up(image, node)]
    in_sync = [node for node in up if node in partition.isr]
    if in_sync:
        return PartitionChangeRecord(leader=in_sync[0])
    if not up:
        raise ApiError(
            ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE,
            "Eligible topic partition leaders are not available.",
        )
    return PartitionChangeRecord(
        leader=up[0],
        isr=[up[0]],
        leader_recovery_state=_RECOVERING,
        eligible_leader_replicas=[],
        last_known_elr=[],
    )


def _is_up(image: MetadataImage, broker_id: int) -> bool:
    broker = image.broker(broker_id)
    return broker is not None and not broker.fenced


def _not_needed() -> ApiError:
    return ApiError(
        ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition."
    )
