"""The transactional producer inside a client: identity, transaction, retries on new connections.

It has the manners of a real one. One request is under way at a time; one that is not answered in
time is sent again over a new connection, while the old one may still deliver it. An append is sent
again as it is, so that the broker knows it; a commit is asked for once everything is acknowledged.
A producer of transaction version 1 names its partitions first and keeps its epoch; one of version 2
takes the epoch that the end of its last transaction gave it (KIP-890).

A refusal that has no reason known here (another instance, a time-out, a stray InitProducerId) is an
anomaly: a broker that fences live clients is safe and useless.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from headwater.core_log.kernel.effects import Sender
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from headwater.core_log.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
)
from headwater.core_log.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from headwater.core_log.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from headwater.core_log.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from headwater.core_log.protocol.messages.produce import ProduceRequest, ProduceResponse
from headwater.core_log.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)
from headwater.core_log.protocol.schema import Message
from headwater.core_log.records.record import NewRecord, build_batch
from headwater.core_log.testing import requests
from headwater.core_log.testing import transaction_requests as transactional
from headwater.core_log.testing.history import (
    Aborted,
    Acked,
    Begun,
    Committed,
    Committing,
    Event,
    GroupOffset,
    OffsetsSent,
    Send,
)
from headwater.core_log.testing.network import Line

from .clients import Client, World
from .ledger import Book, Entry

TRANSACTION: Final = 1
"""The key type of FindCoordinator."""
LATEST: Final = "latest"
"""The compacted topic: its records have keys, and are not in the history."""
TRIED_AGAIN: Final = frozenset(
    {
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NOT_ENOUGH_REPLICAS,  # what a producer is told of a coordinator that is not ready
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
)
FENCED: Final = frozenset({ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH})
ABORTED: Final = frozenset({ErrorCode.INVALID_TXN_STATE, ErrorCode.TRANSACTION_ABORTABLE})
REBALANCED: Final = frozenset(
    {
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.REBALANCE_IN_PROGRESS,
    }
)
"""What a group answers to the offsets of a member that is none any more (KIP-447)."""


class Bank(World, Protocol):
    """A world that keeps a book of transactions."""

    book: Book

    def note(self, *events: Event) -> None:
        """Write events into the history and the book."""
        ...


@dataclass(frozen=True, slots=True)
class AddPartition:
    topic: str
    partition: int


@dataclass(slots=True)
class Append:
    topic: str
    partition: int
    entries: Sequence[Entry]
    sequence: int | None = None
    """Given when it is first sent."""


@dataclass(frozen=True, slots=True)
class AddOffsets:
    group_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Offsets:
    """Positions of a group, and who says so."""

    group_id: str
    topic: str
    positions: Mapping[int, int]
    member_id: str = ""
    generation_id: int = -1


@dataclass(frozen=True, slots=True)
class End:
    commit: bool


Step: TypeAlias = AddPartition | Append | AddOffsets | Offsets | End


class Engine:
    """One transactional id in the hands of one client.

    ``turn`` sends what is next; *on_end* learns how each transaction ended: True committed, False
    aborted, None unknown.
    """

    def __init__(
        self,
        client: Client,
        world: Bank,
        transactional_id: str,
        *,
        version: int,
        timeout_ms: int,
        on_end: Callable[[bool | None], None] = lambda _: None,
        is_shared: bool = False,
    ) -> None:
        self.client = client
        self.world = world
        self.transactional_id = transactional_id
        self.version = version
        self.timeout_ms = timeout_ms
        self.sender = transactional.NOBODY
        self.transaction: str | None = None
        self.refusals: list[str] = []
        """Why the last transactions did not end as they were meant to."""
        self._on_end = on_end
        self._is_shared = is_shared
        self._knows_coordinator = False
        self._needs_identity = True
        self._needs_bump = False
        self._agenda: deque[Step] = deque()
        self._sequences: dict[tuple[str, int], int] = {}
        self._begun_ms = 0
        self.count = 0
        self._asking: Line | None = None
        """The connection on which InitProducerId was asked, while it is not answered."""
        self._was_unanswered = False
        self._strays: list[Line] = []
        """Connections that may yet deliver an InitProducerId of ours."""

    def __repr__(self) -> str:
        return (
            f"<Engine {self.transactional_id} v{self.version}: {self.transaction} {self._agenda}>"
        )

    @property
    def process(self) -> str:
        return f"{self.client.name}:{self.sender.producer_id}.{self.sender.producer_epoch}"

    @property
    def is_idle(self) -> bool:
        """No transaction is open."""
        return self.transaction is None and not self._agenda

    @property
    def is_identified(self) -> bool:
        """There is a producer id to work with."""
        return not self._needs_identity

    def turn(self) -> bool:
        """Send what is next; False when there is nothing to send."""
        if not self._knows_coordinator:
            self._find()
        elif self._needs_identity:
            self._identify()
        elif self._agenda:
            self._perform(self._agenda[0])
        else:
            return False
        return True

    def begin(
        self,
        appends: Sequence[Append],
        *,
        commit: bool,
        offsets: Offsets | None = None,
        sources: Mapping[str, str] | None = None,
    ) -> None:
        """Plan a transaction; ``turn`` carries it out. *sources* names inputs by output."""
        assert self.is_idle
        self.count += 1
        self._begun_ms = self.client.now_ms
        self.transaction = f"{self.transactional_id}/{self.client.name}/{self.count}"
        self.world.note(Begun(process=self.process, transaction=self.transaction))
        for append in appends:
            if append.topic != LATEST:
                for _, value in append.entries:
                    self._note_send(value or "", sources or {})
        names = [AddPartition(append.topic, append.partition) for append in appends]
        steps: list[Step] = []
        for name, append in zip(names, appends, strict=True):
            if self.version == 1 and name not in steps:
                steps.append(name)
            steps.append(append)
        if offsets is not None:
            self._note_offsets(offsets)
            steps += [AddOffsets(offsets.group_id)] if self.version == 1 else []
            steps.append(offsets)
        self._agenda.extend([*steps, End(commit)])

    def die(self) -> None:
        """Forget everything, as a process does that is killed; what is under way stays so."""
        self._start_over("it died")
        if self.client.line is not None:
            self.client.give_up()

    def give_up_append(self) -> None:
        """Abort when an append is in doubt, as a client does whose delivery time-out has come.

        It may arrive when the transaction is over (KIP-890): the next one wants another epoch.
        """
        if self._agenda and isinstance(self._agenda[0], Append):
            self._abort("an append was not answered in time")

    # -- identity ---------------------------------------------------------------------------

    def _find(self) -> None:
        request = FindCoordinatorRequest(
            key_type=TRANSACTION, coordinator_keys=[self.transactional_id]
        )
        self.client.ask(request, FindCoordinatorResponse, 4, self._found)

    def _found(self, response: FindCoordinatorResponse) -> None:
        self._knows_coordinator = response.coordinators[0].error_code == ErrorCode.NONE

    def _identify(self) -> None:
        if self._asking is not None:
            self._strays.append(self._asking)
            self._was_unanswered = True
        self._strays = [line for line in self._strays if line.is_delivering]
        self._asking = self.client.line
        request = transactional.init_producer(
            self.transactional_id, timeout_ms=self.timeout_ms, known=self.sender
        )
        version = self._version(InitProducerIdRequest)
        self.client.ask(request, InitProducerIdResponse, version, self._identified)

    def _identified(self, response: InitProducerIdResponse) -> None:
        self._asking = None
        code = ErrorCode(response.error_code)
        if code == ErrorCode.NONE:
            self.sender = Sender(
                producer_id=response.producer_id, producer_epoch=response.producer_epoch
            )
            self._sequences.clear()
            self._needs_identity = self._needs_bump = self._was_unanswered = False
        elif code in FENCED and self.sender != transactional.NOBODY:
            # The epoch that a retry names is not in the log: a coordinator that starts anew after
            # it has raised the epoch does not know the retry, as Kafka's does not.
            if not self._was_unanswered:
                self._expect_reason(code, "InitProducerId")
            self.sender = transactional.NOBODY
        else:
            self._expect(code, TRIED_AGAIN, "InitProducerId")

    # -- the transaction --------------------------------------------------------------------

    def _perform(self, step: Step) -> None:
        match step:
            case AddPartition():
                self._add_partition(step)
            case Append():
                self._append(step)
            case AddOffsets():
                self._add_offsets(step)
            case Offsets():
                self._commit_offsets(step)
            case End():
                self._end(step)

    def _add_partition(self, step: AddPartition) -> None:
        request = transactional.add_partitions(
            self.transactional_id, self.sender, {step.topic: [step.partition]}
        )

        def answered(response: AddPartitionsToTxnResponse) -> None:
            result = response.results_by_topic_v3_and_below[0].results_by_partition[0]
            self._answered(step, result.partition_error_code)

        version = self._version(AddPartitionsToTxnRequest)
        self.client.ask(request, AddPartitionsToTxnResponse, version, answered)

    def _append(self, step: Append) -> None:
        place = (step.topic, step.partition)
        if step.sequence is None:
            step.sequence = self._sequences.get(place, 0)
            self._sequences[place] = step.sequence + len(step.entries)
        now_ms = self.world.network.broker.clock.now_ms()
        batch = build_batch(
            [
                NewRecord(
                    timestamp_ms=now_ms, key=key, value=None if value is None else value.encode()
                )
                for key, value in step.entries
            ],
            producer_id=self.sender.producer_id,
            producer_epoch=self.sender.producer_epoch,
            base_sequence=step.sequence,
            is_transactional=True,
        )
        request = requests.produce(
            step.topic,
            self.world.topic_id(step.topic),
            {step.partition: batch},
            transactional_id=self.transactional_id,
        )

        def answered(response: ProduceResponse) -> None:
            answer = response.responses[0].partition_responses[0]
            if answer.error_code == ErrorCode.NONE:
                self._appended(step, answer.base_offset)
            self._answered(step, answer.error_code)

        self.client.ask(request, ProduceResponse, self._version(ProduceRequest), answered)

    def _appended(self, step: Append, base_offset: int) -> None:
        assert self.transaction is not None
        book = self.world.book
        for offset, (key, value) in enumerate(step.entries, base_offset):
            if step.topic == LATEST:
                book.latest[step.partition, offset] = (key, value), self.transaction
            else:
                place = (step.topic, step.partition, offset)
                book.acked[value or ""] = place
                self.world.note(
                    Acked(
                        value=value or "", topic=step.topic, partition=step.partition, offset=offset
                    )
                )

    def _add_offsets(self, step: AddOffsets) -> None:
        request = transactional.add_offsets(self.transactional_id, self.sender, step.group_id)
        self.client.ask(
            request,
            AddOffsetsToTxnResponse,
            self._version(AddOffsetsToTxnRequest),
            lambda response: self._answered(step, response.error_code),
        )

    def _commit_offsets(self, step: Offsets) -> None:
        request = transactional.commit_offsets_in_transaction(
            self.transactional_id,
            self.sender,
            step.group_id,
            step.topic,
            step.positions,
            member_id=step.member_id,
            generation_id=step.generation_id,
        )

        def answered(response: TxnOffsetCommitResponse) -> None:
            codes = {p.error_code for topic in response.topics for p in topic.partitions}
            self._answered(step, next((code for code in codes if code), ErrorCode.NONE))

        version = self._version(TxnOffsetCommitRequest)
        if step.member_id:
            version = max(3, version)  # older ones do not carry the member
        self.client.ask(request, TxnOffsetCommitResponse, version, answered)

    def _end(self, step: End) -> None:
        assert self.transaction is not None
        if step.commit and not self.world.book.transactions[self.transaction].committing:
            self.world.note(Committing(transaction=self.transaction))
        request = transactional.end_transaction(
            self.transactional_id, self.sender, commit=step.commit
        )

        def answered(response: EndTxnResponse) -> None:
            self._answered(step, response.error_code)
            if response.error_code == ErrorCode.NONE:
                self._ended(step, response)

        self.client.ask(request, EndTxnResponse, self._version(EndTxnRequest), answered)

    def _ended(self, step: End, response: EndTxnResponse) -> None:
        assert self.transaction is not None
        if step.commit:
            self.world.note(Committed(transaction=self.transaction))
        else:
            self.world.note(Aborted(transaction=self.transaction))
        if self.version >= 2:
            fresh = Sender(producer_id=response.producer_id, producer_epoch=response.producer_epoch)
            if fresh == self.sender or fresh.producer_id < 0:
                self.world.anomaly(
                    f"{self} ended a transaction as {self.sender}, goes on as {fresh}"
                )
            self.sender = fresh
            self._sequences.clear()
        elif self._needs_bump:
            self._needs_identity = True
        self.transaction = None
        self._on_end(step.commit)

    # -- answers ----------------------------------------------------------------------------

    def _answered(self, step: Step, number: int) -> None:
        code = ErrorCode(number)
        if code == ErrorCode.NONE:
            self._agenda.popleft()
        elif code in FENCED:
            self._expect_reason(code, step)
            self._start_over(f"{step}: {code.name}")
        elif code in ABORTED:
            self._expect_reason(code, step)
            self._abort(f"{step}: {code.name}")
        elif code in REBALANCED and isinstance(step, Offsets):
            self._abort(f"{step}: {code.name}")
        else:
            self._expect(code, TRIED_AGAIN, step)
            self._knows_coordinator &= code != ErrorCode.NOT_COORDINATOR

    def _abort(self, why: str) -> None:
        """The transaction cannot be committed; what is in doubt wants another epoch."""
        ending = isinstance(self._agenda[0], End)
        if ending:
            self._start_over(why)
        else:
            self.refusals.append(why)
            self._needs_bump = True
            self._agenda = deque([End(commit=False)])

    def _start_over(self, why: str) -> None:
        """Go on as a new instance; nobody will be told how the transaction ended."""
        self.refusals.append(why)
        self._agenda.clear()
        self.sender = transactional.NOBODY
        self._needs_identity = True
        if self.transaction is not None:
            self.transaction = None
            self._on_end(None)

    def _expect(self, code: ErrorCode, expected: frozenset[ErrorCode], what: object) -> None:
        if code not in expected:
            self.world.anomaly(f"{self} got {code.name} for {what}")

    def _expect_reason(self, code: ErrorCode, what: object) -> None:
        timed_out = self.client.now_ms - self._begun_ms >= self.timeout_ms
        if not (self._is_shared or self._strays or timed_out):
            self.world.anomaly(f"{self} got {code.name} for {what}, for no reason")

    # -- notes ------------------------------------------------------------------------------

    def _note_send(self, value: str, sources: Mapping[str, str]) -> None:
        self.world.note(
            Send(
                process=self.process,
                value=value,
                idempotent=True,
                transaction=self.transaction,
                source=sources.get(value),
            )
        )

    def _note_offsets(self, offsets: Offsets) -> None:
        positions: tuple[GroupOffset, ...] = tuple(
            (offsets.topic, partition, offset) for partition, offset in offsets.positions.items()
        )
        self.world.note(
            OffsetsSent(
                process=self.process,
                group=offsets.group_id,
                offsets=positions,
                transaction=self.transaction,
            )
        )

    def _version(self, request: type[Message]) -> int:
        first, last = transactional.VERSIONS_OF[request][self.version]
        return self.world.dice.randrange(first, last + 1)
