"""Clients of both versions, lost answers, late copies, crashes and time, against small models.

The models: who initialized last (``owner``), and for each client the set of partitions that it was
told have joined (``joined``) or that may have (``maybe``). A commit that is answered must hold the
first and nothing beyond both; whoever is not the owner gets nothing done.
"""

from dataclasses import dataclass, field, replace

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from headwater.core_log.kernel.effects import Effects, Record
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from headwater.core_log.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from headwater.core_log.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from headwater.core_log.transactions.config import TransactionConfig
from headwater.core_log.transactions.orders import WriteMarkers
from headwater.core_log.transactions.records import read_record, transaction_record
from headwater.core_log.transactions.shard import TransactionShard
from headwater.core_log.transactions.transaction import EPOCH_MAX, TransactionState

from .conversation import CountingIds, OneCluster, stored_facts

E = ErrorCode
CLIENTS = st.sampled_from([0, 0, 0, 1, 1, 1, 2, 3])
SELDOM = st.sampled_from([False, False, False, True])
START_MS = 1_000_000


@dataclass(eq=False)
class Client:
    """A producer with the manners of a real one; ``version`` is its transaction version."""

    version: int
    connection: int
    identity: tuple[int, int] | None = None
    joined: set[int] = field(default_factory=set)
    maybe: set[int] = field(default_factory=set)
    pending_end: EndTxnRequest | None = None  # sent, and the answer is not known
    must_abort: bool = False
    heard_on: int = 0

    def start_over(self) -> None:
        self.identity = None
        self.forget()

    def forget(self) -> None:
        self.joined, self.maybe = set(), set()
        self.pending_end, self.must_abort = None, False


@dataclass(frozen=True)
class Letter:
    """A request that waits for its answer; *log_end* is where the log ended after it."""

    client: Client
    request: msgspec.Struct
    lost: bool
    log_end: int


