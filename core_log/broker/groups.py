"""The runtime of the group coordinator: shards over the partitions of __consumer_offsets.

A shard decides, this runtime acts: it appends the shard's records, parks the replies that depend on
them until they are on disk, and rebuilds a shard from its log when an append fails, because the
shard's memory then says more than its log.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol, final

import msgspec

from ..groups.config import GroupConfig
from ..groups.placement import partition_for
from ..groups.refusals import GroupRequest, append_code, refusal, while_loading
from ..groups.shard import GroupShard
from ..groups.topics import TopicNames
from ..kernel.effects import Caller, Effects, Note, Record, ReplyAfterCommit
from ..kernel.errors import ApiError, ErrorCode
from ..kernel.ports import Clock, Random
from ..records.batch import read_batch, scan
from ..records.record import NewRecord, build_batch, decode_records
from ..storage.log import Appended
from .call import Call
from .deferred import Deferred
from .partitions import ACKS_ALL, Hosted, Partitions
from .timers import Timer, Timers

OFFSETS_TOPIC: Final = "__consumer_offsets"
COMMIT_TIMEOUT_MS: Final = 5_000
"""Kafka's ``offsets.commit.timeout.ms``."""
LOAD_STEP_BYTES: Final = 1024 * 1024
"""How much of a partition one turn of the loop replays."""
LOAD_WAIT_MS: Final = 10
"""How soon a load looks again for appends that are being flushed."""
LOAD_BATCH_BYTES_MAX: Final = 64 * 1024 * 1024
"""What one stored batch may unpack to while it is replayed."""
BATCH_OVERHEAD_BYTES: Final = 61 + 64
"""A batch header and room for the varints of one record."""


class OffsetsTopic(Protocol):
    """Facts about the offsets topic, and its creation."""

    def partition_count(self) -> int:
        """0 while the topic does not exist."""
        ...

    def leader_of(self, index: int) -> int: ...
    def create(self) -> Deferred[ApiError | None]: ...


@final
class Groups:
    """All group shards on this node."""

    def __init__(
        self,
        *,
        partitions: Partitions,
        offsets_topic: OffsetsTopic,
        topics: TopicNames,
        config: GroupConfig,
        clock: Clock,
        rng: Random,
        timers: Timers,
        note: Callable[[Note], None],
    ) -> None:
        self.config = config
        self.topics = topics
        self.clock = clock
        self.rng = rng
        self.timers = timers
        self.partitions = partitions
        self.note = note
        self._offsets_topic = offsets_topic
        self._shards: dict[int, _Runner] = {}

    def ensure_topic(self) -> Deferred[ApiError | None]:
        """Resolved once the offsets topic exists, with the reason when it cannot."""
        if self._offsets_topic.partition_count():
            ready: Deferred[ApiError | None] = Deferred()
            ready.resolve(None)
            return ready
        return self._offsets_topic.create()

    def shard_of(self, group_id: str) -> int:
        """The partition of the offsets topic that keeps the group; 0 while there is no topic."""
        return partition_for(group_id, self._offsets_topic.partition_count() or 1)

    def node_for(self, group_id: str) -> int:
        """The node that coordinates the group, -1 when nobody does."""
        return self._offsets_topic.leader_of(self.shard_of(group_id))

    def step(self, group_id: str, request: GroupRequest, call: Call) -> Deferred[Any]:
        """The group's answer; a refusal when this node does not have the group, or not yet."""
        return self.step_shard(self.shard_of(group_id), request, call)

    def step_shard(self, index: int, request: GroupRequest, call: Call) -> Deferred[Any]:
        """The same for one shard, whatever groups the request names."""
        answer: Deferred[Any] = Deferred()
        runner = self._shards.get(index)
        version = call.api_version
        if runner is None:
            answer.resolve(refusal(request, version=version, code=ErrorCode.NOT_COORDINATOR))
        elif not runner.is_loaded:
            answer.resolve(while_loading(request, version=version))
        else:
            runner.step(request, call, answer)
        return answer

    def shard_indexes(self) -> list[int]:
        """The shards on this node, for requests that concern all groups."""
        return sorted(self._shards)

    def adopt(self, hosted: Hosted) -> None:
        """This node leads that partition of the offsets topic now: load its groups."""
        self._shards[hosted.index] = _Runner(self, hosted)

    def drop(self, index: int) -> None:
        """This node does not lead that partition any more."""
        runner = self._shards.pop(index, None)
        if runner is not None:
            runner.unload(ErrorCode.NOT_COORDINATOR)

    def topics_deleted(self, names: frozenset[str]) -> None:
        """Forget the offsets committed to deleted topics."""
        for runner in self._shards.values():
            runner.topics_deleted(names)

    def reload(self, hosted: Hosted) -> None:
        """Rebuild a shard whose append failed."""
        self.drop(hosted.index)
        if hosted.offline_reason is None:
            self.adopt(hosted)


