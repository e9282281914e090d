"""The transaction coordinator on this node: a shard for each partition of __transaction_state.

The shards decide (``core_log/transactions``); here their orders are carried out: markers are
written, and connections that bring requests of the past are closed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias, final
from weakref import WeakValueDictionary

from ..kernel.effects import Effects, Note, Sender
from ..kernel.errors import ErrorCode, error_code
from ..kernel.placement import partition_for
from ..kernel.ports import Clock
from ..protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from ..transactions.config import TransactionConfig
from ..transactions.orders import FenceConnection, WriteMarkers
from ..transactions.ports import ClusterFacts, ProducerIdSource
from ..transactions.refusals import TransactionRequest, append_code, refusal, while_loading
from ..transactions.shard import TransactionShard
from .call import Call
from .coordinator import CoordinatorTopic, Runner
from .deferred import Deferred
from .endings import Endings, is_concurrent
from .marker_orders import MarkerOrders, TopicPartition
from .markers import Markers
from .partitions import Hosted, Partitions
from .session import Session
from .timers import Timers

TRANSACTIONS_TOPIC: Final = "__transaction_state"
ENDING_WAIT_MS: Final = 100
"""Kafka's ``add.partitions.to.txn.retry.backoff.max.ms``."""
ADD_VERSION: Final = 5
"""The version of AddPartitionsToTxn in which this broker asks its own coordinator."""

Admitted: TypeAlias = Mapping[TopicPartition, ErrorCode]
"""NONE for each partition that is part of the producer's transaction, else why it is not."""


@final
class _Shard:
    """A transaction shard as the runtime sees it."""

    def __init__(self, core: TransactionShard, connections_seen: Callable[[], int]) -> None:
        self.core: Final = core
        self._connections_seen = connections_seen

    @property
    def next_deadline_ms(self) -> int | None:
        return self.core.next_deadline_ms

    def replay(
        self, key: bytes, value: bytes | None, *, timestamp_ms: int, sender: Sender | None
    ) -> None:
        del sender  # nobody writes here within a transaction
        self.core.replay(key, value, timestamp_ms=timestamp_ms)

    def replay_end(self, producer_id: int, *, is_commit: bool) -> None:
        """There are no transactions over the topic of transactions."""

    def loaded(self, hosted: Hosted, now_ms: int) -> Effects:
        return self.core.loaded(
            now_ms,
            coordinator_epoch=hosted.replica.leader_epoch,
            connections_before=self._connections_seen(),
        )

    def tick(self, now_ms: int) -> Effects:
        return self.core.tick(now_ms)

    def unload(self, code: ErrorCode) -> Effects:
        return self.core.unload(code)


