"""Conversations with a transaction shard, as text.

A script alternates between what clients send and what must follow, indented::

    a init                       client "a" sends InitProducerId for the transactional id "x"
        log x Empty 1/0          the record: id, state, producer id / epoch, partitions
        a NONE 1/0               the reply, with what the client has from now on
    a add t-0
        log x Ongoing 1/0 t-0 v2
        a NONE
    a commit
        log x PrepareCommit 1/1 t-0 v2
        a NONE 1/1
        order x 1/1 commit v2 epoch 7: t-0
    markers                      the runtime has carried out every order
        log x CompleteCommit 1/1 v2

``check`` runs the lines that are not indented and compares the whole text, so a change of behaviour
is a diff that one can read. Clients whose name begins with "old" speak transaction version 1. Each
client has a connection of its own, numbered in the order of first use; ``on=3`` says otherwise.
After every line a shard that replays the log must stand where the live one stands.
"""

from dataclasses import dataclass
from typing import Final

import msgspec
from tests.core_log.script import Script

from headwater.core_log.kernel.effects import Effects, Record, Reply, ReplyAfterCommit
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.codec import decode, encode
from headwater.core_log.protocol.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from headwater.core_log.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from headwater.core_log.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from headwater.core_log.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from headwater.core_log.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from headwater.core_log.protocol.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from headwater.core_log.protocol.schema import Message
from headwater.core_log.transactions.config import TransactionConfig
from headwater.core_log.transactions.orders import FenceConnection, WriteMarkers
from headwater.core_log.transactions.records import read_record, transaction_record
from headwater.core_log.transactions.shard import TransactionShard
from headwater.core_log.transactions.transaction import Transaction

START_MS: Final = 1_000_000
EPOCH: Final = 7
NEWEST: Final[dict[type[Message], int]] = {
    InitProducerIdRequest: 5,
    AddPartitionsToTxnRequest: 5,
    AddOffsetsToTxnRequest: 4,
    EndTxnRequest: 5,
    DescribeTransactionsRequest: 0,
    ListTransactionsRequest: 2,
}
NEWEST_OF_OLD: Final[dict[type[Message], int]] = {
    **NEWEST,
    AddPartitionsToTxnRequest: 3,
    EndTxnRequest: 4,
}


class CountingIds:
    """Producer ids 1, 2, 3, … as long as there are any."""

    def __init__(self) -> None:
        self.taken = 0
        self.empty = False

    def take(self) -> int | None:
        if self.empty:
            return None
        self.taken += 1
        return self.taken


class OneCluster:
    """A cluster at transaction version 2; group "g" has its offsets in partition 3."""

    def __init__(self) -> None:
        self.level = 2
        self.has_offsets = True

    def offsets_partition(self, group_id: str) -> int | None:
        return (3 if group_id == "g" else 4) if self.has_offsets else None

    def transaction_version(self) -> int:
        return self.level


@dataclass
class Client:
    """What a client remembers between its requests."""

    name: str
    connection: int
    producer_id: int = -1
    producer_epoch: int = -1

    @property
    def newest(self) -> dict[type[Message], int]:
        return NEWEST_OF_OLD if self.name.startswith("old") else NEWEST


def stored_facts(shard: TransactionShard) -> dict[str, tuple[object, ...]]:
    """What the records must bring back; the last epoch is not in them, with Kafka neither."""
    return {
        name: (
            one.producer_id,
            one.previous_producer_id,
            one.next_producer_id,
            one.producer_epoch,
            one.timeout_ms,
            one.state,
            frozenset(one.partitions),
            one.start_ms,
            one.update_ms,
            one.client_version,
        )
        for name, one in shard._state.transactions.items()
    }


