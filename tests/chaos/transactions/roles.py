"""What workers do, whatever client they do it with: write, transform, mix, tail.

A shell over ports: ``Sender`` and ``Reader`` are what a client library has to be made to look like.
The Java worker (tools/interop/java/Transactor.java) does the same in its own words.
"""

import itertools
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, final

from headwater.core_log.testing.history import (
    Aborted,
    Acked,
    Begun,
    Committed,
    Committing,
    GroupOffset,
    Moved,
    OffsetsFetched,
    OffsetsSent,
    Poll,
    PolledRecord,
    Refused,
    Send,
)

from .journal import Journal, now_ms

INPUT: Final = "input"
OUTPUT: Final = "output"
MIXED: Final = "mixed"
TOPICS: Final = (INPUT, OUTPUT, MIXED)
PARTITION_COUNT: Final = 4
GROUP: Final = "transformers"

ABORT_SHARE: Final = 0.3
"""Many, so that an end that hits the wrong transaction is often the wrong end."""
RECORDS_MAX: Final = 8
PAUSE_SECONDS_MAX: Final = 0.05
PLAIN_PAUSE_SECONDS_MAX: Final = 0.4
"""So few that the transformers keep up with everybody."""
OUTSTANDING_MAX: Final = 500
"""Answers that a producer without transactions waits for at most."""

HUNG: Final = 75
"""A worker's exit code: all went well, but for a call into the library that does not return."""


class MustAbort(Exception):
    """The transaction failed; the producer can abort it and go on."""


class Unclear(Exception):
    """Nobody told how the transaction ended, or the producer is of no use any more: a new one."""


class NotSent(Exception):
    """The record certainly did not leave the client."""


class Sender(Protocol):
    """A producer. Its methods block until the broker answers, and raise the errors above."""

    def begin(self) -> None: ...
    def send(
        self, topic: str, partition: int, value: str, on_acked: Callable[[int | None], None]
    ) -> None: ...
    def send_offsets(self, offsets: Sequence[GroupOffset], reader: "Reader") -> None: ...
    def commit(self) -> None: ...
    def abort(self) -> None: ...
    def wait(self, outstanding_max: int) -> None:
        """Until no more sends than that await their answers."""
        ...

    def close(self) -> None: ...


class Reader(Protocol):
    """A consumer. ``has_rebalanced`` tells of the time since it was asked before."""

    def poll(self, records_max: int) -> list[PolledRecord]: ...
    def has_rebalanced(self) -> bool: ...
    def rewind(self) -> list[GroupOffset]:
        """Go back to the committed offsets of what is assigned; those offsets."""
        ...

    def close(self) -> None: ...


class Client(Protocol):
    """A client library. ``sender`` waits until the transactional id is its own."""

    def sender(self, transactional_id: str | None, *, idempotent: bool) -> Sender: ...
    def assigned(self, topics: Sequence[str], *, read_committed: bool) -> Reader: ...
    def member(self, group: str, topic: str) -> Reader: ...


@final
@dataclass(slots=True)
class Worker:
    """One role's place: its name, file, dice and the word to stop."""

    name: str
    client: Client
    journal: Journal
    rng: random.Random
    is_stopping: Callable[[], bool]
    process: str = ""
    """The name and how many producers came before: order holds within one of them."""
    _incarnations: "itertools.count[int]" = field(default_factory=itertools.count)
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    def new_sender(self, *, is_transactional: bool, idempotent: bool = True) -> Sender | None:
        """None when told to stop before the broker gave one."""
        self.process = f"{self.name}.{next(self._incarnations)}"
        while not self.is_stopping():
            # The name without the number of its process: who comes after a death takes over.
            transactional_id = self.name.rpartition("/")[0] if is_transactional else None
            try:
                return self.client.sender(transactional_id, idempotent=idempotent)
            except Unclear:
                time.sleep(0.1)
        return None

    def next_value(self) -> str:
        return f"{self.process}:{next(self._numbers)}"

    def pause(self, seconds_max: float = PAUSE_SECONDS_MAX) -> None:
        time.sleep(self.rng.random() * seconds_max)


def write(worker: Worker) -> None:
    """Transactions of a few records over random partitions; some are aborted."""
    sender = worker.new_sender(is_transactional=True)
    while sender is not None and not worker.is_stopping():
        work = _Transaction(worker, sender, worker.next_value())
        try:
            work.begin()
            work.send(INPUT, [None] * worker.rng.randint(1, RECORDS_MAX))
            work.end()
        except Unclear:
            sender.close()
            sender = worker.new_sender(is_transactional=True)
        worker.pause()
    if sender is not None:
        sender.close()


def mix(worker: Worker) -> None:
    """Transactions that poll what others of the kind write, and write: circles would show."""
    reader = worker.client.assigned([MIXED], read_committed=True)
    sender = worker.new_sender(is_transactional=True)
    while sender is not None and not worker.is_stopping():
        work = _Transaction(worker, sender, worker.next_value())
        try:
            work.begin()
            for _ in range(worker.rng.randint(1, 3)):
                if worker.rng.random() < 0.5:
                    work.poll(reader, subscribed=False)
                else:
                    work.send(MIXED, [None] * worker.rng.randint(1, 3))
            work.end()
        except Unclear:
            sender.close()
            sender = worker.new_sender(is_transactional=True)
        worker.pause()
    if sender is not None:
        sender.close()
    reader.close()