class Producers(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.config = TransactionConfig(abort_check_ms=5_000)
        self.ids, self.cluster = CountingIds(), OneCluster()
        self.log: list[Record] = []
        self.committed = 0
        self.parked: list[tuple[Letter, msgspec.Struct]] = []
        self.orders_parked: list[WriteMarkers] = []
        self.orders: list[WriteMarkers] = []
        self.decisions: dict[tuple[int, int], tuple[bool, frozenset[tuple[str, int]]]] = {}
        self.late: list[tuple[Client, msgspec.Struct, int]] = []
        self.now_ms = START_MS
        self.connections = 4
        self.clients = [Client(2, 1), Client(0, 2), Client(2, 3), Client(0, 4)]
        self.owner: Client | None = None
        self.epoch = 0
        self.shard = self._load()

    # What clients do

    @rule(n=CLIENTS, what=st.sampled_from([0, 1, 2, "commit", "abort"]), lost=SELDOM, lag=SELDOM)
    def a_client_goes_on(self, n: int, what: int | str, lost: bool, lag: bool) -> None:  # noqa: FBT001 - drawn
        """Whatever the client has to do next, it does; *what* is for when it may choose."""
        client = self.clients[n]
        if client.identity is None:
            self.init(client, lost=lost)
        elif client.pending_end is not None or client.must_abort:
            self.end(client, commit=False, lost=lost)
        elif isinstance(what, int):
            client.maybe.add(what)
            self._send(client, _add(client, what), lost=lost)
        elif client.maybe:
            self.end(client, commit=what == "commit", lost=lost)
        if not lag:
            self.commit_log()

    @rule(n=CLIENTS)
    def a_client_starts_anew(self, n: int) -> None:
        self.init(self.clients[n], lost=False)
        self.commit_log()

    def init(self, client: Client, *, lost: bool) -> None:
        client.start_over()
        request = InitProducerIdRequest(transactional_id="x", transaction_timeout_ms=8_000)
        self._send(client, request, lost=lost)

    def end(self, client: Client, *, commit: bool, lost: bool) -> None:
        """The same request until its answer is known."""
        if client.pending_end is None:
            assert client.identity is not None
            producer_id, epoch = client.identity
            client.pending_end = EndTxnRequest(
                transactional_id="x",
                producer_id=producer_id,
                producer_epoch=epoch,
                committed=commit and not client.must_abort,
            )
        self._send(client, client.pending_end, lost=lost)

    @precondition(lambda self: self.late)
    @rule(data=st.data())
    def a_copy_comes_late(self, data: st.DataObject) -> None:
        """The network delivers what was sent on a connection that was given up.

        Until its client has been heard of on a newer one, a copy may be as good as the original;
        a partition that joins a transaction of version 2 does no harm.
        """
        client, request, connection = data.draw(st.sampled_from(self.late))
        harmless = client.version >= 2 and isinstance(request, AddPartitionsToTxnRequest)
        if connection < client.heard_on and not harmless:
            before = len(self.log)
            self._act(self._step(client, request, connection), None)
            assert len(self.log) == before, "a late copy had an effect"

    # What the world does

    @rule(count=st.integers(1, 3))
    def markers_are_written(self, count: int) -> None:
        """In some partitions of the oldest order."""
        self.commit_log()
        if self.orders:
            order = self.orders.pop(0)
            self._act(self._marked(order, order.partitions[:count]), None)
            if count < len(order.partitions):
                self.orders.append(replace(order, partitions=order.partitions[count:]))

    def commit_log(self) -> None:
        self.committed = len(self.log)
        parked, self.parked = self.parked, []
        for letter, response in parked:
            self._deliver(letter, response)
        orders, self.orders_parked = self.orders_parked, []
        for order in orders:
            decision = (order.is_commit, frozenset(order.partitions))
            key = (order.producer_id, order.producer_epoch)
            if order.transaction_version >= 2:
                assert self.decisions.setdefault(key, decision) == decision
        self.orders += orders

    @rule(ms=st.sampled_from([1, 5_000, 20_000]))
    def time_passes(self, ms: int) -> None:
        end_ms = self.now_ms + ms
        while (due_ms := self.shard.next_deadline_ms) is not None and due_ms <= end_ms:
            self.now_ms = max(due_ms, self.now_ms)
            self._act(self.shard.tick(self.now_ms), None)
        self.now_ms = end_ms

    @rule(data=st.data())
    def crash(self, data: st.DataObject) -> None:
        """What is not committed may be lost, and every connection is."""
        end = data.draw(st.integers(self.committed, len(self.log)))
        self.log = self.log[:end]
        for letter, _ in self.parked:
            self._no_answer(letter.client, letter.request)
        self.late.clear()
        for client in self.clients:
            self._reconnect(client)
        self.shard = self._load()

    @rule()
    def epochs_run_out(self) -> None:
        """As if thirty thousand transactions had been, for the one who owns the id."""
        one = self.shard._state.transactions.get("x")
        if one is None or self.parked or self.owner is None or self.owner.identity is None:
            return
        if one.state is TransactionState.EMPTY and one.producer_epoch < EPOCH_MAX - 3:
            if self.owner.identity != (one.producer_id, one.producer_epoch):
                return
            one.producer_epoch = EPOCH_MAX - 3
            self.owner.identity = (one.producer_id, one.producer_epoch)
            self.log.append(transaction_record(one, feature_level=2))
            self.late.clear()
            self.commit_log()

    # What must hold

    @invariant()
    def memory_is_what_the_log_says(self) -> None:
        self.shard.check()
        again = TransactionShard(self.config, self.ids, self.cluster)
        for key, value in self.log:
            again.replay(key, value, timestamp_ms=0)
        assert stored_facts(again) == stored_facts(self.shard)

    def teardown(self) -> None:
        """When all is well again, everybody gets on: two transactions each, in a few tries."""
        self.commit_log()
        for client in self.clients:
            self._reconnect(client)
            client.start_over()
            for _ in range(2):
                for _ in range(4):
                    if client.identity is None:
                        self.init(client, lost=False)
                        self._settle()
                assert client.identity is not None
                client.maybe.add(0)
                self._send(client, _add(client, 0), lost=False)
                self._settle()
                assert client.joined == {0}
                self.end(client, commit=True, lost=False)
                self._settle()
                assert not client.joined
                assert self.shard._state.transactions["x"].state is TransactionState.COMPLETE_COMMIT

    def _settle(self) -> None:
        self.commit_log()
        while self.orders:
            self.markers_are_written(3)
            self.commit_log()

    # The wires

    def _send(self, client: Client, request: msgspec.Struct, *, lost: bool) -> None:
        effects = self._step(client, request, client.connection)
        client.heard_on = client.connection
        if not isinstance(request, InitProducerIdRequest):
            self.late.append((client, request, client.connection))
        end = len(self.log) + len(effects.records)
        self._act(effects, Letter(client, request, lost, end))
        if lost:
            self._reconnect(client)

    def _step(self, client: Client, request: msgspec.Struct, connection: int) -> Effects:
        old = client.version < 2
        version = {
            InitProducerIdRequest: 5,
            AddPartitionsToTxnRequest: 3 if old else 5,
            EndTxnRequest: 4 if old else 5,
        }[type(request)]
        return self.shard.step(
            request, version=version, connection=connection, reply_to=0, now_ms=self.now_ms
        )

    def _act(self, effects: Effects, letter: Letter | None) -> None:
        self.log += effects.records
        assert not effects.replies, "every answer depends on the log"
        assert len(effects.replies_after_commit) <= 1
        if letter is not None:
            self.parked.append((letter, effects.replies_after_commit[0].response))
        self.orders_parked += [
            o for o in effects.orders_after_commit if isinstance(o, WriteMarkers)
        ]

    def _marked(self, order: WriteMarkers, partitions: tuple[tuple[str, int], ...]) -> Effects:
        return self.shard.markers_written(
            order.transactional_id,
            order.producer_id,
            order.producer_epoch,
            partitions,
            self.now_ms,
        )

    def _reconnect(self, client: Client) -> None:
        self.connections += 1
        client.connection = self.connections

    def _load(self) -> TransactionShard:
        self.parked.clear()
        self.orders.clear()
        self.orders_parked.clear()
        shard = TransactionShard(self.config, self.ids, self.cluster)
        for key, value in self.log:
            shard.replay(key, value, timestamp_ms=0)
        self.epoch += 1
        effects = shard.loaded(
            self.now_ms,
            coordinator_epoch=self.epoch,
            connections_before=min(c.connection for c in self.clients),
        )
        self._act(effects, None)
        return shard

    # Answers

    def _no_answer(self, client: Client, request: msgspec.Struct) -> None:
        if isinstance(request, InitProducerIdRequest):
            client.identity = None

    def _deliver(self, letter: Letter, response: msgspec.Struct) -> None:
        client, request = letter.client, letter.request
        code = _code(response)
        if isinstance(response, InitProducerIdResponse) and code is E.NONE:
            assert response.producer_epoch < EPOCH_MAX
            self.owner = client
        elif code is E.NONE:
            assert client is self.owner, "a fenced producer got something done"
        if letter.lost:
            self._no_answer(client, request)
            return
        match response:
            case InitProducerIdResponse() if code is E.NONE:
                client.identity = (response.producer_id, response.producer_epoch)
            case AddPartitionsToTxnResponse() if code is E.NONE:
                assert isinstance(request, AddPartitionsToTxnRequest)
                if client.pending_end is None:
                    client.joined |= {p for t in _topics(request) for p in t.partitions}
            case EndTxnResponse() if code is E.NONE:
                assert isinstance(request, EndTxnRequest)
                if client.pending_end is not request:
                    return  # the answer to a first try, after that to a second
                self._check_decision(client, request, letter.log_end)
                client.forget()
                if client.version >= 2:
                    client.identity = (response.producer_id, response.producer_epoch)
                    assert response.producer_epoch < EPOCH_MAX
            case _:
                self._obey(client, request, code)

    def _check_decision(self, client: Client, request: EndTxnRequest, log_end: int) -> None:
        """The last decision before the answer is the client's, and holds what it was told."""
        for key, value in reversed(self.log[:log_end]):
            record = read_record(key, value)
            assert record is not None
            one = record.transaction
            assert one is not None
            if one.state in (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT):
                assert one.is_commit is request.committed
                held = {partition for _, partition in one.partitions}
                if one.is_commit:
                    assert client.joined <= held <= client.joined | client.maybe
                return
        raise AssertionError("answered without a decision")

    def _obey(self, client: Client, request: msgspec.Struct, code: ErrorCode) -> None:
        match code:
            case E.PRODUCER_FENCED | E.INVALID_PRODUCER_ID_MAPPING:
                if isinstance(request, AddPartitionsToTxnRequest) and client.version >= 2:
                    client.pending_end, client.must_abort = None, True  # it may have timed out
                else:
                    client.start_over()
            case E.INVALID_TXN_STATE:
                if client.version >= 2 and client.pending_end and client.pending_end.committed:
                    client.pending_end, client.must_abort = None, True
                else:
                    client.start_over()
            case E.NOT_COORDINATOR:
                self._reconnect(client)
            case _:
                assert code is E.CONCURRENT_TRANSACTIONS, code


def _add(client: Client, partition: int) -> AddPartitionsToTxnRequest:
    assert client.identity is not None
    producer_id, epoch = client.identity
    topics = [AddPartitionsToTxnTopic(name="t", partitions=[partition])]
    if client.version < 2:
        return AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="x",
            v3_and_below_producer_id=producer_id,
            v3_and_below_producer_epoch=epoch,
            v3_and_below_topics=topics,
        )
    return AddPartitionsToTxnRequest(
        transactions=[
            AddPartitionsToTxnTransaction(
                transactional_id="x", producer_id=producer_id, producer_epoch=epoch, topics=topics
            )
        ]
    )


def _topics(request: AddPartitionsToTxnRequest) -> list[AddPartitionsToTxnTopic]:
    return [*request.v3_and_below_topics, *(t for x in request.transactions for t in x.topics)]


def _code(response: msgspec.Struct) -> ErrorCode:
    match response:
        case InitProducerIdResponse() | EndTxnResponse():
            return ErrorCode(response.error_code)
        case AddPartitionsToTxnResponse():
            topics = [
                *response.results_by_topic_v3_and_below,
                *(t for x in response.results_by_transaction for t in x.topic_results),
            ]
            (code,) = {p.partition_error_code for t in topics for p in t.results_by_partition}
            return ErrorCode(code)
        case _:
            raise AssertionError(response)


TestProducers = Producers.TestCase
TestProducers.settings = settings(max_examples=15, stateful_step_count=40, deadline=None)
