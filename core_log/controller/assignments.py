"""Replica lists that an operator gives by hand: checked, and turned into new partitions.

Pure.
"""

from collections.abc import Sequence

from ..kernel.errors import ApiError, ErrorCode
from ..kernel.ids import NO_TOPIC_ID
from ..protocol.metadata.partition_record import PartitionRecord
from .image import MetadataImage


def check_assignment(
    image: MetadataImage, replicas: Sequence[int], *, replication_factor: int | None
) -> None:
    """Pass when each replica is a registered broker, named once, and their number fits.

    Raises INVALID_REPLICA_ASSIGNMENT.
    """
    if not replicas:
        raise _refused("The manual partition assignment includes an empty replica list.")
    for replica in sorted(replicas):
        if image.broker(replica) is None:
            raise _refused(
                f"The manual partition assignment includes broker {replica}, but no such broker "
                "is registered."
            )
    for before, replica in zip(sorted(replicas), sorted(replicas)[1:], strict=False):
        if before == replica:
            raise _refused(
                f"The manual partition assignment includes the broker {replica} more than once."
            )
    if replication_factor is not None and len(replicas) != replication_factor:
        raise _refused(
            f"The manual partition assignment includes a partition with {len(replicas)} "
            "replica(s), but this is not consistent with previous partitions, which have "
            f"{replication_factor} replica(s)."
        )


def new_partition(
    image: MetadataImage, topic_id: bytes, index: int, replicas: Sequence[int]
) -> PartitionRecord:
    """A partition that begins its life on *replicas*; those that are up are in sync.

    Raises INVALID_REPLICA_ASSIGNMENT when none of them is up.
    """
    isr = [replica for replica in replicas if _is_active(image, replica)]
    if not isr:
        raise _refused(
            f"All brokers specified in the manual partition assignment for partition {index} are "
            "fenced or in controlled shutdown."
        )
    return PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=[*replicas],
        isr=isr,
        leader=isr[0],
        leader_epoch=0,
        partition_epoch=0,
        directories=[default_directory(image, replica) for replica in replicas],
    )


def default_directory(image: MetadataImage, broker_id: int) -> bytes:
    """The broker's data directory when it has just one; otherwise the broker chooses (KIP-858)."""
    broker = image.broker(broker_id)
    if broker is None or len(broker.log_dirs) != 1:
        return NO_TOPIC_ID
    return broker.log_dirs[0]


def _is_active(image: MetadataImage, broker_id: int) -> bool:
    broker = image.broker(broker_id)
    return broker is not None and not broker.fenced and not broker.in_controlled_shutdown


def _refused(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
