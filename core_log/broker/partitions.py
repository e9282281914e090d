"""The partitions a node hosts: log, replication state, and the requests that wait on them.

One turn of the event loop appends to any number of partitions; ``Partitions.turn`` then writes
each once, advances high watermarks, answers who waited and asks for one group commit for all that
must be on disk before it is acknowledged (reliability: data first, then the answer).
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Final, Protocol, final

from ..kernel.errors import ApiError, ErrorCode
from ..kernel.ports import Clock
from ..records.batch import Batch
from ..records.validate import ProducePolicy
from ..replica.partition import Partition
from ..storage.errors import DiskFull, LogDirectoryFailed
from ..storage.log import Appended, FlushJob, PartitionLog

ACKS_ALL: Final = -1


class AppendWait(Protocol):
    """Told once how one append ended."""

    def done(self, hosted: "Hosted", appended: Appended, error: ApiError | None) -> None: ...


class Disk(Protocol):
    """Runs flushes away from the loop and reports on it, in one call for all."""

    def flush(self, jobs: list[FlushJob], done: Callable[[list[OSError | None]], None]) -> None: ...


@final
class Hosted:
    """One partition on this node.

    Invariants: ``log.log_start_offset <= high_watermark <= log.log_end_offset``; waits for
    commitment are in order of offset; an offline partition has no waits.
    """

    __slots__ = (
        "_committed",
        "_written",
        "dirty",
        "fetches",
        "flush_deadline_ms",
        "flushing",
        "index",
        "log",
        "offline_reason",
        "policy",
        "replica",
        "topic",
        "topic_id",
    )

    def __init__(self, log: PartitionLog, replica: Partition, policy: ProducePolicy) -> None:
        self.topic = log.topic
        self.index = log.partition
        self.topic_id = log.topic_id
        self.log = log
        self.replica = replica
        self.policy = policy
        self.offline_reason: str | None = None
        self.dirty = False
        self.flushing = False
        self.flush_deadline_ms: int | None = None
        self.fetches: dict[object, Callable[[], None]] = {}
        self._written: list[tuple[Appended, AppendWait]] = []
        self._committed: deque[tuple[Appended, AppendWait, int]] = deque()

    def __repr__(self) -> str:
        log = self.log
        return f"<Hosted {self.topic}-{self.index} {log.log_start_offset}..{log.log_end_offset}>"

    @property
    def high_watermark(self) -> int:
        return self.replica.high_watermark

    @property
    def is_lazy(self) -> bool:
        """The topic opted out of flush-before-acknowledge (``flush.messages`` above 1)."""
        return self.log.config.flush_messages > 1

    def append(self, batch: Batch, *, now_ms: int) -> Appended:
        """Append as leader; the bytes reach the file at the end of the turn.

        Raises ApiError when the batch is refused or the partition cannot be written.
        """
        if self.offline_reason is not None:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, self.offline_reason)
        return self.log.append_as_leader(
            batch, leader_epoch=self.replica.leader_epoch, now_ms=now_ms
        )

    def wait(self, appended: Appended, acks: int, wait: AppendWait, deadline_ms: int) -> None:
        """Tell *wait* when the append is written (acks=1) or committed (acks=all)."""
        if acks != ACKS_ALL:
            self._written.append((appended, wait))
        elif appended.last_offset < self.replica.high_watermark:
            wait.done(self, appended, None)
        else:
            self._committed.append((appended, wait, deadline_ms))

    @property
    def wants_commit(self) -> bool:
        """Somebody waits for data that a flush must make durable first, or may not read it yet."""
        return self.log.flushed_offset < self.log.written_offset and not self.is_lazy

    @property
    def has_waits(self) -> bool:
        """Somebody waits for an append to be committed."""
        return bool(self._committed)

    @property
    def last_stable_offset(self) -> int:
        """Where ``read_committed`` ends."""
        return self.log.last_stable(self.replica.high_watermark)

    def written(self) -> None:
        """Answer those who waited for the write."""
        if self._written:
            waits, self._written = self._written, []
            for appended, wait in waits:
                wait.done(self, appended, None)

    def progressed(self) -> bool:
        """Take the log's progress over into the high watermark; True when it advanced."""
        log = self.log
        durable = log.written_offset if self.is_lazy else log.flushed_offset
        if not self.replica.advance_local(
            log_end_offset=log.log_end_offset, durable_offset=durable
        ):
            return False
        committed = self._committed
        high_watermark = self.replica.high_watermark
        while committed and committed[0][0].last_offset < high_watermark:
            appended, wait, _ = committed.popleft()
            wait.done(self, appended, None)
        return True

    def expire(self, now_ms: int) -> None:
        """Answer REQUEST_TIMED_OUT to those whose deadline has passed."""
        late = [entry for entry in self._committed if entry[2] <= now_ms]
        if late:
            self._committed = deque(entry for entry in self._committed if entry[2] > now_ms)
            for appended, wait, _ in late:
                wait.done(self, appended, ApiError(ErrorCode.REQUEST_TIMED_OUT))

    def fail(self, error: ApiError, *, from_offset: int = 0) -> None:
        """Answer *error* to everybody who waits for an append at or above *from_offset*."""
        written, self._written = self._written, []
        for appended, wait in written:
            wait.done(self, appended, error if appended.last_offset >= from_offset else None)
        # Who is told may append and wait again at once, as a coordinator does that starts over.
        committed, self._committed = self._committed, deque()
        lost = [entry for entry in committed if entry[0].last_offset >= from_offset]
        self._committed.extend(entry for entry in committed if entry[0].last_offset < from_offset)
        for appended, wait, _ in lost:
            wait.done(self, appended, error)

    def wake_fetches(self) -> None:
        if self.fetches:
            fetches, self.fetches = self.fetches, {}
            for wake in fetches.values():
                wake()