class Conversation(Script):
    """A shard, its log, its clients and what was said so far."""

    def __init__(self, **settings: int) -> None:
        self.config = TransactionConfig(**settings)
        self.ids = CountingIds()
        self.cluster = OneCluster()
        self.log: list[Record] = []
        self.now_ms = START_MS
        self.epoch = EPOCH
        self.clients: dict[str, Client] = {}
        self.orders: list[WriteMarkers] = []
        super().__init__()
        self._connections = 0
        self.shard = self._load(0)

    def execute(self, line: str) -> None:
        self._execute(line)
        self.shard.check()

    def transaction(self, name: str = "x") -> Transaction:
        return self.shard._state.transactions[name]

    # Input

    def _execute(self, line: str) -> None:  # noqa: C901 - a list of words
        match line.split():
            case ["+", ms]:
                self._pass(int(ms))
            case ["crash"]:
                self.shard = self._load(self._connections)
            case ["markers", *words]:
                self._write_markers([_partition(w) for w in words])
            case ["no-ids"]:
                self.ids.empty = True
            case ["ids"]:
                self.ids.empty = False
            case ["no-offsets"]:
                self.cluster.has_offsets = False
            case ["level", level]:
                self.cluster.level = int(level)
            case ["epoch", epoch]:  # as if so many transactions had been
                one = self.transaction()
                one.producer_epoch = int(epoch)
                self.log.append(transaction_record(one, feature_level=self.cluster.level))
            case [name, verb, *words]:
                if name not in self.clients:
                    self._connections += 1
                    self.clients[name] = Client(name, self._connections)
                options = dict(word.split("=", 1) for word in words if "=" in word)
                plain = [word for word in words if "=" not in word]
                self._send(self.clients[name], verb, plain, options)
            case _:
                raise ValueError(line)

    def _pass(self, ms: int) -> None:
        end_ms = self.now_ms + ms
        for _ in range(10_000):  # more deadlines than this are a loop
            due_ms = self.shard.next_deadline_ms
            if due_ms is None or due_ms > end_ms:
                break
            self.now_ms = max(due_ms, self.now_ms)
            self._act(self.shard.tick(self.now_ms))
        else:
            raise AssertionError("the shard's deadlines never end")
        self.now_ms = end_ms

    def _write_markers(self, only: list[tuple[str, int]]) -> None:
        orders, self.orders = self.orders, []
        for order in orders:
            written = [p for p in order.partitions if p in only] if only else order.partitions
            if len(written) < len(order.partitions):
                self.orders.append(order)
            self._act(
                self.shard.markers_written(
                    order.transactional_id,
                    order.producer_id,
                    order.producer_epoch,
                    written,
                    self.now_ms,
                )
            )

    def _send(self, client: Client, verb: str, plain: list[str], options: dict[str, str]) -> None:
        request = self._request(client, verb, plain, options)
        version = int(options.get("v", client.newest[type(request)]))
        if isinstance(request, AddPartitionsToTxnRequest) and version < 4:
            asked = request.transactions[0]
            request = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=asked.transactional_id,
                v3_and_below_producer_id=asked.producer_id,
                v3_and_below_producer_epoch=asked.producer_epoch,
                v3_and_below_topics=asked.topics,
            )
        request = decode(type(request), version, encode(request, version))  # as it would arrive
        effects = self.shard.step(
            request,
            version=version,
            connection=int(options.get("on", client.connection)),
            reply_to=(client, version),
            now_ms=self.now_ms,
        )
        assert len(effects.replies) + len(effects.replies_after_commit) == 1
        self._act(effects)

    def _request(
        self, client: Client, verb: str, plain: list[str], options: dict[str, str]
    ) -> Message:
        name = options.get("id", "x")
        pid, _, epoch = options.get(
            "as", f"{client.producer_id}/{client.producer_epoch}"
        ).partition("/")
        match verb:
            case "init" | "keep":
                keeps = verb == "keep"
                return InitProducerIdRequest(
                    transactional_id=name,
                    transaction_timeout_ms=int(options.get("timeout", "60000")),
                    producer_id=int(pid) if keeps else -1,
                    producer_epoch=int(epoch) if keeps else -1,
                )
            case "add" | "verify":
                return AddPartitionsToTxnRequest(
                    transactions=[
                        AddPartitionsToTxnTransaction(
                            transactional_id=name,
                            producer_id=int(pid),
                            producer_epoch=int(epoch),
                            verify_only=verb == "verify",
                            topics=[
                                AddPartitionsToTxnTopic(name=t, partitions=[p])
                                for t, p in map(_partition, plain)
                            ],
                        )
                    ]
                )
            case "offsets":
                return AddOffsetsToTxnRequest(
                    transactional_id=name,
                    producer_id=int(pid),
                    producer_epoch=int(epoch),
                    group_id=plain[0],
                )
            case "commit" | "abort":
                return EndTxnRequest(
                    transactional_id=name,
                    producer_id=int(pid),
                    producer_epoch=int(epoch),
                    committed=verb == "commit",
                )
            case "describe":
                return DescribeTransactionsRequest(
                    transactional_ids=["" if one == '""' else one for one in plain]
                )
            case "list":
                return ListTransactionsRequest(
                    state_filters=plain,
                    producer_id_filters=[int(p) for p in options.get("pid", "").split(",") if p],
                    duration_filter=int(options.get("longer", "-1")),
                    transactional_id_pattern=options.get("like"),
                )
            case _:
                raise ValueError(verb)

    # Output

    def _say(self, text: str) -> None:
        self.transcript.append(f"    {text}")

    def _act(self, effects: Effects) -> None:
        for key, value in effects.records:
            self.log.append((key, value))
            record = read_record(key, value)
            assert record is not None
            one = record.transaction
            self._say(f"log {record.transactional_id} {'gone' if one is None else _show(one)}")
        answers: list[Reply | ReplyAfterCommit] = [*effects.replies, *effects.replies_after_commit]
        for reply in answers:
            assert isinstance(reply.reply_to, tuple)
            client, version = reply.reply_to
            response = reply.response
            assert isinstance(response, Message)
            self._reply(client, decode(type(response), version, encode(response, version)))
        for order in effects.orders_after_commit:
            if isinstance(order, WriteMarkers):
                self.orders.append(order)
                self._say(_show_order(order))
            else:
                assert isinstance(order, FenceConnection)
                self._say(f"close {order.connection}")
        for note in effects.notes:
            self._say(f"note {note.event}")
        self._compare_with_replay()

    def _reply(self, client: Client, response: msgspec.Struct) -> None:
        match response:
            case InitProducerIdResponse() | EndTxnResponse():
                code = ErrorCode(response.error_code)
                identity = ""
                if response.producer_id != -1:
                    client.producer_id = response.producer_id
                    client.producer_epoch = response.producer_epoch
                    identity = f" {response.producer_id}/{response.producer_epoch}"
                self._say(f"{client.name} {code.name}{identity}")
            case AddOffsetsToTxnResponse():
                self._say(f"{client.name} {ErrorCode(response.error_code).name}")
            case AddPartitionsToTxnResponse():
                assert not response.error_code
                topics = [t for r in response.results_by_transaction for t in r.topic_results]
                codes = {
                    f"{t.name}-{p.partition_index}": ErrorCode(p.partition_error_code).name
                    for t in (*topics, *response.results_by_topic_v3_and_below)
                    for p in t.results_by_partition
                }
                same = len(set(codes.values())) <= 1
                shown = (
                    next(iter(codes.values()), "nothing")
                    if same
                    else " ".join(f"{name}:{code}" for name, code in codes.items())
                )
                self._say(f"{client.name} {shown}")
            case DescribeTransactionsResponse():
                for one in response.transaction_states:
                    partitions = [f"{t.topic}-{p}" for t in one.topics for p in t.partitions]
                    words = [
                        one.transactional_id or '""',
                        ErrorCode(one.error_code).name,
                        one.transaction_state,
                        f"{one.producer_id}/{one.producer_epoch}",
                        f"timeout {one.transaction_timeout_ms}",
                        f"start {_time(one.transaction_start_time_ms)}",
                        *partitions,
                    ]
                    self._say(
                        f"{client.name} " + " ".join(words if not one.error_code else words[:2])
                    )
            case ListTransactionsResponse():
                found = [
                    f"{one.transactional_id}:{one.producer_id}:{one.transaction_state}"
                    for one in response.transaction_states
                ]
                unknown = [f"?{name}" for name in response.unknown_state_filters]
                said = ErrorCode(response.error_code).name
                self._say(" ".join([client.name, said, *unknown, *found]))
            case _:
                raise AssertionError(response)

    def _load(self, connections_before: int) -> TransactionShard:
        self.orders.clear()
        shard = TransactionShard(self.config, self.ids, self.cluster)
        for key, value in self.log:
            shard.replay(key, value, timestamp_ms=self.now_ms)
        self.shard = shard
        effects = shard.loaded(
            self.now_ms, coordinator_epoch=self.epoch, connections_before=connections_before + 1
        )
        self.epoch += 1
        self._act(effects)
        return shard

    def _compare_with_replay(self) -> None:
        again = TransactionShard(self.config, self.ids, self.cluster)
        for key, value in self.log:
            again.replay(key, value, timestamp_ms=self.now_ms)
        if self.cluster.level:  # before, records have no place for the previous producer id
            assert stored_facts(again) == stored_facts(self.shard)


def _partition(word: str) -> tuple[str, int]:
    topic, _, number = word.rpartition("-")
    return topic, int(number)


def _time(ms: int) -> str:
    return "never" if ms == -1 else str(ms - START_MS)


def _show(one: Transaction) -> str:
    words = [one.state.value, f"{one.producer_id}/{one.producer_epoch}"]
    words += [f"{t}-{p}" for t, p in one.partitions]
    if one.next_producer_id != -1:
        words.append(f"then {one.next_producer_id}/0")
    if one.client_version:
        words.append(f"v{one.client_version}")
    return " ".join(words)


def _show_order(order: WriteMarkers) -> str:
    names = ",".join(f"{t}-{p}" for t, p in order.partitions)
    result = "commit" if order.is_commit else "abort"
    return (
        f"order {order.transactional_id} {order.producer_id}/{order.producer_epoch} {result} "
        f"v{order.transaction_version} epoch {order.coordinator_epoch}: {names}"
    )