@final
class Transactions:
    """All transaction shards on this node."""

    def __init__(  # noqa: PLR0913 - composed in one place
        self,
        *,
        partitions: Partitions,
        topic: CoordinatorTopic,
        markers: Markers,
        config: TransactionConfig,
        ids: ProducerIdSource,
        cluster: ClusterFacts,
        partition_exists: Callable[[str, int], bool],
        clock: Clock,
        timers: Timers,
        note: Callable[[Note], None],
    ) -> None:
        self.config: Final = config
        self.clock: Final = clock
        self.timers: Final = timers
        self.partitions: Final = partitions
        self.topic: Final = topic
        self.markers: Final = markers
        self.orders: Final = MarkerOrders(
            markers, partition_exists=partition_exists, clock=clock, timers=timers, note=note
        )
        self.ended: Final = {True: 0, False: 0}
        """Decisions carried out since the start, by whether to commit; again after a reload."""
        self.batch_bytes_max: Final = config.batch_bytes_max
        self._ids = ids
        self._cluster = cluster
        self._note = note
        self._runners: dict[int, Runner[_Shard]] = {}
        self._sessions: WeakValueDictionary[int, Session] = WeakValueDictionary()
        self._connections_seen = 0
        self._endings = Endings(timers)

    def shard_of(self, transactional_id: str) -> int:
        """The partition of the topic that keeps the id; 0 while there is no topic."""
        return partition_for(transactional_id, self.topic.partition_count() or 1)

    def node_for(self, transactional_id: str) -> int:
        """The node that coordinates the id's transactions, -1 when nobody does."""
        return self.topic.leader_of(self.shard_of(transactional_id))

    def step(self, transactional_id: str, request: TransactionRequest, call: Call) -> Deferred[Any]:
        """The coordinator's answer; a refusal when that is not this node, or not yet.

        A request that comes while the id's last transaction is still ending waits for its end, for
        a moment: clients would come back no sooner than in 20 to 100 ms, and it takes a few.
        """
        return self._step(transactional_id, request, call, call.api_version)

    def step_shard(self, index: int, request: TransactionRequest, call: Call) -> Deferred[Any]:
        """The answer of one shard, whatever ids the request names."""
        return self._ask(index, request, call, call.api_version)

    def _step(
        self, transactional_id: str, request: TransactionRequest, call: Call, version: int
    ) -> Deferred[Any]:
        answer: Deferred[Any] = Deferred()
        deadline_ms = self.clock.monotonic_ms() + ENDING_WAIT_MS

        def ask() -> None:
            index = self.shard_of(transactional_id)
            self._ask(index, request, call, version).then(heard)

        def heard(response: Any) -> None:
            if self.clock.monotonic_ms() < deadline_ms and is_concurrent(response):
                self._endings.wait(transactional_id, ask, deadline_ms)
            else:
                answer.resolve(response)

        ask()
        return answer

    def _ask(
        self, index: int, request: TransactionRequest, call: Call, version: int
    ) -> Deferred[Any]:
        answer: Deferred[Any] = Deferred()
        runner = self._runners.get(index)
        if runner is None:
            answer.resolve(refusal(request, version=version, code=ErrorCode.NOT_COORDINATOR))
        elif not runner.is_loaded:
            answer.resolve(while_loading(request, version=version))
        else:
            runner.act(
                runner.shard.core.step(
                    request,
                    version=version,
                    connection=self._saw(call.session),
                    reply_to=answer,
                    now_ms=runner.now_ms(),
                )
            )
        return answer

    def verify(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Iterable[TopicPartition],
    ) -> Admitted:
        """Which partitions are part of the producer's ongoing transaction (KIP-890, part 1)."""
        runner = self._runners.get(self.shard_of(transactional_id))
        if runner is None:
            return dict.fromkeys(partitions, ErrorCode.NOT_COORDINATOR)
        if not runner.is_loaded:
            return dict.fromkeys(partitions, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        core = runner.shard.core
        return {
            (topic, index): core.verify(transactional_id, producer_id, producer_epoch, topic, index)
            for topic, index in partitions
        }

    def admit_offsets(
        self, transactional_id: str, producer_id: int, producer_epoch: int, call: Call
    ) -> ErrorCode:
        """NONE unless a TxnOffsetCommit of version 1 may be one of the past, or is a stranger's.

        Its connection is closed after the answer then, so that a client that lives comes back.
        """
        runner = self._runners.get(self.shard_of(transactional_id))
        if runner is None:
            return ErrorCode.NOT_COORDINATOR
        if not runner.is_loaded:
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        session = call.session
        code = runner.shard.core.admit_offsets(
            transactional_id, producer_id, producer_epoch, connection=self._saw(session)
        )
        if code is ErrorCode.NOT_COORDINATOR:
            self._fence(session.number)
        return code

    def add(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Sequence[TopicPartition],
        call: Call,
    ) -> Deferred[Admitted]:
        """Make partitions part of the transaction, which begins if need be (KIP-890, part 2).

        Resolved when that is committed.
        """
        by_topic: dict[str, list[int]] = {}
        for topic, index in partitions:
            by_topic.setdefault(topic, []).append(index)
        request = AddPartitionsToTxnRequest(
            transactions=[
                AddPartitionsToTxnTransaction(
                    transactional_id=transactional_id,
                    producer_id=producer_id,
                    producer_epoch=producer_epoch,
                    topics=[
                        AddPartitionsToTxnTopic(name=topic, partitions=indexes)
                        for topic, indexes in by_topic.items()
                    ],
                )
            ]
        )
        answer: Deferred[AddPartitionsToTxnResponse] = self._step(
            transactional_id, request, call, ADD_VERSION
        )
        return answer.map(lambda response: _admitted(response, partitions))

    def shard_indexes(self) -> list[int]:
        """The shards on this node, for requests that concern all transactional ids."""
        return sorted(self._runners)

    def adopt(self, hosted: Hosted) -> None:
        """This node leads that partition of the topic now: load its transactions."""
        core = TransactionShard(self.config, self._ids, self._cluster)
        shard = _Shard(core, lambda: self._connections_seen)
        self._runners[hosted.index] = Runner(self, hosted, shard)

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

    def check(self) -> None:
        """Assert every shard's invariants; simulation calls it after every event."""
        for runner in self._runners.values():
            runner.shard.core.check()

    def note(self, note: Note) -> None:
        """Pass a shard's note on."""
        self._note(note)

    def append_code(self, code: ErrorCode) -> ErrorCode:
        """What transactional clients get for an append that failed with *code*."""
        return append_code(code)

    def carry_out(self, runner: Runner[_Shard], orders: Sequence[object]) -> None:
        """Write the markers and close the connections that a shard has ordered."""
        for order in orders:
            if isinstance(order, FenceConnection):
                self._fence(order.connection)
            else:
                assert isinstance(order, WriteMarkers), f"nobody can carry out {order}"
                self._write(runner, order)

    def _write(self, runner: Runner[_Shard], order: WriteMarkers) -> None:
        def written(partition: TopicPartition) -> None:
            effects = runner.shard.core.markers_written(
                order.transactional_id,
                order.producer_id,
                order.producer_epoch,
                (partition,),
                runner.now_ms(),
            )
            runner.act(effects)
            if effects.records:  # that was the last one
                self._endings.ended(order.transactional_id)

        self.ended[order.is_commit] += 1
        self.orders.carry_out(order, is_valid=lambda: runner.is_loaded, written=written)

    def _saw(self, session: Session) -> int:
        """The session's number, by which it can be closed."""
        self._sessions[session.number] = session
        self._connections_seen = max(self._connections_seen, session.number + 1)
        return session.number

    def _fence(self, connection: int) -> None:
        session = self._sessions.get(connection)
        if session is not None:
            # The answer has no place in the connection's order yet: close it when it has.
            self.timers.at(
                self.clock.monotonic_ms(),
                lambda: session.close("it brought a transactional request of the past"),
            )


def _admitted(
    response: AddPartitionsToTxnResponse, partitions: Iterable[TopicPartition]
) -> Admitted:
    if response.error_code != ErrorCode.NONE:
        return dict.fromkeys(partitions, error_code(response.error_code))
    return {
        (topic.name, result.partition_index): error_code(result.partition_error_code)
        for transaction in response.results_by_transaction
        for topic in transaction.topic_results
        for result in topic.results_by_partition
    }
