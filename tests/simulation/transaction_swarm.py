"""A whole broker among transactional clients: nothing torn, nothing aborted shown, nothing twice.

Clients of both transaction versions write to several partitions, copy with their group's positions
in the transaction, retry over new connections while the old ones still deliver, share transactional
ids, and die with transactions open. Readers of both isolation levels look on, and compaction runs.
After the run every transaction is decided, each by the same marker in all its partitions, each
input is copied once, and the compacted topic is a dictionary.

``TransactionSwarm(seed).run()`` raises Caught when something is wrong.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Final, Self

from headwater.core_log.broker.partitions import Hosted
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.fetch import FetchResponse, PartitionData
from headwater.core_log.protocol.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from headwater.core_log.records.batch import Batch, scan
from headwater.core_log.records.record import Record, decode_records
from headwater.core_log.testing import requests
from headwater.core_log.testing.history import Acked, Event, Poll, check
from headwater.core_log.testing.network import Direction
from headwater.core_log.testing.transaction_requests import committed_records, is_abort_marker

from .clients import MAIN
from .ledger import Book, Found, Place
from .run import Run
from .transacting import LATEST, Engine
from .transaction_clients import COPIES, LEDGER, Feeder, IsolatedReader, Transactor, Worker

ALL: Final = "transactions"
GROUP: Final = "workers"
LATE: Final = {
    "transactors_1": 0, "transactors_2": 0, "zombies": 0, "workers_1": 0, "workers_2": 0,
    "network_faults": 15, "stalls": 95, "patience_ms": 20, "delay_ms": 5, "timeout_ms": 60_000,
    "partitions": 3,
    "deaths": 0, "ends": 0, "disk_error": 0, "disk_full": 0, "disk_work": 500, "big_jumps": 0,
    "steps": 5_000, "check_every": 20, "cleans": 0,
}  # fmt: skip
"""Nothing but connections that stall while their clients go on with new ones (KAFKA-17754)."""
SCENARIOS: Final[dict[str, dict[str, int]]] = {
    ALL: {},
    "late-1": LATE | {"transactors_1": 3},
    "late-2": LATE | {"transactors_2": 3},
    "late-copies": LATE | {"workers_1": 2, "partitions": 2},
    "zombies": {"zombies": 2, "transactors_1": 0, "transactors_2": 0, "deaths": 10},
    "time-outs": {"timeout_ms": 1_000, "deaths": 20, "big_jumps": 10},
    "copies": {"transactors_1": 0, "transactors_2": 0, "zombies": 0, "workers_1": 2,
        "workers_2": 2},
    "compaction": {
        "cleans": 1, "segment_index_bytes": 8, "transactors_1": 2, "transactors_2": 2,
        "workers_2": 1, "partitions": 1, "state_partitions": 1, "offsets_partitions": 1,
        "network_faults": 5, "disk_work": 500, "steps": 3_000, "check_every": 10,
    },
    "rebalances": {
        "transactors_1": 0, "transactors_2": 0, "zombies": 0, "workers_1": 1, "workers_2": 2,
        "partitions": 2, "big_jumps": 4, "timeout_ms": 60_000, "patience_ms": 1_000, "naps": 25,
        "delay_ms": 5, "deaths": 0, "ends": 0, "disk_full": 0, "disk_error": 0, "disk_work": 500,
        "network_faults": 5, "steps": 3_000, "check_every": 20, "cleans": 0,
    },
    "copies-restarted": {
        "transactors_1": 0, "transactors_2": 0, "zombies": 0, "workers_1": 1, "workers_2": 1,
        "partitions": 2, "ends": 10, "deaths": 0, "big_jumps": 0, "timeout_ms": 60_000,
        "patience_ms": 10_000, "delay_ms": 0, "network_faults": 0, "disk_full": 0,
        "disk_error": 0, "disk_work": 200, "steps": 2_000, "check_every": 20, "cleans": 0,
    },
    "slow-disk": {
        "workers_1": 0, "workers_2": 0, "transactors_1": 1, "transactors_2": 2, "zombies": 0,
        "partitions": 3, "disk_work": 30, "ends": 15, "network_faults": 0, "disk_full": 0,
        "disk_error": 0, "timeout_ms": 60_000, "patience_ms": 10_000, "deaths": 30,
        "check_every": 10, "cleans": 0,
    },
    "swaps": {
        "workers_1": 0, "workers_2": 0, "transactors_1": 0, "transactors_2": 3, "zombies": 0,
        "partitions": 1, "ends": 20, "network_faults": 0, "disk_full": 0, "disk_error": 0,
        "patience_ms": 10_000, "deaths": 0, "delay_ms": 0, "check_every": 10, "cleans": 1,
        "segment_index_bytes": 8, "checkpoint_ms": 50,
    },
    "full-disk": {"disk_full": 40, "network_faults": 0, "disk_error": 0},
    "crashes": {"ends": 20, "delay_ms": 5, "network_faults": 0, "patience_ms": 3_000},
}  # fmt: skip
"""Which numbers a scenario fixes; the others are drawn."""
SETTLE_MS: Final = 30_000
"""In which, after the last time-out, every marker must be written."""
SETTLE_STEP_MS: Final = 500
READY_CLIENTS: Final = 400
"""How often in a thousand steps a client acts that has something to do."""
DECIDED: Final = frozenset({"Empty", "CompleteCommit", "CompleteAbort", "Dead"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Tunables:
    """Sizes and rates of one run. Rates count in a thousand steps."""

    steps: int
    transactors_1: int
    transactors_2: int
    """By transaction version."""
    zombies: int
    """Pairs of transactors that share a transactional id."""
    workers_1: int
    workers_2: int
    partitions: int
    offsets_partitions: int
    state_partitions: int
    timeout_ms: int
    patience_ms: int
    deaths: int
    naps: int
    """How often a worker stops for longer than its group waits, and then goes on."""
    delay_ms: int
    disk_work: int
    network_faults: int
    stalls: int
    """Of a hundred faults of the network: how many hold back what a client has just asked, until
    the client may be elsewhere."""
    disk_full: int
    disk_error: int
    ends: int
    is_cold: int
    segment_index_bytes: int
    load_step_bytes: int
    big_jumps: int
    checkpoint_ms: int
    check_every: int
    cleans: int
    """Whether compaction runs."""
    delete_retention_ms: int

    @classmethod
    def draw(cls, dice: random.Random, steps: int, scenario: str = ALL) -> Self:
        """The numbers of one run."""
        drawn = cls(
            steps=steps,
            transactors_1=dice.randrange(3),
            transactors_2=dice.randrange(1, 3),
            zombies=dice.choice((0, 0, 1)),
            workers_1=dice.choice((0, 1, 2)),
            workers_2=dice.choice((0, 1, 2)),
            partitions=dice.randrange(1, 4),
            offsets_partitions=dice.randrange(1, 3),
            state_partitions=dice.randrange(1, 3),
            timeout_ms=dice.choice((1_000, 10_000, 60_000)),
            patience_ms=dice.choice((300, 1_000, 10_000)),
            deaths=dice.choice((0, 5, 20)),
            naps=dice.choice((0, 5)),
            delay_ms=dice.choice((0, 5, 100)),
            disk_work=dice.choice((50, 200, 500)),
            network_faults=dice.choice((0, 5, 20, 60)),
            stalls=dice.choice((0, 50)),
            disk_full=dice.choice((0, 0, 5)),
            disk_error=dice.choice((0, 0, 2)),
            ends=dice.choice((0, 2, 5)),
            is_cold=dice.randrange(2),
            segment_index_bytes=dice.choice((8, 16, 10_000)),
            load_step_bytes=dice.choice((1, 200, 1_000_000)),
            big_jumps=dice.choice((0, 2)),
            checkpoint_ms=dice.choice((50, 1_000, 60_000)),
            check_every=dice.choice((5, 20)),
            cleans=dice.choice((0, 1, 1)),
            delete_retention_ms=dice.choice((1, 200, 86_400_000)),
        )
        return replace(drawn, **SCENARIOS[scenario])

    def __str__(self) -> str:
        return " ".join(f"{entry.name}={getattr(self, entry.name)}" for entry in fields(self))


class TransactionSwarm(Run):
    """One run."""

    drain_rounds = 2_000  # a copy takes a dozen requests

    def __init__(self, seed: int, *, steps: int = 1_200, scenario: str = ALL) -> None:
        dice = random.Random(seed)
        self.tunables = tunables = Tunables.draw(dice, steps, scenario)
        super().__init__(
            seed,
            dice,
            tunables,
            {
                "transaction.state.log.num.partitions": str(tunables.state_partitions),
                "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
                "log.cleaner.enable": "true" if tunables.cleans else "false",
                "log.cleaner.backoff.ms": "100",
                "log.cleaner.min.cleanable.ratio": "0.01",
                "log.cleaner.delete.retention.ms": str(tunables.delete_retention_ms),
            },
        )
        self.check_every = tunables.check_every
        self.partition_count = tunables.partitions
        self.committed: dict[tuple[str, int], int] = {}
        self.owners: dict[tuple[str, int, int], str] = {}
        self.producer_ids: set[int] = set()
        self.book = Book()
        self.workers: list[Worker] = []
        self.transactors: list[Transactor] = []
        self.events: Counter[str] = Counter()
        """What the broker reported of its own accord in the lives that are over."""

    @property
    def engines(self) -> list[Engine]:
        """The transactional producers of all clients."""
        transactors = [client.engine for client in self.transactors]
        return [*transactors, *(client.engine for client in self.workers)]

    def note(self, *events: Event) -> None:
        """Write events into the history and the book."""
        for event in events:
            self.history.append(event)
            self.book.add(event)

    def _set_up(self) -> None:
        tunables = self.tunables
        for topic in (MAIN, LEDGER, COPIES):
            self._create_topic(topic, partitions=self.partition_count)
        self._create_topic(
            LATEST,
            partitions=self.partition_count,
            configs={"cleanup.policy": "compact"},
        )
        self.transactors = [
            *(self._transactor(f"one-{n}", version=1) for n in range(tunables.transactors_1)),
            *(self._transactor(f"two-{n}", version=2) for n in range(tunables.transactors_2)),
            *(
                self._transactor(f"zombie-{n}-{which}", version=1 + n % 2, shared=f"shared-{n}")
                for n in range(tunables.zombies)
                for which in "ab"
            ),
        ]
        self.workers = [
            *(self._worker(f"worker-one-{n}", version=1) for n in range(tunables.workers_1)),
            *(self._worker(f"worker-two-{n}", version=2) for n in range(tunables.workers_2)),
        ]
        self.clients = [
            *self.transactors,
            *self.workers,
            *([Feeder(self, "input", is_idempotent=True)] if self.workers else ()),
            IsolatedReader(self, "stable", read_committed=True),
            IsolatedReader(self, "eager", read_committed=False),
        ]

    def _transactor(self, name: str, *, version: int, shared: str | None = None) -> Transactor:
        return Transactor(
            self,
            name,
            shared or f"id-of-{name}",
            version=version,
            timeout_ms=self.tunables.timeout_ms,
            patience_ms=self.tunables.patience_ms,
            deaths=self.tunables.deaths,
            is_shared=shared is not None,
        )

    def _worker(self, name: str, *, version: int) -> Worker:
        return Worker(
            self,
            name,
            GROUP,
            version=version,
            timeout_ms=self.tunables.timeout_ms,
            patience_ms=self.tunables.patience_ms,
            deaths=self.tunables.deaths,
            naps=self.tunables.naps,
        )

    def _start(self) -> None:
        self.events.update(event for event, _ in self.broker.notes)
        super()._start()

    def _move_on(self) -> None:
        """Rather a client that has something to do: most wait for an answer most of the time."""
        ready = [client for client in self.clients if client.is_ready]
        if ready and self.dice.randrange(1000) < READY_CLIENTS:
            self.dice.choice(ready).act()
        else:
            super()._move_on()

    def _break_network(self) -> None:
        if self.dice.randrange(100) >= self.tunables.stalls:
            super()._break_network()
            return
        clients: list[Transactor | Worker] = [*self.transactors, *self.workers]
        busy = [client for client in clients if client.line and not client.engine.is_idle]
        left = [line for line in self.network.lines.values() if not line.is_open]
        if left and self.dice.randrange(2):
            self.dice.choice(left).resume(Direction.TO_BROKER)
        elif busy and (line := self.dice.choice(busy).line) is not None:
            line.stall(Direction.TO_BROKER)

    # -- judging ----------------------------------------------------------------------------

    def _judge(self) -> None:
        self._await_decisions()
        self._restart_all_ways()
        self._judge_logs()
        self._read_to_the_end()
        anomalies = check(self.history, caught_up=True)
        if anomalies:
            self.anomaly("; ".join(map(str, anomalies[:3])))

    def _after_restart(self) -> None:
        """No client goes on: what a restart leaves undone would be hidden by new transactions."""
        self._await_decisions()

    def _await_decisions(self) -> None:
        """Let time pass until nothing is open; that of clients dead for good has to time out."""
        for _ in range((self.tunables.timeout_ms + SETTLE_MS) // SETTLE_STEP_MS):
            if not self._undecided():
                return
            self.network.advance(SETTLE_STEP_MS)
            self._check()
        self.anomaly(f"long after the last time-out, {self._undecided()}")

    def _undecided(self) -> str:
        """What is still open, empty when nothing is."""
        for hosted in self.broker.running.partitions:
            if not hosted.last_stable_offset == hosted.high_watermark == hosted.log.log_end_offset:
                return f"{hosted} is stable up to {hosted.last_stable_offset} only"
        client = self.broker.connect()
        response = client.ask(ListTransactionsRequest(), ListTransactionsResponse, version=0)
        client.disconnect()
        states = {
            state.transactional_id: state.transaction_state
            for state in response.transaction_states
            if state.transaction_state not in DECIDED
        }
        if response.error_code != ErrorCode.NONE or states:
            return f"transactions are not decided: {states}, {ErrorCode(response.error_code).name}"
        return ""

    def _judge_logs(self) -> None:
        found = [
            record
            for topic in (LEDGER, COPIES)
            for hosted in self._hosted(topic)
            for record in _decided(hosted.topic, hosted.index, self._batches(hosted))
        ]
        ends = {
            index: self.committed.get((GROUP, index), 0) for index in range(self.partition_count)
        }
        wrong = [
            *self.book.judge(found),
            *self.book.judge_copies(found, self._inputs(), ends),
            *self._judge_dictionary(self.book.committed_in(found)),
        ]
        if wrong:
            self.anomaly("; ".join(wrong[:3]))

    def _judge_dictionary(self, committed: set[str]) -> Iterator[str]:
        for hosted in self._hosted(LATEST):
            expected = self.book.dictionary(hosted.index, committed)
            survivors = {bytes(record.key or b""): record for record in self._records(hosted)}
            for key, (offset, (_, value)) in expected.items():
                survivor = survivors.pop(key, None)
                if survivor is None and value is None:
                    continue  # a tombstone whose time was over
                if survivor is None or survivor.offset != offset or _text(survivor) != value:
                    yield f"{key!r} of {hosted} is {survivor}, not {value!r} at {offset}"
            for key, record in survivors.items():
                yield f"{key!r} of {hosted} has {record}, and nobody committed it"

    def _read_to_the_end(self) -> None:
        for topic in (MAIN, LEDGER, COPIES):
            for hosted in self._hosted(topic):
                records = tuple(
                    (topic, hosted.index, record.offset, _text(record) or "")
                    for record in self._records(hosted)
                )
                self.note(Poll(process="last", records=records, subscribed=False))

    def _records(self, hosted: Hosted) -> Iterator[Record]:
        """What a fresh ``read_committed`` reader sees of a partition."""
        for position, data in self._pieces(hosted, read_committed=True):
            for record in committed_records(data.records, data.aborted_transactions):
                if record.offset >= position:
                    yield record

    def _batches(self, hosted: Hosted) -> Iterator[Batch]:
        """Everything that lies in a partition, markers too."""
        for position, data in self._pieces(hosted, read_committed=False):
            for batch in scan(data.records or b"", verify_crc=True):
                if batch.last_offset >= position:
                    yield batch

    def _pieces(
        self, hosted: Hosted, *, read_committed: bool
    ) -> Iterator[tuple[int, PartitionData]]:
        """The partition as one fetch after the other gives it, each with where it was to begin."""
        client = self.broker.connect()
        position = hosted.log.log_start_offset
        while True:
            request = requests.fetch(
                hosted.topic,
                hosted.topic_id,
                {hosted.index: position},
                partition_max_bytes=self.dice.choice((300, 1_000_000)),
                read_committed=read_committed,
            )
            data = client.ask(request, FetchResponse, version=17).responses[0].partitions[0]
            ends = [batch.next_offset for batch in scan(data.records or b"", verify_crc=True)]
            if not ends:
                return
            yield position, data
            position = ends[-1]

    def _hosted(self, topic: str) -> list[Hosted]:
        return [hosted for hosted in self.broker.running.partitions if hosted.topic == topic]

    def _inputs(self) -> dict[str, Place]:
        return {
            event.value: (event.topic, event.partition, event.offset)
            for event in self.history
            if isinstance(event, Acked) and event.topic == MAIN and event.offset is not None
        }


def _decided(topic: str, index: int, batches: Iterable[Batch]) -> Iterator[Found]:
    """Every record with what the next marker of its producer says of it."""
    waiting: dict[int, list[tuple[int, str]]] = {}
    for batch in batches:
        if batch.is_control:
            committed = not is_abort_marker(batch)
            for offset, value in waiting.pop(batch.producer_id, ()):
                yield Found((topic, index, offset), value, committed)
            continue
        for record in decode_records(batch, bytes_max=requests.UNPACKED_BYTES_MAX):
            waiting.setdefault(batch.producer_id, []).append((record.offset, _text(record) or ""))
    for rest in waiting.values():
        for offset, value in rest:
            yield Found((topic, index, offset), value, None)


def _text(record: Record) -> str | None:
    return None if record.value is None else bytes(record.value).decode()
