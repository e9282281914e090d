"""What the runtime hands to a shard of the transaction coordinator."""

from typing import Protocol


class ProducerIdSource(Protocol):
    """Producer ids that nobody in the cluster has had before."""

    def take(self) -> int | None:
        """One id, or None when none is at hand; the source has asked for more by then.

        A client is told COORDINATOR_LOAD_IN_PROGRESS then and asks again, as with Kafka.
        """
        ...


class ClusterFacts(Protocol):
    """What a shard has to know of the cluster at the moment of a request."""

    def offsets_partition(self, group_id: str) -> int | None:
        """The partition of __consumer_offsets that holds the group; None: no such topic yet."""
        ...

    def transaction_version(self) -> int:
        """The level of the feature transaction.version: 0, 1 or 2 (KIP-890)."""
        ...
