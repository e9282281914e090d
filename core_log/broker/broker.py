"""One node as its handlers see it: metadata, partitions, groups, and the turn that drives them.

The host calls ``turn`` at the end of an event loop's turn in which ``schedule_turn`` was asked for
and ``tick`` when ``next_deadline_ms`` has come. Nothing here knows of sockets or threads, so the
same object serves a simulation.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar, final

from ..controller.controller import Committed, Controller
from ..controller.decision import ControllerConfig, Decision
from ..controller.image import MetadataImage
from ..kernel.errors import ApiError, ErrorCode
from ..kernel.ports import Clock, Random
from ..raft.metadata_log import SnapshotJob
from ..storage.directory import LogDirectory
from ..storage.errors import DiskFull, LogDirectoryFailed
from ..storage.log import FlushJob, LogSlice
from .compaction import Compaction
from .config import BrokerConfig
from .deferred import Deferred
from .groups import Groups
from .housekeeping import Housekeeping
from .partitions import Hosted, Partitions
from .producer_ids import ProducerIds
from .reconcile import Reconciler
from .session import Session
from .stats import Stats
from .timers import Timers
from .topics import OwnTopics
from .transactions import Transactions

R = TypeVar("R")
T = TypeVar("T")

EXPIRY_MS: Final = 100
"""How often waiting appends expire and lazy flushes come due."""


class Disk(Protocol):
    """Work that must not stall the loop; each *done* is called back on the loop."""

    def flush(self, jobs: list[FlushJob], done: Callable[[list[OSError | None]], None]) -> None: ...
    def read(
        self, pieces: list[LogSlice], done: Callable[[list[bytes | OSError]], None]
    ) -> None: ...
    def run(self, work: Callable[[], T], done: Callable[[T | OSError], None]) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedApi:
    """One line of what ApiVersions lists."""

    key: int
    version_min: int
    version_max: int


@final
class Broker:
    """What handlers work on. Composed by the server; owns nothing but its parts."""

    def __init__(  # noqa: PLR0913 - composed in one place
        self,
        *,
        config: BrokerConfig,
        clock: Clock,
        rng: Random,
        timers: Timers,
        disk: Disk,
        directories: Sequence[LogDirectory],
        controller: Controller,
        controller_config: ControllerConfig,
        partitions: Partitions,
        reconciler: Reconciler,
        groups: Groups,
        transactions: Transactions,
        own_topics: OwnTopics,
        housekeeping: Housekeeping,
        compaction: Compaction,
        producer_ids: ProducerIds,
        served: Sequence[ServedApi],
        schedule_turn: Callable[[], None],
        unread_bytes: Callable[[], int],
        failed: Callable[[LogDirectoryFailed], None],
        unhandled: Callable[[Exception, Mapping[str, object]], None],
    ) -> None:
        self.config: Final = config
        self.clock: Final = clock
        self.rng: Final = rng
        self.timers: Final = timers
        self.disk: Final = disk
        self.directories: Final = directories
        self.controller: Final = controller
        self.controller_config: Final = controller_config
        self.partitions: Final = partitions
        self.groups: Final = groups
        self.transactions: Final = transactions
        self.own_topics: Final = own_topics
        self.housekeeping: Final = housekeeping
        self.compaction: Final = compaction
        self.producer_ids: Final = producer_ids
        self.served: Final = served
        self.stats: Final = Stats()
        self._outbox: list[Session] = []
        self._in_turn = False
        self.schedule_turn: Final = schedule_turn
        self.unread_bytes: Final = unread_bytes
        """Answers in memory that their peers do not take."""
        self._reconciler = reconciler
        self._failed = failed
        self._unhandled = unhandled
        self._metadata_flush_running = False
        timers.at(clock.monotonic_ms() + EXPIRY_MS, self._expire)

    @property
    def image(self) -> MetadataImage:
        """Committed metadata."""
        return self.controller.image

    @property
    def controller_id(self) -> int:
        """The node that decides; with one node, this one."""
        return self.config.node_id

    def report_unhandled(self, error: Exception, **facts: object) -> None:
        """Tell the host of a fault of ours that a request met."""
        self._unhandled(error, facts)

    # -- partitions -------------------------------------------------------------------------

    def hosted(self, name: str, topic_id: bytes, index: int, *, by_id: bool) -> Hosted:
        """The partition a request names, by id from the versions on that carry ids.

        Raises ApiError: UNKNOWN_TOPIC_ID, UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER.
        """
        if not by_id:
            return self.hosted_by_name(name, index)
        hosted = self.partitions.by_id(topic_id, index)
        if hosted is None:
            topic = self.image.topic_by_id(topic_id)
            if topic is None:
                raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID)
            raise self._not_here(topic.name, index)
        return hosted

    def hosted_by_name(self, name: str, index: int) -> Hosted:
        """The same by name alone."""
        hosted = self.partitions.by_name(name, index)
        if hosted is None:
            raise self._not_here(name, index)
        return hosted

    def _not_here(self, name: str, index: int) -> ApiError:
        if self.image.partition(name, index) is None:
            return ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    # -- metadata ---------------------------------------------------------------------------

    def submit(self, decide: Callable[[MetadataImage], Decision[R]]) -> Deferred[R | ApiError]:
        """Decide an admin operation; its response comes when the records are committed."""
        answer: Deferred[R | ApiError] = Deferred()
        self.controller.submit(decide, answer.resolve, now_ms=self.clock.now_ms())
        self.schedule_turn()
        return answer

    # -- time -------------------------------------------------------------------------------

    def turn(self) -> None:
        """Write what was appended, start group commits, send what became answerable."""
        self._in_turn = True
        try:
            self._turn_metadata()
            self.partitions.turn()
            while self._outbox:
                outbox, self._outbox = self._outbox, []
                for session in outbox:
                    session.resume()
        finally:
            self._in_turn = False

    def answer_later(self, session: Session) -> None:
        """Flush the session at the end of this turn, or of the next when none is running."""
        self._outbox.append(session)
        if not self._in_turn:
            self.schedule_turn()

    def tick(self, now_ms: int) -> None:
        """Act on every deadline up to *now_ms* of the monotonic clock."""
        if self.timers.fire(now_ms):
            self.schedule_turn()

    def next_deadline_ms(self) -> int | None:
        """When ``tick`` is due, in monotonic milliseconds."""
        return self.timers.next_deadline_ms()

    @property
    def is_quiet(self) -> bool:
        """Nothing is queued or under way; the clean stop waits for this."""
        return self.partitions.is_quiet and not self._metadata_flush_running

    def close(self) -> None:
        """Close every log and leave the clean-shutdown markers; the broker is used no more.

        A directory that fails keeps none of the others from a clean end. Raises the first such
        failure, DiskFull or LogDirectoryFailed, when all are closed; one known before is not new.
        """
        high_watermarks = self.housekeeping.high_watermarks()
        failures: list[DiskFull | LogDirectoryFailed] = []
        if self.directories[0].offline_reason is None:
            try:
                self.controller.close()
            except (DiskFull, LogDirectoryFailed) as failure:
                failures.append(failure)
        for directory in self.directories:
            try:
                directory.close(high_watermarks, clean=directory.offline_reason is None)
            except (DiskFull, LogDirectoryFailed) as failure:
                failures.append(failure)
        if failures:
            raise failures[0]

    def _expire(self) -> None:
        now_ms = self.clock.monotonic_ms()
        self.partitions.flush_overdue(now_ms)
        if not self._reconciler.is_complete:
            self._reconciler.retry(self.image)
        self.timers.at(now_ms + EXPIRY_MS, self._expire)

    def _turn_metadata(self) -> None:
        if self._metadata_flush_running or not self.controller.has_pending:
            return
        try:
            self.controller.write()
        except DiskFull:
            return  # the controller has answered who waited
        except LogDirectoryFailed as failure:
            self._failed(failure)
            return
        try:
            job = self.controller.begin_flush()
        except LogDirectoryFailed as failure:
            # The directory failed elsewhere; who waits for the metadata log must learn of it too.
            self.controller.flush_failed(OSError(failure.reason))
            return
        if job is not None:
            self._metadata_flush_running = True
            self.disk.flush([job], lambda errors: self._metadata_flushed(job, errors[0]))

    def _metadata_flushed(self, job: FlushJob, error: OSError | None) -> None:
        self._metadata_flush_running = False
        if error is not None:
            self._failed(self.controller.flush_failed(error))
            return
        committed: Committed = self.controller.end_flush(job)
        self._reconciler.apply(committed.delta, self.image)
        for answer in committed.answers:
            answer()
        self._snapshot_metadata()
        self.schedule_turn()

    def _snapshot_metadata(self) -> None:
        """Write the image down when the log has grown enough, so that a start stays short."""
        if self.controller.wants_snapshot:
            job = self.controller.begin_snapshot()
            self.disk.run(job.run, lambda error: self._snapshot_written(job, error))

    def _snapshot_written(self, job: SnapshotJob, error: OSError | None) -> None:
        try:
            self.controller.end_snapshot(job, error)
        except LogDirectoryFailed as failure:
            self._failed(failure)