def transform(worker: Worker) -> None:
    """Consume, transform, produce: one output for each input, offsets in the transaction."""
    reader = worker.client.member(GROUP, INPUT)
    sender = worker.new_sender(is_transactional=True)
    while sender is not None and not worker.is_stopping():
        work = _Transaction(worker, sender, worker.next_value())
        try:
            records = work.poll(reader, subscribed=True)
            if records:
                work.begin()
                work.send(OUTPUT, [value for *_, value in records])
                work.send_offsets(records, reader)
                if not work.end():
                    _rewind(worker, reader)
        except Unclear:
            sender.close()
            sender = worker.new_sender(is_transactional=True)
            _rewind(worker, reader)
    if sender is not None:
        sender.close()
    reader.close()


def _rewind(worker: Worker, reader: Reader) -> None:
    asked_ms = now_ms()
    offsets = reader.rewind()
    moved = Moved(process=worker.name)
    fetched = OffsetsFetched(
        process=worker.name,
        group=GROUP,
        offsets=tuple(offsets),
        stable=True,
        asked_ms=asked_ms,
        at_ms=now_ms(),
    )
    worker.journal.after(moved, fetched)


def send_plainly(worker: Worker, *, idempotent: bool) -> None:
    """Records outside of transactions, between those of the others."""
    sender = worker.new_sender(is_transactional=False, idempotent=idempotent)
    while sender is not None and not worker.is_stopping():
        values = [worker.next_value() for _ in range(worker.rng.randint(1, RECORDS_MAX))]
        announced = [
            Send(process=worker.process, value=value, idempotent=idempotent) for value in values
        ]
        worker.journal.before(*announced)
        try:
            for value in values:
                _hand_over(worker, sender, INPUT, value)
            sender.wait(OUTSTANDING_MAX)
        except Unclear:
            sender.close()
            sender = worker.new_sender(is_transactional=False, idempotent=idempotent)
        worker.pause(PLAIN_PAUSE_SECONDS_MAX)
    if sender is not None:
        sender.wait(0)
        sender.close()


def tail(worker: Worker, *, read_committed: bool) -> None:
    """Read everything as it comes, with assigned partitions."""
    reader = worker.client.assigned(TOPICS, read_committed=read_committed)
    while not worker.is_stopping():
        records = reader.poll(500)
        if records:
            poll = Poll(
                process=worker.name,
                records=tuple(records),
                subscribed=False,
                read_committed=read_committed,
                at_ms=now_ms(),
            )
            worker.journal.after(poll)
    reader.close()


def _hand_over(worker: Worker, sender: Sender, topic: str, value: str) -> None:
    partition = worker.rng.randrange(PARTITION_COUNT)

    def acked(offset: int | None) -> None:
        event = Acked(value=value, topic=topic, partition=partition, offset=offset, at_ms=now_ms())
        worker.journal.after(event)

    try:
        sender.send(topic, partition, value, acked)
    except NotSent:
        worker.journal.after(Refused(value=value))


@final
class _Transaction:
    """One transaction of a worker, written down step by step.

    After a failure that an abort mends, the steps that are left do nothing and ``end`` aborts.
    """

    def __init__(self, worker: Worker, sender: Sender, name: str) -> None:
        self._worker = worker
        self._sender = sender
        self._name = name
        self._has_failed = False

    def begin(self) -> None:
        worker = self._worker
        event = Begun(process=worker.process, transaction=self._name, at_ms=now_ms())
        worker.journal.after(event)
        self._try(self._sender.begin)

    def send(self, topic: str, sources: Sequence[str | None]) -> None:
        """A record for each of *sources*, on a random partition."""
        if self._has_failed:
            return
        worker = self._worker
        announced = [
            Send(
                process=worker.process,
                value=worker.next_value(),
                idempotent=True,
                transaction=self._name,
                source=source,
            )
            for source in sources
        ]
        worker.journal.before(*announced)
        for event in announced:
            _hand_over(worker, self._sender, topic, event.value)

    def poll(self, reader: Reader, *, subscribed: bool) -> list[PolledRecord]:
        records = reader.poll(RECORDS_MAX)
        event = Poll(
            process=self._worker.name,
            records=tuple(records),
            subscribed=subscribed,
            rebalanced=reader.has_rebalanced(),
            transaction=self._name,
            at_ms=now_ms(),
        )
        if records:
            self._worker.journal.after(event)
        return records

    def send_offsets(self, records: Sequence[PolledRecord], reader: Reader) -> None:
        """The offsets behind *records*."""
        if self._has_failed:
            return
        ends: dict[tuple[str, int], int] = {}
        for topic, partition, offset, _ in records:
            ends[topic, partition] = offset + 1
        offsets = tuple((topic, partition, end) for (topic, partition), end in ends.items())
        event = OffsetsSent(
            process=self._worker.name,
            group=GROUP,
            offsets=offsets,
            transaction=self._name,
            at_ms=now_ms(),
        )
        self._worker.journal.before(event)
        self._try(lambda: self._sender.send_offsets(offsets, reader))

    def end(self) -> bool:
        """Whether it is committed. Raises Unclear when nobody told."""
        journal = self._worker.journal
        if not self._has_failed and self._worker.rng.random() >= ABORT_SHARE:
            journal.before(Committing(transaction=self._name, at_ms=now_ms()))
            self._try(self._sender.commit)
            if not self._has_failed:
                journal.after(Committed(transaction=self._name, at_ms=now_ms()))
                return True
        self._sender.abort()
        journal.after(Aborted(transaction=self._name, at_ms=now_ms()))
        return False

    def _try(self, act: Callable[[], None]) -> None:
        try:
            act()
        except MustAbort:
            self._has_failed = True
