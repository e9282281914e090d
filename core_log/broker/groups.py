"""The group coordinator on this node: a shard for each partition of __consumer_offsets it leads."""

from collections.abc import Callable, Sequence
from typing import Any, Final, final

from ..groups.config import GroupConfig
from ..groups.refusals import GroupRequest, append_code, refusal, while_loading
from ..groups.shard import GroupShard
from ..groups.topics import TopicNames
from ..kernel.effects import Caller, Effects, Note, Sender
from ..kernel.errors import ApiError, ErrorCode
from ..kernel.placement import partition_for
from ..kernel.ports import Clock, Random
from ..storage.log import Appended
from .call import Call
from .coordinator import CoordinatorTopic, Runner
from .deferred import Deferred
from .partitions import Hosted, Partitions
from .timers import Timers

OFFSETS_TOPIC: Final = "__consumer_offsets"


@final
class _Shard:
    """A group shard as the runtime sees it."""

    def __init__(self, core: GroupShard) -> None:
        self.core: Final = core

    @property
    def next_deadline_ms(self) -> int | None:
        return self.core.next_deadline_ms

    def replay(
        self, key: bytes, value: bytes | None, *, timestamp_ms: int, sender: Sender | None
    ) -> None:
        self.core.replay(key, value, timestamp_ms=timestamp_ms, sender=sender)

    def replay_end(self, producer_id: int, *, is_commit: bool) -> None:
        self.core.replay_end(producer_id, is_commit=is_commit)

    def loaded(self, hosted: Hosted, now_ms: int) -> Effects:
        del hosted
        return self.core.loaded(now_ms)

    def tick(self, now_ms: int) -> Effects:
        return self.core.tick(now_ms)

    def unload(self, code: ErrorCode) -> Effects:
        return self.core.unload(code)


@final
class Groups:
    """All group shards on this node."""

    def __init__(
        self,
        *,
        partitions: Partitions,
        offsets_topic: CoordinatorTopic,
        topics: TopicNames,
        config: GroupConfig,
        clock: Clock,
        rng: Random,
        timers: Timers,
        note: Callable[[Note], None],
    ) -> None:
        self.config: Final = config
        self.clock: Final = clock
        self.timers: Final = timers
        self.partitions: Final = partitions
        self.topic: Final = offsets_topic
        self.batch_bytes_max: Final = config.batch_bytes_max
        self._topics = topics
        self._rng = rng
        self._note = note
        self._runners: dict[int, Runner[_Shard]] = {}

    def ensure_topic(self) -> Deferred[ApiError | None]:
        """Resolved once the offsets topic exists, with the reason when it cannot."""
        return self.topic.ensure()

    def shard_of(self, group_id: str) -> int:
        """The partition of the offsets topic that keeps the group; 0 while there is no topic."""
        return partition_for(group_id, self.topic.partition_count() or 1)

    def node_for(self, group_id: str) -> int:
        """The node that coordinates the group, -1 when nobody does."""
        return self.topic.leader_of(self.shard_of(group_id))

    def step(self, group_id: str, request: GroupRequest, call: Call) -> Deferred[Any]:
        """The group's answer; a refusal when this node does not have the group, or not yet."""
        return self.step_shard(self.shard_of(group_id), request, call)

    def step_shard(self, index: int, request: GroupRequest, call: Call) -> Deferred[Any]:
        """The same for one shard, whatever groups the request names."""
        answer: Deferred[Any] = Deferred()
        runner = self._runners.get(index)
        version = call.api_version
        if runner is None:
            answer.resolve(refusal(request, version=version, code=ErrorCode.NOT_COORDINATOR))
        elif not runner.is_loaded:
            answer.resolve(while_loading(request, version=version))
        else:
            runner.act(
                runner.shard.core.step(
                    request,
                    version=version,
                    caller=Caller(client_id=call.client_id or "", client_host=call.client_host),
                    reply_to=answer,
                    now_ms=runner.now_ms(),
                )
            )
        return answer

    def shard_indexes(self) -> list[int]:
        """The shards on this node, for requests that concern all groups."""
        return sorted(self._runners)

    def adopt(self, hosted: Hosted) -> None:
        """This node leads that partition of the offsets topic now: load its groups."""
        self._runners[hosted.index] = Runner(self, hosted, self._new_shard())

    def drop(self, index: int) -> None:
        """This node does not lead that partition any more."""
        runner = self._runners.pop(index, None)
        if runner is not None:
            runner.unload(ErrorCode.NOT_COORDINATOR)

    def reload(self, hosted: Hosted) -> None:
        """Rebuild a shard whose append failed."""
        self.drop(hosted.index)
        if hosted.offline_reason is None:
            self.adopt(hosted)

    def topics_deleted(self, names: frozenset[str]) -> None:
        """Forget the offsets committed to deleted topics."""
        for runner in list(self._runners.values()):
            if runner.is_loaded:
                runner.act(runner.shard.core.topics_deleted(names, runner.now_ms()))

    def marker_appended(
        self, index: int, appended: Appended, producer_id: int, *, is_commit: bool
    ) -> None:
        """A transaction has ended in that partition of the offsets topic.

        A shard that is loading finds the marker in its log.
        """
        runner = self._runners.get(index)
        if runner is not None and runner.is_loaded:
            runner.follow(appended)
            runner.act(
                runner.shard.core.end_transaction(
                    producer_id, is_commit=is_commit, now_ms=runner.now_ms()
                )
            )

    def check(self) -> None:
        """Assert every shard's invariants; simulation calls it after every event."""
        for runner in self._runners.values():
            runner.shard.core.check()

    def note(self, note: Note) -> None:
        """Pass a shard's note on."""
        self._note(note)

    def append_code(self, code: ErrorCode) -> ErrorCode:
        """What clients of groups get for an append that failed with *code*."""
        return append_code(code)

    def carry_out(self, runner: Runner[_Shard], orders: Sequence[object]) -> None:
        """Groups give no orders."""
        raise AssertionError(f"a group shard ordered {orders} of {runner}")

    def _new_shard(self) -> _Shard:
        return _Shard(GroupShard(self.config, self._rng, self._topics))