@final
class Partitions:
    """All hosted partitions of a node, by name and by topic id."""

    def __init__(
        self,
        disk: Disk,
        clock: Clock,
        *,
        schedule_turn: Callable[[], None],
        directory_failed: Callable[[LogDirectoryFailed], None],
        disk_full: Callable[[Hosted, DiskFull], None],
    ) -> None:
        self._disk = disk
        self._clock = clock
        self._schedule_turn = schedule_turn
        self._directory_failed = directory_failed
        self._disk_full = disk_full
        self._by_name: dict[tuple[str, int], Hosted] = {}
        self._by_id: dict[tuple[bytes, int], Hosted] = {}
        self._dirty: list[Hosted] = []
        self._unflushed: dict[Hosted, None] = {}
        self._watched: dict[Hosted, None] = {}
        self._flush_running = False
        self._awake: list[Hosted] = []

    def __iter__(self) -> Iterator[Hosted]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def add(self, hosted: Hosted) -> None:
        self._by_name[hosted.topic, hosted.index] = hosted
        self._by_id[hosted.topic_id, hosted.index] = hosted
        hosted.progressed()

    def remove(self, hosted: Hosted) -> None:
        """Stop serving a partition; who waits on it learns that it is gone."""
        self._by_name.pop((hosted.topic, hosted.index), None)
        self._by_id.pop((hosted.topic_id, hosted.index), None)
        self._unflushed.pop(hosted, None)
        self._watched.pop(hosted, None)
        hosted.offline_reason = "the topic is deleted"
        hosted.fail(ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        self._awake.append(hosted)
        self._schedule_turn()

    def by_name(self, topic: str, index: int) -> Hosted | None:
        return self._by_name.get((topic, index))

    def by_id(self, topic_id: bytes, index: int) -> Hosted | None:
        return self._by_id.get((topic_id, index))

    def touched(self, hosted: Hosted) -> None:
        """Something was appended; it is written at the end of this turn."""
        if not hosted.dirty:
            hosted.dirty = True
            self._dirty.append(hosted)
            self._watched[hosted] = None
            self._schedule_turn()

    def turn(self) -> None:
        """Write what was appended, answer who waited for that, start the group commit."""
        dirty, self._dirty = self._dirty, []
        for hosted in dirty:
            hosted.dirty = False
            if hosted.offline_reason is None and self._write(hosted):
                hosted.written()
                if hosted.progressed():
                    self._awake.append(hosted)
                self._note_unflushed(hosted)
        self._start_commit()
        awake, self._awake = self._awake, []
        for hosted in awake:
            hosted.wake_fetches()

    def flush_overdue(self, now_ms: int) -> None:
        """Queue lazily flushed partitions whose ``flush.ms`` is over; expire waiting appends."""
        for hosted in list(self._watched):
            hosted.expire(now_ms)
            if hosted.flush_deadline_ms is not None and hosted.flush_deadline_ms <= now_ms:
                hosted.flush_deadline_ms = None
                self._unflushed[hosted] = None
            if not hosted.has_waits and hosted.flush_deadline_ms is None:
                del self._watched[hosted]
        if self._unflushed:
            self._schedule_turn()

    def flush(self, hosted: Hosted) -> None:
        """Queue one partition; compaction needs what it touches on disk."""
        self._unflushed[hosted] = None
        self._schedule_turn()

    def flush_all(self) -> None:
        """Queue every partition with unflushed data; the clean stop and checkpoints use it."""
        for hosted in self._by_name.values():
            if (
                hosted.offline_reason is None
                and hosted.log.flushed_offset < hosted.log.log_end_offset
            ):
                self._unflushed[hosted] = None
        self._schedule_turn()

    @property
    def is_quiet(self) -> bool:
        """Nothing is queued, unwritten or being flushed."""
        return not (self._dirty or self._unflushed or self._flush_running)

    def take_offline(self, failure: LogDirectoryFailed) -> None:
        """No partition of the failed directory is served from now on."""
        error = ApiError(ErrorCode.KAFKA_STORAGE_ERROR, str(failure))
        for hosted in list(self._by_name.values()):
            if hosted.offline_reason is None and hosted.log.path.startswith(f"{failure.path}/"):
                hosted.offline_reason = str(failure)
                self._unflushed.pop(hosted, None)
                hosted.fail(error)
                self._awake.append(hosted)
        self._schedule_turn()

    def _write(self, hosted: Hosted) -> bool:
        """False when the partition is lost; a full disk only loses what did not fit."""
        try:
            hosted.log.write()
        except DiskFull as full:
            hosted.fail(
                ApiError(ErrorCode.KAFKA_STORAGE_ERROR, str(full)),
                from_offset=hosted.log.log_end_offset,
            )
            self._disk_full(hosted, full)
        except LogDirectoryFailed as failure:
            self.take_offline(failure)
            self._directory_failed(failure)
            return False
        return True

    def _note_unflushed(self, hosted: Hosted) -> None:
        if hosted.wants_commit:
            self._unflushed[hosted] = None
            return
        config = hosted.log.config
        if hosted.log.written_offset - hosted.log.flushed_offset >= config.flush_messages:
            self._unflushed[hosted] = None
        elif hosted.flush_deadline_ms is None and config.flush_ms is not None:
            hosted.flush_deadline_ms = self._clock.monotonic_ms() + config.flush_ms

    def _start_commit(self) -> None:
        if self._flush_running or not self._unflushed:
            return
        batch, self._unflushed = list(self._unflushed), {}
        pairs = [(hosted, job) for hosted in batch if (job := self._begin_flush(hosted))]
        if not pairs:
            return
        self._flush_running = True
        self._disk.flush([job for _, job in pairs], lambda errors: self._flushed(pairs, errors))

    def _begin_flush(self, hosted: Hosted) -> FlushJob | None:
        try:
            return hosted.log.begin_flush()
        except LogDirectoryFailed as failure:
            self.take_offline(failure)
            self._directory_failed(failure)
            return None

    def _flushed(self, pairs: list[tuple[Hosted, FlushJob]], errors: list[OSError | None]) -> None:
        self._flush_running = False
        for (hosted, job), error in zip(pairs, errors, strict=True):
            if hosted.offline_reason is not None:
                continue
            if error is None:
                hosted.log.end_flush(job)
                if hosted.progressed():
                    self._awake.append(hosted)
            else:
                failure = hosted.log.flush_failed(error)
                self.take_offline(failure)
                self._directory_failed(failure)
        self._schedule_turn()
