"""The requests that clients send most, for tests that care about the answer and not the form.

Topics carry name and id together; each version takes the one it knows (KIP-516).
"""

from collections.abc import Iterator, Mapping, Sequence

from ..kernel.ids import NO_TOPIC_ID
from ..kernel.ports import Buffer
from ..protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ..protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ..protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ..protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ..protocol.messages.init_producer_id import InitProducerIdRequest
from ..protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from ..protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ..protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from ..protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ..records.batch import scan
from ..records.record import NewRecord, Record, build_batch, decode_records

TOPIC_RESOURCE = 2
SET, DELETE = 0, 1
UNPACKED_BYTES_MAX = 64 * 1024 * 1024


def create_topic(
    name: str, *, partitions: int = 1, configs: Mapping[str, str] | None = None
) -> CreateTopicsRequest:
    return CreateTopicsRequest(
        topics=[
            CreatableTopic(
                name=name,
                num_partitions=partitions,
                replication_factor=1,
                configs=[
                    CreatableTopicConfig(name=key, value=value)
                    for key, value in (configs or {}).items()
                ],
            )
        ],
        timeout_ms=30_000,
    )


def delete_topic(name: str, *, version: int) -> DeleteTopicsRequest:
    if version < 6:
        return DeleteTopicsRequest(topic_names=[name], timeout_ms=30_000)
    return DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=30_000)


def alter_topic(name: str, configs: Mapping[str, str | None]) -> IncrementalAlterConfigsRequest:
    """Set the topic's configurations; None deletes one."""
    return IncrementalAlterConfigsRequest(
        resources=[
            AlterConfigsResource(
                resource_type=TOPIC_RESOURCE,
                resource_name=name,
                configs=[
                    AlterableConfig(
                        name=key, config_operation=DELETE if value is None else SET, value=value
                    )
                    for key, value in configs.items()
                ],
            )
        ]
    )


def new_producer_id() -> InitProducerIdRequest:
    return InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)


def produce(
    topic: str,
    topic_id: bytes,
    batches: Mapping[int, Buffer],
    *,
    acks: int = -1,
    timeout_ms: int = 30_000,
    transactional_id: str | None = None,
) -> ProduceRequest:
    """*batches* by partition."""
    return ProduceRequest(
        transactional_id=transactional_id,
        acks=acks,
        timeout_ms=timeout_ms,
        topic_data=[
            TopicProduceData(
                name=topic,
                topic_id=topic_id,
                partition_data=[
                    PartitionProduceData(index=index, records=batch)
                    for index, batch in batches.items()
                ],
            )
        ],
    )


def batch_of(
    values: Sequence[str],
    *,
    now_ms: int,
    producer_id: int = -1,
    producer_epoch: int = 0,
    sequence: int = 0,
    key: bytes | None = b"k",
    is_transactional: bool = False,
) -> bytearray:
    """A record batch with the texts as values; the producer's fields only with an id."""
    is_idempotent = producer_id >= 0
    return build_batch(
        [NewRecord(timestamp_ms=now_ms, key=key, value=value.encode()) for value in values],
        producer_id=producer_id,
        producer_epoch=producer_epoch if is_idempotent else -1,
        base_sequence=sequence if is_idempotent else -1,
        is_transactional=is_transactional,
    )


def fetch(  # noqa: PLR0913 - each is a field of the request
    topic: str,
    topic_id: bytes,
    offsets: Mapping[int, int],
    *,
    max_wait_ms: int = 0,
    min_bytes: int = 1,
    max_bytes: int = 50 * 1024 * 1024,
    partition_max_bytes: int = 1024 * 1024,
    leader_epoch: int = -1,
    last_fetched_epoch: int = -1,
    read_committed: bool = False,
) -> FetchRequest:
    """*offsets* by partition."""
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        isolation_level=int(read_committed),
        topics=[
            FetchTopic(
                topic=topic,
                topic_id=topic_id,
                partitions=[
                    FetchPartition(
                        partition=index,
                        fetch_offset=offset,
                        partition_max_bytes=partition_max_bytes,
                        current_leader_epoch=leader_epoch,
                        last_fetched_epoch=last_fetched_epoch,
                    )
                    for index, offset in offsets.items()
                ],
            )
        ],
    )


def records_of(data: Buffer | None) -> Iterator[Record]:
    """The records in what a fetch answered; control records are skipped, as is a cut batch."""
    for batch in scan(data or b"", verify_crc=True):
        if not batch.is_control:
            yield from decode_records(batch, bytes_max=UNPACKED_BYTES_MAX)


def list_offset(topic: str, partition: int, timestamp: int) -> ListOffsetsRequest:
    return ListOffsetsRequest(
        replica_id=-1,
        topics=[
            ListOffsetsTopic(
                name=topic,
                partitions=[ListOffsetsPartition(partition_index=partition, timestamp=timestamp)],
            )
        ],
    )


def commit_offset(
    group_id: str,
    topic: str,
    topic_id: bytes,
    offsets: Mapping[int, int],
    *,
    member_id: str = "",
    generation_id: int = -1,
) -> OffsetCommitRequest:
    """*offsets* by partition."""
    return OffsetCommitRequest(
        group_id=group_id,
        member_id=member_id,
        generation_id_or_member_epoch=generation_id,
        topics=[
            OffsetCommitRequestTopic(
                name=topic,
                topic_id=topic_id,
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=index, committed_offset=offset, committed_metadata=""
                    )
                    for index, offset in offsets.items()
                ],
            )
        ],
    )


def fetch_offsets(
    group_id: str,
    topic: str,
    partitions: Sequence[int],
    *,
    version: int,
    topic_id: bytes = NO_TOPIC_ID,
) -> OffsetFetchRequest:
    if version < 8:
        return OffsetFetchRequest(
            group_id=group_id,
            topics=[OffsetFetchRequestTopic(name=topic, partition_indexes=list(partitions))],
        )
    return OffsetFetchRequest(
        groups=[
            OffsetFetchRequestGroup(
                group_id=group_id,
                topics=[
                    OffsetFetchRequestTopics(
                        name=topic, topic_id=topic_id, partition_indexes=list(partitions)
                    )
                ],
            )
        ]
    )
