"""The runtime of a coordinator: one shard for each partition of its internal topic.

A shard decides, this runtime acts: it appends the shard's records, parks the replies and orders
that depend on them until they are on disk, and rebuilds a shard from its log when an append fails,
because the shard's memory then says more than its log. Groups and transactions run on it.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Generic, Protocol, TypeVar, final

import msgspec

from ..kernel.effects import Effects, Note, Record, ReplyAfterCommit, Sender
from ..kernel.errors import ApiError, ErrorCode
from ..kernel.ids import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from ..kernel.ports import Clock
from ..protocol.coordinator.frames import UnreadableRecordError
from ..records.batch import Batch, CorruptBatch, read_batch, scan
from ..records.compression import DecompressedTooLarge
from ..records.control import ControlType, read_end_txn_marker
from ..records.record import NewRecord, build_batch, decode_records
from ..storage.log import Appended
from .deferred import Deferred
from .partitions import ACKS_ALL, Hosted, Partitions
from .timers import Timer, Timers

COMMIT_TIMEOUT_MS: Final = 5_000
"""Kafka's ``offsets.commit.timeout.ms``; Kafka gives transaction records as long."""
LOAD_STEP_BYTES: Final = 1024 * 1024
"""How much of a partition one turn of the loop replays."""
LOAD_WAIT_MS: Final = 10
"""How soon a load looks again for appends that are being flushed."""
LOAD_BATCH_BYTES_MAX: Final = 64 * 1024 * 1024
"""What one stored batch may unpack to while it is replayed."""
BATCH_OVERHEAD_BYTES: Final = 61 + 64
"""A batch header and room for the varints of one record."""


class CoordinatorTopic(Protocol):
    """Facts about the topic that a coordinator keeps its records in, and its creation."""

    @property
    def name(self) -> str: ...
    def partition_count(self) -> int:
        """0 while the topic does not exist."""
        ...

    def leader_of(self, index: int) -> int: ...
    def ensure(self) -> Deferred[ApiError | None]:
        """Resolved once the topic exists, with the reason when it cannot."""
        ...


class Shard(Protocol):
    """What the runtime needs of a shard, whatever it coordinates."""

    @property
    def next_deadline_ms(self) -> int | None: ...
    def replay(
        self, key: bytes, value: bytes | None, *, timestamp_ms: int, sender: Sender | None
    ) -> None:
        """Take one record into account; with *sender*, one of that producer's transaction.

        Raises UnreadableRecordError.
        """
        ...

    def replay_end(self, producer_id: int, *, is_commit: bool) -> None:
        """Take a marker into account."""
        ...

    def loaded(self, hosted: Hosted, now_ms: int) -> Effects: ...
    def tick(self, now_ms: int) -> Effects: ...
    def unload(self, code: ErrorCode) -> Effects: ...
    def check(self) -> None:
        """Assert the invariants."""
        ...


S = TypeVar("S", bound=Shard)


class ShardRuntime(Protocol[S]):
    """What the runners of one coordinator share."""

    @property
    def partitions(self) -> Partitions: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def timers(self) -> Timers: ...
    @property
    def batch_bytes_max(self) -> int:
        """Bytes of records that go into one batch where they need not stay together."""
        ...

    def note(self, note: Note) -> None: ...
    def carry_out(self, runner: "Runner[S]", orders: Sequence[object]) -> None:
        """Do what a shard ordered; everything it depends on is committed."""
        ...

    def reload(self, hosted: Hosted) -> None:
        """Rebuild a shard whose append failed."""
        ...

    def append_code(self, code: ErrorCode) -> ErrorCode:
        """What this coordinator's clients get for an append that failed with *code*."""
        ...


