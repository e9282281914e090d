"""Writes the markers that end transactions into partitions that this node leads.

The coordinator of a transaction orders them here, and WriteTxnMarkers (another node's coordinator,
or a tool that ends a hanging transaction) does the same.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

from ..kernel.errors import ApiError, ErrorCode
from ..kernel.ports import Clock
from ..records.batch import read_batch
from ..records.control import ControlType, EndTxnMarker, build_end_txn_batch
from ..storage.log import Appended
from .groups import OFFSETS_TOPIC, Groups
from .partitions import ACKS_ALL, Hosted, Partitions

MARKER_TIMEOUT_MS: Final = 30_000
"""Kafka's ``request.timeout.ms``, which its coordinator gives a marker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """The end of one producer's transaction."""

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    is_commit: bool
    transaction_version: int
    """From 2 on the epoch must be above that of the transaction's records (KIP-890)."""


class _Written:
    """Hears how the append of one marker ended."""

    __slots__ = ("_done",)

    def __init__(self, done: Callable[[ErrorCode], None]) -> None:
        self._done = done

    def done(self, hosted: Hosted, appended: Appended, error: ApiError | None) -> None:
        del hosted, appended
        self._done(ErrorCode.NONE if error is None else error.code)


@final
class Markers:
    """Appends markers, and tells the group coordinator of those in the offsets topic."""

    def __init__(self, *, partitions: Partitions, groups: Groups, clock: Clock) -> None:
        self._partitions = partitions
        self._groups = groups
        self._clock = clock

    def write(
        self, topic: str, index: int, marker: Marker, done: Callable[[ErrorCode], None]
    ) -> None:
        """Append *marker*; *done* gets NONE when it is committed, or why it is not.

        That may be before this returns. NOT_LEADER_OR_FOLLOWER when the partition is not here.
        """
        hosted = self._partitions.by_name(topic, index)
        try:
            if hosted is None:
                raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
            appended = self._append(hosted, marker)
        except ApiError as error:
            done(error.code)
            return
        self._partitions.touched(hosted)
        deadline_ms = self._clock.monotonic_ms() + MARKER_TIMEOUT_MS
        hosted.wait(appended, ACKS_ALL, _Written(done), deadline_ms)
        if topic == OFFSETS_TOPIC:
            self._groups.marker_appended(
                index, appended, marker.producer_id, is_commit=marker.is_commit
            )

    def _append(self, hosted: Hosted, marker: Marker) -> Appended:
        if marker.producer_id < 0:
            raise ApiError(ErrorCode.INVALID_REQUEST, "a marker belongs to a producer")
        hosted.replica.check_may_append(ACKS_ALL)
        hosted.log.check_marker(
            producer_id=marker.producer_id,
            producer_epoch=marker.producer_epoch,
            coordinator_epoch=marker.coordinator_epoch,
            transaction_version=marker.transaction_version,
        )
        now_ms = self._clock.now_ms()
        batch = build_end_txn_batch(
            EndTxnMarker(
                type=ControlType.COMMIT if marker.is_commit else ControlType.ABORT,
                coordinator_epoch=marker.coordinator_epoch,
            ),
            producer_id=marker.producer_id,
            producer_epoch=marker.producer_epoch,
            timestamp_ms=now_ms,
        )
        return hosted.append(read_batch(batch), now_ms=now_ms)
