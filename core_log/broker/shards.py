"""The shards of one coordinator on this node: one for each partition of its topic that it leads."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Generic, final

from ..kernel.effects import Note
from ..kernel.errors import ErrorCode
from ..kernel.placement import partition_for
from ..kernel.ports import Clock
from .coordinator import CoordinatorTopic, Runner, S
from .partitions import Hosted, Partitions
from .timers import Timers

RELOAD_WAIT_MS: Final = 100
"""How long a shard stays away that fails as soon as it is loaded; Kafka's clients wait as long."""


@final
class Shards(Generic[S]):
    """Follows the leadership of the topic's partitions, and knows which shard an id belongs to."""

    def __init__(  # noqa: PLR0913 - what a coordinator does in its own way
        self,
        new_shard: Callable[[], S],
        *,
        topic: CoordinatorTopic,
        partitions: Partitions,
        clock: Clock,
        timers: Timers,
        note: Callable[[Note], None],
        batch_bytes_max: int,
        append_code: Callable[[ErrorCode], ErrorCode],
        carry_out: Callable[[Runner[S], Sequence[object]], None] | None = None,
    ) -> None:
        self.topic: Final = topic
        self.partitions: Final = partitions
        self.clock: Final = clock
        self.timers: Final = timers
        self.note: Final = note
        self.batch_bytes_max: Final = batch_bytes_max
        self.append_code: Final = append_code
        self._new_shard = new_shard
        self._carry_out = carry_out
        self._runners: dict[int, Runner[S]] = {}

    def __iter__(self) -> Iterator[Runner[S]]:
        return iter(list(self._runners.values()))

    def place_of(self, coordinated_id: str) -> int:
        """The partition of the topic that keeps the id; 0 while there is no topic."""
        return partition_for(coordinated_id, self.topic.partition_count() or 1)

    def node_for(self, coordinated_id: str) -> int:
        """The node that coordinates the id, -1 when nobody does."""
        return self.topic.leader_of(self.place_of(coordinated_id))

    def of(self, index: int) -> Runner[S] | None:
        """The shard of one partition, None when it is not here."""
        return self._runners.get(index)

    def loaded(self, index: int) -> Runner[S] | ErrorCode:
        """The shard of one partition, or why it can do nothing now."""
        runner = self._runners.get(index)
        if runner is None:
            return ErrorCode.NOT_COORDINATOR
        return runner if runner.is_loaded else ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    def indexes(self) -> list[int]:
        """The partitions whose shards are here, for requests that concern all ids."""
        return sorted(self._runners)

    def adopt(self, hosted: Hosted) -> None:
        """This node leads that partition now: load its shard."""
        self._runners[hosted.index] = Runner(self, hosted, self._new_shard())

    def drop(self, index: int) -> None:
        """This node does not lead that partition any more."""
        runner = self._runners.pop(index, None)
        if runner is not None:
            runner.unload(ErrorCode.NOT_COORDINATOR)

    def reload(self, hosted: Hosted) -> None:
        """Rebuild a shard whose append failed.

        What the last one wanted to append as soon as it was loaded, this one will want too: where
        that failed it waits, for a full disk may refuse it at once.
        """
        failed = self._runners.get(hosted.index)
        is_hasty = failed is not None and failed.is_starting
        self.drop(hosted.index)
        if hosted.offline_reason is None:
            self._runners[hosted.index] = Runner(
                self, hosted, self._new_shard(), wait_ms=RELOAD_WAIT_MS if is_hasty else 0
            )

    def carry_out(self, runner: Runner[S], orders: Sequence[object]) -> None:
        """Do what a shard ordered; everything it depends on is committed."""
        assert self._carry_out is not None, f"nobody carries out {orders}"
        self._carry_out(runner, orders)

    def check(self) -> None:
        """Assert every shard's invariants; simulation calls it after every event."""
        for runner in self._runners.values():
            runner.shard.check()