@final
class _Runner:
    """One shard, its log, and the replies that wait for the log.

    Invariant: ``_parked`` is in order of offset, and empty when everything appended is committed.
    """

    def __init__(self, groups: Groups, hosted: Hosted) -> None:
        self._groups = groups
        self._hosted = hosted
        self._shard = GroupShard(groups.config, groups.rng, groups.topics)
        self._parked: deque[tuple[int, Callable[[ErrorCode | None], None]]] = deque()
        self._last_offset = -1
        self._timer: Timer | None = None
        self._gone = False
        self.is_loaded = False
        self._load(hosted.log.log_start_offset)

    def step(self, request: GroupRequest, call: Call, answer: Deferred[Any]) -> None:
        caller = Caller(client_id=call.client_id or "", client_host=call.client_host)
        self._act(
            self._shard.step(
                request,
                version=call.api_version,
                caller=caller,
                reply_to=answer,
                now_ms=self._groups.clock.now_ms(),
            )
        )

    def topics_deleted(self, names: frozenset[str]) -> None:
        if self.is_loaded:
            self._act(self._shard.topics_deleted(names, self._groups.clock.now_ms()))

    def unload(self, code: ErrorCode) -> None:
        """Answer everybody who waits and stop."""
        self._gone = True
        self.is_loaded = False
        if self._timer is not None:
            self._timer.cancel()
        parked, self._parked = self._parked, deque()
        for _, settle in parked:
            settle(code)
        for reply in self._shard.unload(code).replies:
            _send(reply.reply_to, reply.response)

    # -- loading ----------------------------------------------------------------------------

    def _load(self, offset: int) -> None:
        """Replay a step of the log and come back for the next one, until all is read."""
        if self._gone:
            return
        log = self._hosted.log
        end_offset = self._hosted.high_watermark
        if offset < end_offset:
            piece = log.read(
                offset, bytes_max=LOAD_STEP_BYTES, end_offset=end_offset, at_least_one=True
            )
            for batch in scan(piece.read(), verify_crc=False):
                if not batch.is_control:
                    for record in decode_records(batch, bytes_max=LOAD_BATCH_BYTES_MAX):
                        if record.key is not None and record.offset >= offset:
                            self._shard.replay(
                                bytes(record.key),
                                None if record.value is None else bytes(record.value),
                                timestamp_ms=record.timestamp_ms,
                            )
                next_offset = batch.next_offset
            self._load_later(next_offset, wait_ms=0)
            return
        if end_offset < log.log_end_offset:
            # A shard that gave up on an append left it behind: it may yet be committed, and what
            # the log then says must be known here.
            self._load_later(offset, wait_ms=LOAD_WAIT_MS)
            return
        self.is_loaded = True
        self._act(self._shard.loaded(self._groups.clock.now_ms()))

    def _load_later(self, offset: int, *, wait_ms: int) -> None:
        now_ms = self._groups.clock.monotonic_ms()
        self._groups.timers.at(now_ms + wait_ms, lambda: self._load(offset))

    # -- acting -----------------------------------------------------------------------------

    def _act(self, effects: Effects) -> None:
        for note in effects.notes:
            self._groups.note(note)
        error = self._append(effects) if effects.records else None
        for reply in effects.replies:
            _send(reply.reply_to, reply.response)
        for parked in effects.replies_after_commit:
            settle = _settling(parked)
            if error is not None:
                settle(error)
            elif self._last_offset < self._hosted.high_watermark:
                settle(None)
            else:
                self._parked.append((self._last_offset, settle))
        if error is not None:
            self._groups.reload(self._hosted)
        else:
            self._schedule()

    def _append(self, effects: Effects) -> ErrorCode | None:
        """Queue the records; the code that clients get when that is refused."""
        now_ms = self._groups.clock.now_ms()
        try:
            for records in _cut(effects, self._groups.config.batch_bytes_max):
                batch = read_batch(
                    build_batch(
                        [
                            NewRecord(key=key, value=value, timestamp_ms=now_ms)
                            for key, value in records
                        ]
                    )
                )
                if batch.size_bytes > self._hosted.policy.message_bytes_max:
                    return append_code(ErrorCode.MESSAGE_TOO_LARGE)
                self._hosted.replica.check_may_append(ACKS_ALL)
                appended = self._hosted.append(batch, now_ms=now_ms)
                self._last_offset = appended.last_offset
                self._groups.partitions.touched(self._hosted)
                deadline_ms = self._groups.clock.monotonic_ms() + COMMIT_TIMEOUT_MS
                self._hosted.wait(appended, ACKS_ALL, self, deadline_ms)
        except ApiError as error:
            return append_code(error.code)
        return None

    def done(self, hosted: Hosted, appended: Appended, error: ApiError | None) -> None:
        """One append is committed, or failed: settle the replies that waited for it."""
        code = None if error is None else append_code(error.code)
        while self._parked and self._parked[0][0] <= appended.last_offset:
            self._parked.popleft()[1](code)
        if error is not None and not self._gone:
            self._groups.reload(hosted)

    def _schedule(self) -> None:
        deadline_ms = self._shard.next_deadline_ms
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if deadline_ms is not None:
            clock = self._groups.clock
            wait_ms = max(0, deadline_ms - clock.now_ms())
            self._timer = self._groups.timers.at(clock.monotonic_ms() + wait_ms, self._tick)

    def _tick(self) -> None:
        self._timer = None
        if not self._gone:
            self._act(self._shard.tick(self._groups.clock.now_ms()))


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