@final
class Runner(Generic[S]):
    """One shard, its log, and the replies that wait for the log.

    Invariant: ``_parked`` is in order of offset, and empty when everything appended is committed.
    """

    def __init__(
        self, runtime: ShardRuntime[S], hosted: Hosted, shard: S, *, wait_ms: int = 0
    ) -> None:
        self.shard: Final = shard
        self.hosted: Final = hosted
        self._runtime = runtime
        self._parked: deque[tuple[int, Callable[[ErrorCode | None], None]]] = deque()
        self._last_offset = -1
        self._timer: Timer | None = None
        self._gone = False
        self.is_loaded = False
        self.is_starting = False
        """It does what the shard wants as soon as it is loaded."""
        if wait_ms:
            self._load_later(hosted.log.log_start_offset, wait_ms=wait_ms)
        else:
            self._load(hosted.log.log_start_offset)

    def unload(self, code: ErrorCode) -> None:
        """Answer everybody who waits and stop."""
        self._gone = True
        self.is_loaded = False
        if self._timer is not None:
            self._timer.cancel()
        parked, self._parked = self._parked, deque()
        for _, settle in parked:
            settle(code)
        for reply in self.shard.unload(code).replies:
            _send(reply.reply_to, reply.response)

    def now_ms(self) -> int:
        """The moment a step happens at."""
        return self._runtime.clock.now_ms()

    def act(self, effects: Effects) -> None:
        """Do what one step of the shard asks for."""
        for note in effects.notes:
            self._runtime.note(note)
        error = self._append(effects) if effects.records else None
        for reply in effects.replies:
            _send(reply.reply_to, reply.response)
        for parked in effects.replies_after_commit:
            self._settle(_settling(parked), error)
        if effects.orders_after_commit:
            self._settle(self._ordering(effects.orders_after_commit), error)
        if error is not None:
            if not self._gone:
                self._runtime.reload(self.hosted)
        else:
            self._schedule()

    def after_commit(self, settle: Callable[[ErrorCode | None], None]) -> None:
        """Call *settle* once all appends so far are committed, or with why they are not."""
        self._settle(settle, None)

    def follow(self, appended: Appended) -> None:
        """Take an append beside the shard's own, a marker, for one that later replies depend on."""
        self._last_offset = appended.last_offset
        self._await(appended)

    # -- loading ----------------------------------------------------------------------------

    def _load(self, offset: int) -> None:
        """Replay a step of the log and come back for the next one, until all is read."""
        if self._gone:
            return
        log = self.hosted.log
        end_offset = self.hosted.high_watermark
        if offset < end_offset:
            piece = log.read(
                offset, bytes_max=LOAD_STEP_BYTES, end_offset=end_offset, at_least_one=True
            )
            next_offset = end_offset  # compaction may leave nothing up to there
            for batch in scan(piece.read(), verify_crc=False):
                self._replay(batch, offset)
                next_offset = batch.next_offset
            self._load_later(next_offset, wait_ms=0)
            return
        if end_offset < log.log_end_offset:
            # A shard that gave up on an append left it behind: it may yet be committed, and what
            # the log then says must be known here.
            self._load_later(offset, wait_ms=LOAD_WAIT_MS)
            return
        self.is_loaded = self.is_starting = True
        self.act(self.shard.loaded(self.hosted, self.now_ms()))
        self.is_starting = False

    def _replay(self, batch: Batch, from_offset: int) -> None:
        """Take the records of a batch into account.

        What cannot be read is left out and told: one record must not keep everything else in the
        partition from working. It stays in the log.
        """
        try:
            if not batch.is_control:
                self._replay_records(batch, from_offset)
            elif batch.producer_id >= 0 and batch.record_count and batch.base_offset >= from_offset:
                is_commit = read_end_txn_marker(batch).type is ControlType.COMMIT
                self.shard.replay_end(batch.producer_id, is_commit=is_commit)
        except (CorruptBatch, DecompressedTooLarge) as error:
            self._unreadable(batch.base_offset, error)

    def _replay_records(self, batch: Batch, from_offset: int) -> None:
        sender = None
        if batch.is_transactional:
            sender = Sender(producer_id=batch.producer_id, producer_epoch=batch.producer_epoch)
        for record in decode_records(batch, bytes_max=LOAD_BATCH_BYTES_MAX):
            if record.key is not None and record.offset >= from_offset:
                try:
                    self.shard.replay(
                        bytes(record.key),
                        None if record.value is None else bytes(record.value),
                        timestamp_ms=record.timestamp_ms,
                        sender=sender,
                    )
                except UnreadableRecordError as error:
                    self._unreadable(record.offset, error)

    def _unreadable(self, offset: int, error: Exception) -> None:
        facts: dict[str, str | int] = {
            "topic": self.hosted.topic,
            "partition": self.hosted.index,
            "offset": offset,
            "reason": str(error),
        }
        self._runtime.note(Note(event="coordinator_record_unreadable", severe=True, facts=facts))

    def _load_later(self, offset: int, *, wait_ms: int) -> None:
        now_ms = self._runtime.clock.monotonic_ms()
        self._runtime.timers.at(now_ms + wait_ms, lambda: self._load(offset))

    # -- acting -----------------------------------------------------------------------------

    def _settle(self, settle: Callable[[ErrorCode | None], None], error: ErrorCode | None) -> None:
        """Call *settle* with how the appends so far ended, when that is known."""
        if error is not None:
            settle(error)
        elif self._last_offset < self.hosted.high_watermark:
            settle(None)
        else:
            self._parked.append((self._last_offset, settle))

    def _ordering(self, orders: tuple[object, ...]) -> Callable[[ErrorCode | None], None]:
        def settle(code: ErrorCode | None) -> None:
            if code is None and not self._gone:
                self._runtime.carry_out(self, orders)

        return settle

    def _append(self, effects: Effects) -> ErrorCode | None:
        """Queue the records; the code that clients get when that is refused."""
        runtime = self._runtime
        now_ms = runtime.clock.now_ms()
        sender = effects.sender
        try:
            for records in _cut(effects, runtime.batch_bytes_max):
                batch = read_batch(
                    build_batch(
                        [
                            NewRecord(key=key, value=value, timestamp_ms=now_ms)
                            for key, value in records
                        ],
                        producer_id=NO_PRODUCER_ID if sender is None else sender.producer_id,
                        producer_epoch=(
                            NO_PRODUCER_EPOCH if sender is None else sender.producer_epoch
                        ),
                        is_transactional=sender is not None,
                    )
                )
                if batch.size_bytes > self.hosted.policy.message_bytes_max:
                    return runtime.append_code(ErrorCode.MESSAGE_TOO_LARGE)
                self.hosted.replica.check_may_append(ACKS_ALL)
                appended = self.hosted.append(batch, now_ms=now_ms)
                self._last_offset = appended.last_offset
                runtime.partitions.touched(self.hosted)
                self._await(appended)
        except ApiError as error:
            return runtime.append_code(error.code)
        return None

    def _await(self, appended: Appended) -> None:
        deadline_ms = self._runtime.clock.monotonic_ms() + COMMIT_TIMEOUT_MS
        self.hosted.wait(appended, ACKS_ALL, self, deadline_ms)

    def done(self, hosted: Hosted, appended: Appended, error: ApiError | None) -> None:
        """One append is committed, or failed: settle the replies that waited for it."""
        code = None if error is None else self._runtime.append_code(error.code)
        while self._parked and self._parked[0][0] <= appended.last_offset:
            self._parked.popleft()[1](code)
        if error is not None and not self._gone:
            self._runtime.reload(hosted)

    def _schedule(self) -> None:
        deadline_ms = self.shard.next_deadline_ms
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if deadline_ms is not None and not self._gone:
            clock = self._runtime.clock
            wait_ms = max(0, deadline_ms - clock.now_ms())
            self._timer = self._runtime.timers.at(clock.monotonic_ms() + wait_ms, self._tick)

    def _tick(self) -> None:
        self._timer = None
        if not self._gone:
            self.act(self.shard.tick(self.now_ms()))


def _settling(parked: ReplyAfterCommit) -> Callable[[ErrorCode | None], None]:
    def settle(code: ErrorCode | None) -> None:
        _send(parked.reply_to, parked.response if code is None else parked.on_failure(code))

    return settle


def _send(reply_to: object, response: msgspec.Struct) -> None:
    assert isinstance(reply_to, Deferred)
    reply_to.resolve(response)


def _cut(effects: Effects, bytes_max: int) -> Iterator[tuple[Record, ...]]:
    """The records in batches: one when they belong together, else as many as the bound asks for."""
    if effects.atomic:
        yield effects.records
        return
    batch: list[Record] = []
    size_bytes = BATCH_OVERHEAD_BYTES
    for key, value in effects.records:
        record_bytes = len(key) + len(value or b"") + BATCH_OVERHEAD_BYTES
        if batch and size_bytes + record_bytes > bytes_max:
            yield tuple(batch)
            batch, size_bytes = [], BATCH_OVERHEAD_BYTES
        batch.append((key, value))
        size_bytes += record_bytes
    if batch:
        yield tuple(batch)
