"""What a shard wants done once its records are committed: ``Effects.orders_after_commit``."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteMarkers:
    """End the transaction in these partitions, each with a marker of this producer.

    The runtime writes the markers until each partition has one or is gone, and says so with
    ``markers_written``. It may have to write one twice; a second marker of one transaction does no
    harm. ``partitions`` is never empty and in order. ``transaction_version`` is the client's, 0 or
    2: from 2 on, the epoch was raised for the marker, and a partition that has seen that epoch
    must not take it again (KIP-1228).
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    is_commit: bool
    transaction_version: int
    partitions: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FenceConnection:
    """Close this connection after the answers that go to it: see ``guard``."""

    connection: int
