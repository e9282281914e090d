"""Carries out a coordinator's orders to end transactions: every partition gets its marker.

A marker that cannot be written is tried again until it can, or until its partition is gone, or
its coordinator's shard is: the shard that takes over gives the order again.
"""

from collections.abc import Callable
from typing import Final, TypeAlias, final

from ..kernel.effects import Note
from ..kernel.errors import ErrorCode
from ..kernel.ports import Clock
from ..transactions.orders import WriteMarkers
from .markers import Marker, Markers
from .timers import Timers

MARKER_RETRY_MS: Final = 100
"""How soon a marker that could not be written is tried again."""

TopicPartition: TypeAlias = tuple[str, int]

_FENCED: Final = (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED)
"""The partition has seen a later marker of this producer than the one to be written."""


@final
class MarkerOrders:
    """Orders under way on this node."""

    def __init__(
        self,
        markers: Markers,
        *,
        partition_exists: Callable[[str, int], bool],
        clock: Clock,
        timers: Timers,
        note: Callable[[Note], None],
    ) -> None:
        self.markers: Final = markers
        self.unwritten = 0
        """Markers that are ordered and not in their partitions yet."""
        self._partition_exists = partition_exists
        self._clock = clock
        self._timers = timers
        self._note = note

    def carry_out(
        self,
        order: WriteMarkers,
        *,
        is_valid: Callable[[], bool],
        written: Callable[[TopicPartition], None],
    ) -> None:
        """Call *written* for each partition that has its marker or needs none, while *is_valid*."""
        self.unwritten += len(order.partitions)
        for partition in order.partitions:
            self._write(order, partition, is_valid, written)

    def _write(
        self,
        order: WriteMarkers,
        partition: TopicPartition,
        is_valid: Callable[[], bool],
        written: Callable[[TopicPartition], None],
    ) -> None:
        marker = Marker(
            producer_id=order.producer_id,
            producer_epoch=order.producer_epoch,
            coordinator_epoch=order.coordinator_epoch,
            is_commit=order.is_commit,
            transaction_version=order.transaction_version,
        )

        def attempt() -> None:
            if is_valid():
                self.markers.write(*partition, marker, done)
            else:
                self.unwritten -= 1

        def done(code: ErrorCode) -> None:
            if code in _FENCED:
                self._superseded(order, partition, code)
            elif code is not ErrorCode.NONE and self._partition_exists(*partition):
                self._timers.at(self._clock.monotonic_ms() + MARKER_RETRY_MS, attempt)
                return
            self.unwritten -= 1
            if is_valid():
                written(partition)

        attempt()

    def _superseded(self, order: WriteMarkers, partition: TopicPartition, code: ErrorCode) -> None:
        facts: dict[str, str | int] = {
            "transactional_id": order.transactional_id,
            "producer_id": order.producer_id,
            "producer_epoch": order.producer_epoch,
            "topic": partition[0],
            "partition": partition[1],
            "reason": code.name,
        }
        self._note(Note(event="transaction_marker_superseded", facts=facts))
