"""Two transactions over several connections: every order in which late requests can arrive.

The coordinator's shard is the real one; the partitions are lists. A client writes to two partitions
in each of two transactions. Some of its requests are not answered in time: each is left on its
connection, sent again on a new one, and arrives at one of the later moments, or never. ``orders``
gives every such history, ``outcome`` runs one and says what is wrong.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, product
from typing import Final, TypeAlias

from headwater.core_log.kernel.effects import Effects, Sender
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from headwater.core_log.protocol.messages.end_txn import EndTxnResponse
from headwater.core_log.protocol.messages.init_producer_id import InitProducerIdResponse
from headwater.core_log.protocol.schema import Message
from headwater.core_log.testing import transaction_requests as transactional
from headwater.core_log.transactions.config import TransactionConfig
from headwater.core_log.transactions.orders import WriteMarkers
from headwater.core_log.transactions.shard import TransactionShard

ID: Final = "id"
TOPIC: Final = "t"
NOW_MS: Final = 1_000_000
"""Time stands still: nothing here is decided by a time-out."""


@dataclass(frozen=True, slots=True)
class Add:
    """The coordinator learns of a partition: from the client, or from the broker (version 2)."""

    partition: int


@dataclass(frozen=True, slots=True)
class Write:
    """A record reaches a partition that the coordinator knows to be part of the transaction."""

    partition: int


@dataclass(frozen=True, slots=True)
class End:
    commit: bool


Step: TypeAlias = Add | Write | End


@dataclass(frozen=True, slots=True)
class Late:
    """The request of step *sent* arrives just before step *arrives*, or behind the last one."""

    sent: int
    arrives: int


Order: TypeAlias = tuple[tuple[Step, ...], tuple[Late, ...]]


def orders(late_max: int) -> Iterator[Order]:
    """Every pair of outcomes with every way for up to *late_max* requests to be late."""
    for first, second in product((True, False), repeat=2):
        script: tuple[Step, ...] = tuple(
            step
            for commit in (first, second)
            for step in (Add(0), Write(0), Add(1), Write(1), End(commit))
        )
        asked = [place for place, step in enumerate(script) if not isinstance(step, Write)]
        for count in range(late_max + 1):
            for sent in combinations_with_replacement(asked, count):
                ways = [range(place + 1, len(script) + 1) for place in sent]
                for arrives in product(*ways):
                    yield script, tuple(map(Late, sent, arrives))


class _Ids:
    def take(self) -> int | None:
        return 7


class _Cluster:
    def offsets_partition(self, group_id: str) -> int | None:
        del group_id
        return 0

    def transaction_version(self) -> int:
        return 2


@dataclass(slots=True)
class Model:
    """The shard, two partitions, and the client's connections."""

    version: int
    shard: TransactionShard = field(init=False)
    logs: tuple[list[int | bool], list[int | bool]] = field(default_factory=lambda: ([], []))
    """A record is its transaction's number, a marker is what it decides."""
    sender: Sender = field(default=transactional.NOBODY)
    connection: int = 1

    def __post_init__(self) -> None:
        self.shard = TransactionShard(TransactionConfig(), _Ids(), _Cluster())
        self._do(self.shard.loaded(NOW_MS, coordinator_epoch=0))
        answer = self.ask(transactional.init_producer(ID), 4, self.connection)
        assert isinstance(answer, InitProducerIdResponse)
        self.sender = Sender(producer_id=answer.producer_id, producer_epoch=answer.producer_epoch)

    def ask(self, request: Message, version: int, connection: int) -> Message:
        """One request and its answer; everything that is asked for is committed at once."""
        effects = self.shard.step(
            request, version=version, connection=connection, reply_to=self, now_ms=NOW_MS
        )
        self.shard.check()
        self._do(effects)
        answers = [reply.response for reply in effects.replies]
        answers += [reply.response for reply in effects.replies_after_commit]
        assert len(answers) == 1, answers
        assert isinstance(answers[0], Message)
        return answers[0]

    def request_of(self, step: Add | End) -> tuple[Message, int]:
        """The request as the client sends it now, with its version."""
        if isinstance(step, End):
            ending = transactional.end_transaction(ID, self.sender, commit=step.commit)
            return ending, 5 if self.version == 2 else 1
        if self.version == 1:
            adding = transactional.add_partitions(ID, self.sender, {TOPIC: [step.partition]})
            return adding, 1
        topic = AddPartitionsToTxnTopic(name=TOPIC, partitions=[step.partition])
        transaction = AddPartitionsToTxnTransaction(
            transactional_id=ID,
            producer_id=self.sender.producer_id,
            producer_epoch=self.sender.producer_epoch,
            topics=[topic],
        )
        return AddPartitionsToTxnRequest(transactions=[transaction]), 5

    def write(self, partition: int, number: int) -> bool:
        """Append if the coordinator knows of it (KIP-890, part 1)."""
        producer_id, epoch = self.sender.producer_id, self.sender.producer_epoch
        code = self.shard.verify(ID, producer_id, epoch, TOPIC, partition)
        if code is ErrorCode.NONE:
            self.logs[partition].append(number)
        return code is ErrorCode.NONE

    def _do(self, effects: Effects) -> None:
        for order in effects.orders_after_commit:
            if isinstance(order, WriteMarkers):
                for _, partition in order.partitions:
                    self.logs[partition].append(order.is_commit)
                done = self.shard.markers_written(
                    order.transactional_id,
                    order.producer_id,
                    order.producer_epoch,
                    order.partitions,
                    NOW_MS,
                )
                self._do(done)


def outcome(order: Order, version: int) -> str:
    """What went wrong in one order, empty when nothing did."""
    script, late = order
    model = Model(version)
    under_way: dict[int, tuple[Message, int, int]] = {}
    number = 0
    for place, step in enumerate((*script, None)):
        for which, entry in enumerate(late):
            if entry.arrives == place:
                model.ask(*under_way.pop(which))
        if step is None:
            break
        if isinstance(step, Write):
            if not model.write(step.partition, number):
                return f"transaction {number} cannot write"
            continue
        request, request_version = model.request_of(step)
        for which, entry in enumerate(late):
            if entry.sent == place:
                under_way[which] = request, request_version, model.connection
                model.connection += 1
        code = _take(model, model.ask(request, request_version, model.connection))
        if code is not ErrorCode.NONE:
            return f"{step} of transaction {number} gets {code.name}"
        number += isinstance(step, End)
    return _judge(model.logs, [step.commit for step in script if isinstance(step, End)])


def _take(model: Model, answer: Message) -> ErrorCode:
    if isinstance(answer, EndTxnResponse):
        if answer.error_code == ErrorCode.NONE and model.version == 2:
            model.sender = Sender(
                producer_id=answer.producer_id, producer_epoch=answer.producer_epoch
            )
        return ErrorCode(answer.error_code)
    assert isinstance(answer, AddPartitionsToTxnResponse)
    topics = list(answer.results_by_topic_v3_and_below)
    for transaction in answer.results_by_transaction:
        topics += transaction.topic_results
    return ErrorCode(topics[0].results_by_partition[0].partition_error_code)


def _judge(logs: Sequence[Sequence[int | bool]], told: Sequence[bool]) -> str:
    for number, commit in enumerate(told):
        for partition, log in enumerate(logs):
            place = next(i for i, entry in enumerate(log) if type(entry) is int and entry == number)
            decision = next((entry for entry in log[place:] if type(entry) is bool), None)
            if decision is not commit:
                return f"transaction {number} is told {commit}, partition {partition} {decision}"
    return ""
