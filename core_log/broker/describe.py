"""Parts that several descriptions of the cluster share: who leads, what a caller may do."""

from typing import Final

from ..controller.image import BrokerImage, EndpointImage, MetadataImage, PartitionImage
from ..kernel.errors import ErrorCode
from ..storage.directory import LogDirectory
from ..storage.log import PartitionLog

NO_OPERATIONS_ASKED: Final = -(2**31)
"""Kafka's value of the authorized operations when the client did not ask for them."""
INTERNAL_TOPICS: Final = frozenset({"__consumer_offsets", "__transaction_state"})

# Bits are Kafka's AclOperation codes: READ 3, WRITE 4, CREATE 5, DELETE 6, ALTER 7, DESCRIBE 8,
# CLUSTER_ACTION 9, DESCRIBE_CONFIGS 10, ALTER_CONFIGS 11, IDEMPOTENT_WRITE 12.
TOPIC_OPERATIONS: Final = sum(1 << bit for bit in (3, 4, 5, 6, 7, 8, 10, 11))
CLUSTER_OPERATIONS: Final = sum(1 << bit for bit in (5, 7, 8, 9, 10, 11, 12))
GROUP_OPERATIONS: Final = sum(1 << bit for bit in (3, 6, 8, 10, 11))
"""What a caller may do to each kind of resource while no authorizer is configured: everything."""


def live_brokers(
    image: MetadataImage, listener: str, *, with_fenced: bool = False
) -> list[tuple[BrokerImage, EndpointImage]]:
    """Brokers that clients of *listener* can connect to, by id."""
    return [
        (broker, endpoint)
        for _, broker in sorted(image.brokers.items())
        if with_fenced or not broker.fenced
        if (endpoint := broker.endpoint(listener)) is not None
    ]


def partition_error(image: MetadataImage, partition: PartitionImage) -> ErrorCode:
    """LEADER_NOT_AVAILABLE when nobody alive leads the partition."""
    leader = image.broker(partition.leader)
    if leader is None or leader.fenced:
        return ErrorCode.LEADER_NOT_AVAILABLE
    return ErrorCode.NONE


def offline_replicas(image: MetadataImage, partition: PartitionImage) -> list[int]:
    """Replicas on brokers that are unknown or fenced."""
    return [
        node
        for node in partition.replicas
        if (broker := image.broker(node)) is None or broker.fenced
    ]


def holds(directory: LogDirectory, log: PartitionLog) -> bool:
    """Whether the log lies in that data directory."""
    return log.path.rpartition("/")[0] == directory.path
