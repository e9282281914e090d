"""The group coordinator on this node: a shard for each partition of __consumer_offsets it leads."""

from collections.abc import Callable
from typing import Any, Final, final

from ..groups.config import GroupConfig
from ..groups.refusals import GroupRequest, append_code, refusal, while_loading
from ..groups.shard import GroupShard
from ..groups.topics import TopicNames
from ..kernel.effects import Caller, Effects, Note, Sender
from ..kernel.errors import ErrorCode
from ..kernel.ports import Clock, Random
from ..storage.log import Appended
from .call import Call
from .coordinator import CoordinatorTopic
from .deferred import Deferred, resolved
from .partitions import Hosted, Partitions
from .shards import Shards
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

    def check(self) -> None:
        self.core.check()


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
        self.shards: Final = Shards(
            lambda: _Shard(GroupShard(config, rng, topics)),
            topic=offsets_topic,
            partitions=partitions,
            clock=clock,
            timers=timers,
            note=note,
            batch_bytes_max=config.batch_bytes_max,
            append_code=append_code,
        )

    @property
    def topic(self) -> CoordinatorTopic:
        """The offsets topic."""
        return self.shards.topic

    def shard_of(self, group_id: str) -> int:
        """The partition of the offsets topic that keeps the group; 0 while there is no topic."""
        return self.shards.place_of(group_id)

    def step(self, group_id: str, request: GroupRequest, call: Call) -> Deferred[Any]:
        """The group's answer; a refusal when this node does not have the group, or not yet."""
        return self.step_shard(self.shard_of(group_id), request, call)

    def step_shard(self, index: int, request: GroupRequest, call: Call) -> Deferred[Any]:
        """The same for one shard, whatever groups the request names."""
        version = call.api_version
        runner = self.shards.loaded(index)
        if runner is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            return resolved(while_loading(request, version=version))
        if isinstance(runner, ErrorCode):
            return resolved(refusal(request, version=version, code=runner))
        answer: Deferred[Any] = Deferred()
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

    def topics_deleted(self, names: frozenset[str]) -> None:
        """Forget the offsets committed to deleted topics."""
        for runner in self.shards:
            if runner.is_loaded:
                runner.act(runner.shard.core.topics_deleted(names, runner.now_ms()))

    def marker_appended(
        self, index: int, appended: Appended, producer_id: int, *, is_commit: bool
    ) -> None:
        """A transaction has ended in that partition of the offsets topic.

        A shard that is loading finds the marker in its log.
        """
        runner = self.shards.of(index)
        if runner is not None and runner.is_loaded:
            runner.follow(appended)
            runner.act(
                runner.shard.core.end_transaction(
                    producer_id, is_commit=is_commit, now_ms=runner.now_ms()
                )
            )
