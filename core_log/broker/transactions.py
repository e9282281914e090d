"""The transaction coordinator on this node: a shard for each partition of __transaction_state.

The shards decide (``core_log/transactions``); here their orders are carried out: markers are
written, and connections that bring requests of the past are closed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias, final

from ..kernel.effects import Effects, Note, Sender
from ..kernel.errors import ErrorCode, error_code
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
from .deferred import Deferred, resolved
from .endings import Endings, is_concurrent
from .marker_orders import MarkerOrders, TopicPartition
from .markers import Markers
from .partitions import Hosted, Partitions
from .session import Session
from .shards import Shards
from .timers import Timers

TRANSACTIONS_TOPIC: Final = "__transaction_state"
ENDING_WAIT_MS: Final = 100
"""Kafka's ``add.partitions.to.txn.retry.backoff.max.ms``."""
SESSIONS_SWEPT_AT_LEAST: Final = 64
"""Sessions remembered before closed ones are looked for."""
ADD_VERSION: Final = 5
"""The version of AddPartitionsToTxn in which this broker asks its own coordinator."""

Admitted: TypeAlias = Mapping[TopicPartition, ErrorCode]
"""NONE for each partition that is part of the producer's transaction, else why it is not."""


@final
class _Shard:
    """A transaction shard as the runtime sees it."""

    def __init__(self, core: TransactionShard, newest_connection: int) -> None:
        self.core: Final = core
        self._newest_connection = newest_connection

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
            # An empty log has never served anybody, so no request can be of its past.
            connections_before=self._newest_connection + 1 if hosted.log.log_end_offset else 0,
        )

    def tick(self, now_ms: int) -> Effects:
        return self.core.tick(now_ms)

    def unload(self, code: ErrorCode) -> Effects:
        return self.core.unload(code)

    def check(self) -> None:
        self.core.check()


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
        newest_connection: Callable[[], int],
        clock: Clock,
        timers: Timers,
        note: Callable[[Note], None],
    ) -> None:
        self.config: Final = config
        self.markers: Final = markers
        self.orders: Final = MarkerOrders(
            markers, partition_exists=partition_exists, clock=clock, timers=timers, note=note
        )
        self.ended: Final = {True: 0, False: 0}
        """Decisions carried out since the start, by whether to commit; again after a reload."""
        self.shards: Final = Shards(
            lambda: _Shard(TransactionShard(config, ids, cluster), newest_connection()),
            topic=topic,
            partitions=partitions,
            clock=clock,
            timers=timers,
            note=note,
            batch_bytes_max=config.batch_bytes_max,
            append_code=append_code,
            carry_out=self._carry_out,
        )
        self._clock = clock
        self._timers = timers
        self._sessions: dict[int, Session] = {}
        self._sessions_swept_at = SESSIONS_SWEPT_AT_LEAST
        self._endings = Endings(timers)

    @property
    def topic(self) -> CoordinatorTopic:
        """The topic of transactions."""
        return self.shards.topic

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
        deadline_ms = self._clock.monotonic_ms() + ENDING_WAIT_MS

        def ask() -> None:
            index = self.shards.place_of(transactional_id)
            self._ask(index, request, call, version).then(heard)

        def heard(response: Any) -> None:
            if self._clock.monotonic_ms() < deadline_ms and is_concurrent(response):
                self._endings.wait(transactional_id, ask, deadline_ms)
            else:
                answer.resolve(response)

        ask()
        return answer

    def _ask(
        self, index: int, request: TransactionRequest, call: Call, version: int
    ) -> Deferred[Any]:
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
        partitions: Sequence[TopicPartition],
    ) -> Deferred[Admitted]:
        """Which partitions are part of the producer's ongoing transaction (KIP-890, part 1).

        Resolved once that is committed, as it nearly always is: a partition that joined in memory
        alone would, after a crash, hold records of which its coordinator knows nothing.
        """
        runner = self.shards.loaded(self.shards.place_of(transactional_id))
        if isinstance(runner, ErrorCode):
            return resolved(dict.fromkeys(partitions, runner))
        core = runner.shard.core

        def asked() -> dict[TopicPartition, ErrorCode]:
            return {
                (topic, index): core.verify(
                    transactional_id, producer_id, producer_epoch, topic, index
                )
                for topic, index in partitions
            }

        before = asked()
        answer: Deferred[Admitted] = Deferred()

        def committed(error: ErrorCode | None) -> None:
            # Asked again: meanwhile the transaction may have been decided. A later one cannot have
            # begun, which takes commits of this log of its own.
            codes = dict.fromkeys(partitions, error) if error is not None else asked()
            answer.resolve({name: before[name] or code for name, code in codes.items()})

        runner.after_commit(committed)
        return answer

    def admit_offsets(
        self, transactional_id: str, producer_id: int, producer_epoch: int, call: Call
    ) -> ErrorCode:
        """NONE unless a TxnOffsetCommit of version 1 may be one of the past, or is a stranger's.

        Its connection is closed after the answer then, so that a client that lives comes back.
        """
        runner = self.shards.loaded(self.shards.place_of(transactional_id))
        if isinstance(runner, ErrorCode):
            return runner
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

    def _carry_out(self, runner: Runner[_Shard], orders: Sequence[object]) -> None:
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
        if len(self._sessions) >= self._sessions_swept_at:
            self._sessions = {
                number: known for number, known in self._sessions.items() if not known.closed
            }
            self._sessions_swept_at = max(SESSIONS_SWEPT_AT_LEAST, 2 * len(self._sessions))
        self._sessions[session.number] = session
        return session.number

    def _fence(self, connection: int) -> None:
        session = self._sessions.get(connection)
        if session is not None:
            # The answer has no place in the connection's order yet: close it when it has.
            self._timers.at(
                self._clock.monotonic_ms(),
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
