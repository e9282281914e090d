"""Moving partitions between brokers: begin, cancel, list (KIP-455).

Pure. A move adds the new replicas first; the old ones leave when the new ones are in sync, which
is the business of the ISR and not of this module.
"""

from collections.abc import Iterator, Sequence

from ..kernel.errors import ApiError, ErrorCode
from ..protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from ..protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from ..protocol.metadata.partition_change_record import PartitionChangeRecord
from ..protocol.schema import Message
from .assignments import check_assignment, default_directory
from .decision import RECORDS_MAX, Decision, too_many_records
from .image import MetadataImage, PartitionImage


def alter_partition_reassignments(
    image: MetadataImage, request: AlterPartitionReassignmentsRequest
) -> Decision[AlterPartitionReassignmentsResponse]:
    """Begin or cancel the moves asked for; moving a partition to where it is does nothing."""
    records: list[Message] = []
    responses: list[ReassignableTopicResponse] = []
    for topic in request.topics:
        results: list[ReassignablePartitionResponse] = []
        for asked in topic.partitions:
            error: ApiError | None = None
            try:
                record = _reassign(
                    image,
                    topic.name,
                    asked,
                    may_change_factor=request.allow_replication_factor_change,
                )
                if record is not None:
                    if len(records) == RECORDS_MAX:
                        raise too_many_records()
                    records.append(record)
            except ApiError as refused:
                error = refused
            results.append(
                ReassignablePartitionResponse(
                    partition_index=asked.partition_index,
                    error_code=error.code if error else ErrorCode.NONE,
                    error_message=error.message if error else None,
                )
            )
        responses.append(ReassignableTopicResponse(name=topic.name, partitions=results))
    return Decision(
        records=tuple(records),
        response=AlterPartitionReassignmentsResponse(
            allow_replication_factor_change=request.allow_replication_factor_change,
            error_message=None,
            responses=responses,
        ),
    )


def list_partition_reassignments(
    image: MetadataImage, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    """Moves under way, of the partitions named or of all; unknown names are passed over."""
    topics: dict[str, list[OngoingPartitionReassignment]] = {}
    for name, index in _listed(image, request):
        partition = image.partition(name, index)
        if partition is not None and (partition.adding_replicas or partition.removing_replicas):
            topics.setdefault(name, []).append(
                OngoingPartitionReassignment(
                    partition_index=index,
                    replicas=[*partition.replicas],
                    adding_replicas=[*partition.adding_replicas],
                    removing_replicas=[*partition.removing_replicas],
                )
            )
    return ListPartitionReassignmentsResponse(
        error_message=None,
        topics=[
            OngoingTopicReassignment(name=name, partitions=partitions)
            for name, partitions in topics.items()
        ],
    )


def _listed(
    image: MetadataImage, request: ListPartitionReassignmentsRequest
) -> Iterator[tuple[str, int]]:
    if request.topics is None:
        for topic in image.topics.values():
            for index in range(len(topic.partitions)):
                yield topic.name, index
    else:
        for asked in request.topics:
            for index in asked.partition_indexes:
                yield asked.name, index


def _reassign(
    image: MetadataImage, topic: str, asked: ReassignablePartition, *, may_change_factor: bool
) -> PartitionChangeRecord | None:
    """The record that begins or cancels a move; None when nothing is to be done."""
    found = image.topic(topic)
    if found is None:
        raise ApiError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {topic}."
        )
    index = asked.partition_index
    partition = image.partition(topic, index)
    if partition is None:
        raise ApiError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {topic}:{index}."
        )
    record: PartitionChangeRecord | None
    if asked.replicas is None:
        record = _cancelled(image, partition)
    else:
        check_assignment(image, asked.replicas, replication_factor=None)
        if not may_change_factor and len(asked.replicas) != len(_original(partition)):
            raise ApiError(
                ErrorCode.INVALID_REPLICATION_FACTOR,
                f"The replication factor is changed from {len(_original(partition))} to "
                f"{len(asked.replicas)}",
            )
        record = _moved(image, partition, asked.replicas)
    if record is not None:
        record.topic_id, record.partition_id = found.topic_id, index
    return record


def _original(partition: PartitionImage) -> tuple[int, ...]:
    """The replicas before a move that is under way."""
    return tuple(node for node in partition.replicas if node not in partition.adding_replicas)


def _cancelled(image: MetadataImage, partition: PartitionImage) -> PartitionChangeRecord:
    if not partition.adding_replicas and not partition.removing_replicas:
        raise ApiError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    replicas = _original(partition)
    isr = [node for node in partition.isr if node in replicas]
    if not isr:
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "The reassignment cannot be cancelled: no replica from before it is in sync.",
        )
    record = PartitionChangeRecord(
        replicas=[*replicas],
        isr=isr,
        adding_replicas=[],
        removing_replicas=[],
        directories=_directories(image, partition, replicas),
    )
    if partition.leader not in isr:
        record.leader = isr[0]
    return record


def _moved(
    image: MetadataImage, partition: PartitionImage, target: Sequence[int]
) -> PartitionChangeRecord | None:
    before = _original(partition)
    adding = [node for node in target if node not in before]
    removing = [node for node in before if node not in target]
    replicas = [*target, *removing]
    if tuple(replicas) == partition.replicas and not (partition.adding_replicas or adding):
        return None
    return PartitionChangeRecord(
        replicas=replicas,
        adding_replicas=adding,
        removing_replicas=removing,
        isr=[node for node in partition.isr if node in replicas],
        directories=_directories(image, partition, replicas),
    )


def _directories(
    image: MetadataImage, partition: PartitionImage, replicas: Sequence[int]
) -> list[bytes]:
    """Where each replica lies: as before, or where its broker puts new ones."""
    known = dict(zip(partition.replicas, partition.directories, strict=False))
    return [known[node] if node in known else default_directory(image, node) for node in replicas]
