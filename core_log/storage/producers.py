"""What a partition remembers of its producers: sequences, epochs, open transactions.

Pure. It finds duplicates and gaps of idempotent producers (KIP-98, KIP-360), knows where the
first undecided transaction begins, and reads and writes Kafka's ``.snapshot`` files::

    0   2  version  1
    2   4  crc      CRC-32C of everything behind it
    6   4  number of producers, then for each:
        8  producer_id
        2  producer_epoch
        4  last_sequence               -1 when no batch is remembered
        8  last_offset                 -1 likewise
        4  offset_delta                of that batch: its first offset is last_offset less this
        8  timestamp                   milliseconds
        4  coordinator_epoch           -1 when no marker was seen
        8  current_txn_start_offset    -1 when no transaction is open

Big-endian. A snapshot holds one batch of each producer, so that after a restart one duplicate is
recognised, and five while the process lives; so it is in Kafka.

One deviation: a producer expires by the broker's clock since its last write, not by the
timestamps of its records. A producer that loads last year's data would otherwise be forgotten
within minutes, and with it the guard against duplicates.
"""

from dataclasses import dataclass
from struct import Struct
from typing import Final, NamedTuple, TypeAlias, final

from crc32c import crc32c

from ..kernel.errors import ApiError, ErrorCode
from ..kernel.ids import NO_OFFSET, NO_SEQUENCE, NO_TIMESTAMP
from ..kernel.ports import Buffer
from ..records.batch import SEQUENCE_MAX, Batch
from ..records.control import ControlType, EndTxnMarker, read_end_txn_marker
from .aborted import AbortedTransaction

BATCHES_REMEMBERED: Final = 5
"""A client may have this many batches in flight, so a duplicate is at most so far back."""

EXPIRATION_MS_DEFAULT: Final = 86_400_000
"""``producer.id.expiration.ms``."""

NO_COORDINATOR_EPOCH: Final = -1
SNAPSHOT_VERSION: Final = 1

TRANSACTION_VERSION_2: Final = 2
"""From here on every transaction ends under a raised epoch (KIP-890)."""

_SNAPSHOT_HEADER: Final = Struct(">hI")
_INT32: Final = Struct(">i")
_SNAPSHOT_ENTRY: Final = Struct(">qhiqiqiq")
_EPOCH_MAX: Final = 2**15 - 1


class SnapshotCorrupt(ValueError):
    """``reason`` says what is wrong with a producer snapshot; the log can be read instead."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason: Final = reason


@dataclass(frozen=True, slots=True)
class Accept:
    """The batch is the next one; append it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """The batch is in the log already, here."""

    base_offset: int
    last_offset: int
    timestamp_ms: int


Verdict: TypeAlias = Accept | Duplicate
ACCEPT: Final = Accept()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletedTransaction:
    """A marker ended the transaction with records from ``first_offset`` on."""

    producer_id: int
    first_offset: int
    last_offset: int  # the marker's
    last_stable_offset: int  # what was undecided first once it had ended
    is_aborted: bool

    def index_entry(self) -> AbortedTransaction:
        """What the transaction index keeps of it; meant for aborted ones."""
        return AbortedTransaction(
            producer_id=self.producer_id,
            first_offset=self.first_offset,
            last_offset=self.last_offset,
            last_stable_offset=self.last_stable_offset,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveProducer:
    """One producer as DescribeProducers shows it; -1 stands for nothing."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp_ms: int
    coordinator_epoch: int
    current_txn_start_offset: int


class LastBatch(NamedTuple):
    """Where a producer's last batch of its newest epoch ends; -1 when it sent none."""

    producer_id: int
    producer_epoch: int
    last_offset: int


_SentBatch: TypeAlias = tuple[int, int, int, int, int]
"""First and last sequence, last offset, offset delta, timestamp. A bare tuple: one per batch."""

_NO_BATCH: Final[_SentBatch] = (NO_SEQUENCE, NO_SEQUENCE, NO_OFFSET, 0, NO_TIMESTAMP)


@final
class _Producer:
    __slots__ = ("batches", "coordinator_epoch", "epoch", "last_used_ms", "txn_start_offset")

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.batches: list[_SentBatch] = []  # of this epoch, oldest first, at most five
        self.coordinator_epoch = NO_COORDINATOR_EPOCH
        self.last_used_ms = NO_TIMESTAMP
        self.txn_start_offset: int = NO_OFFSET


@final
class ProducerStates:
    """The producers of one partition log.

    The owner asks ``check`` before a leader's append and calls ``update`` for every batch that
    stands in the log, whether it was appended, replicated or read again at recovery.

    Invariants: at most five batches per producer, all of its epoch; ``_open`` holds exactly the
    producers that have a transaction start, in order of it.
    """

    __slots__ = ("_open", "_producers", "_undecided", "expiration_ms")

    def __init__(self, *, expiration_ms: int = EXPIRATION_MS_DEFAULT) -> None:
        self.expiration_ms = expiration_ms
        self._producers: dict[int, _Producer] = {}
        # First offset -> producer id. Insertion order is offset order: logs grow at the end.
        self._open: dict[int, int] = {}
        # First offset -> marker offset, of transactions whose marker may not be replicated yet.
        self._undecided: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._producers)

    def __repr__(self) -> str:
        return f"<ProducerStates {len(self._producers)} producers, {len(self._open)} open>"

    def check(self, batch: Batch) -> Verdict:
        """Whether a client's data batch is the producer's next one or one that is here already.

        A producer the partition knows nothing of, since it is new, expired or its records are
        deleted, may begin at any sequence; a raised epoch begins at 0. A batch is a duplicate when
        it has the epoch and both sequences of one of the last five.

        Raises ApiError: INVALID_PRODUCER_EPOCH below the known epoch, OUT_OF_ORDER_SEQUENCE_NUMBER
        for a gap and for a duplicate older than the last five, INVALID_TXN_STATE for a plain batch
        within an open transaction.
        """
        producer_id = batch.producer_id
        if producer_id < 0:
            return ACCEPT
        producer = self._producers.get(producer_id)
        if producer is None:
            return ACCEPT
        sequence = batch.base_sequence
        if batch.producer_epoch == producer.epoch:
            batches = producer.batches
            if sequence == NO_SEQUENCE:  # a coordinator's; clients' batches are numbered
                return ACCEPT
            last = batches[-1][1] if batches else NO_SEQUENCE
            if sequence != last + 1 and (sequence != 0 or last != SEQUENCE_MAX):
                return _find_duplicate(batch, batches)
        elif batch.producer_epoch < producer.epoch:
            raise _old_epoch(batch.producer_id, batch.producer_epoch, producer.epoch)
        elif sequence > 0:
            raise ApiError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"producer {producer_id} begins epoch {batch.producer_epoch} at sequence "
                f"{sequence}; an epoch above the known {producer.epoch} begins at 0",
            )
        if producer.txn_start_offset != NO_OFFSET and not batch.is_transactional:
            raise ApiError(
                ErrorCode.INVALID_TXN_STATE,
                f"producer {producer_id} has a transaction open since offset "
                f"{producer.txn_start_offset}; its batches must be transactional until it ends",
            )
        return ACCEPT

    def check_marker(
        self,
        *,
        producer_id: int,
        producer_epoch: int,
        coordinator_epoch: int,
        transaction_version: int = 0,
    ) -> None:
        """Return when a coordinator may end the producer's transaction here with this marker.

        From transaction version 2 on the marker's epoch is above that of the transaction's
        batches; the same epoch is a repeated marker, fine when no transaction is open any more.

        Raises ApiError: INVALID_PRODUCER_EPOCH for a marker that is too old,
        TRANSACTION_COORDINATOR_FENCED when a newer coordinator has written one already.
        """
        producer = self._producers.get(producer_id)
        if producer is None:
            return
        lowest = producer.epoch + (transaction_version >= TRANSACTION_VERSION_2)
        if producer_epoch < lowest and not (
            producer_epoch == producer.epoch
            and (producer.txn_start_offset == NO_OFFSET or producer_epoch == _EPOCH_MAX)
        ):
            raise _old_epoch(producer_id, producer_epoch, producer.epoch)
        if coordinator_epoch < producer.coordinator_epoch:
            raise ApiError(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"a coordinator of epoch {producer.coordinator_epoch} has ended a transaction of "
                f"producer {producer_id}; this marker is of epoch {coordinator_epoch}",
            )

    def knows(self, producer_id: int) -> bool:
        """The producer has written here, and neither expiry nor deletion has made it forgotten."""
        return producer_id in self._producers

    def has_open_transaction(self, producer_id: int, producer_epoch: int) -> bool:
        """A transaction of the producer, of that epoch, has records here and no marker yet."""
        producer = self._producers.get(producer_id)
        return (
            producer is not None
            and producer.txn_start_offset != NO_OFFSET
            and producer.epoch == producer_epoch
        )

    def late_transactions(self, *, since_ms: int) -> int:
        """How many open transactions have had no record since then."""
        return sum(
            self._producers[producer_id].last_used_ms < since_ms
            for producer_id in self._open.values()
        )

    def update(self, batch: Batch, *, now_ms: int) -> CompletedTransaction | None:
        """Take over a batch that stands in the log; the transaction it ended, when it is a marker.

        The log is the truth: nothing is checked. Raises CorruptBatch when the batch is a producer's
        control batch and holds no transaction marker.
        """
        producer_id = batch.producer_id
        if producer_id < 0:
            return None
        if batch.is_control:
            if not batch.record_count:
                return None  # Kafka's cleaner leaves such a batch of a marker that nobody needs
            return self._end_transaction(batch, read_end_txn_marker(batch), now_ms)
        producer = self._producer(producer_id, batch.producer_epoch)
        batches = producer.batches
        if len(batches) == BATCHES_REMEMBERED:
            del batches[0]
        delta = batch.last_offset_delta
        last_offset = batch.base_offset + delta
        batches.append(
            (batch.base_sequence, batch.last_sequence, last_offset, delta, batch.max_timestamp)
        )
        producer.last_used_ms = now_ms
        if batch.is_transactional and producer.txn_start_offset == NO_OFFSET:
            producer.txn_start_offset = batch.base_offset
            self._open[batch.base_offset] = producer_id
        return None

    def first_unstable_offset(self, high_watermark: int) -> int | None:
        """Where the earliest transaction begins that is open, or whose marker may still be lost.

        The last stable offset is this, bounded by log start and high watermark. None when every
        transaction is decided.
        """
        undecided = self._undecided
        for first_offset in [first for first, last in undecided.items() if last < high_watermark]:
            del undecided[first_offset]
        first_open = next(iter(self._open), None)
        if not undecided:
            return first_open
        first_undecided = min(undecided)
        return first_undecided if first_open is None else min(first_open, first_undecided)

    def remove_expired(self, now_ms: int) -> int:
        """Forget producers idle for ``expiration_ms`` that have no open transaction; how many."""
        expired = [
            producer_id
            for producer_id, producer in self._producers.items()
            if producer.txn_start_offset == NO_OFFSET
            and now_ms - producer.last_used_ms >= self.expiration_ms
        ]
        for producer_id in expired:
            del self._producers[producer_id]
        return len(expired)

    def active(self) -> list[ActiveProducer]:
        """Every remembered producer, in order of producer id."""
        return [
            ActiveProducer(
                producer_id=producer_id,
                producer_epoch=producer.epoch,
                last_sequence=producer.batches[-1][1] if producer.batches else NO_SEQUENCE,
                last_timestamp_ms=(
                    producer.batches[-1][4] if producer.batches else producer.last_used_ms
                ),
                coordinator_epoch=producer.coordinator_epoch,
                current_txn_start_offset=producer.txn_start_offset,
            )
            for producer_id, producer in sorted(self._producers.items())
        ]

    def last_batches(self) -> list[LastBatch]:
        """What compaction must leave of every remembered producer."""
        return [
            LastBatch(
                producer_id, producer.epoch, producer.batches[-1][2] if producer.batches else -1
            )
            for producer_id, producer in self._producers.items()
        ]

    def clear(self) -> None:
        """Forget everything, before a snapshot is loaded or the log read again."""
        self._producers.clear()
        self._open.clear()
        self._undecided.clear()

    def encode_snapshot(self) -> bytes:
        """The content of a ``.snapshot`` file for the log as it ends now."""
        body = bytearray(_INT32.pack(len(self._producers)))
        for producer_id, producer in self._producers.items():
            _, last_sequence, last_offset, delta, _ = (
                producer.batches[-1] if producer.batches else _NO_BATCH
            )
            body += _SNAPSHOT_ENTRY.pack(
                producer_id,
                producer.epoch,
                last_sequence,
                last_offset,
                delta,
                producer.last_used_ms,
                producer.coordinator_epoch,
                producer.txn_start_offset,
            )
        return _SNAPSHOT_HEADER.pack(SNAPSHOT_VERSION, crc32c(body)) + body

    def load_snapshot(self, data: Buffer, *, now_ms: int) -> None:
        """Replace the state by a ``.snapshot`` file's, without the producers that have expired.

        Raises SnapshotCorrupt and changes nothing when the file is not whole, sound and of
        version 1.
        """
        entries = _decode_snapshot(data)
        self.clear()
        for (
            producer_id,
            epoch,
            sequence,
            last_offset,
            delta,
            timestamp,
            coordinator,
            start,
        ) in entries:
            producer = _Producer(epoch)
            producer.coordinator_epoch = coordinator
            producer.last_used_ms = timestamp
            producer.txn_start_offset = start
            if last_offset >= 0:
                first = (sequence - delta) & SEQUENCE_MAX
                producer.batches.append((first, sequence, last_offset, delta, timestamp))
            self._producers[producer_id] = producer
        opened = ((p.txn_start_offset, i) for i, p in self._producers.items())
        self._open = {first: i for first, i in sorted(opened) if first != NO_OFFSET}
        self.remove_expired(now_ms)

    def check_invariants(self) -> None:
        """Assert what the class promises about its state; simulation calls it after every event."""
        opened = {p.txn_start_offset: i for i, p in self._producers.items()}
        opened.pop(NO_OFFSET, None)
        assert self._open == opened
        assert list(self._open) == sorted(self._open)
        assert all(len(p.batches) <= BATCHES_REMEMBERED for p in self._producers.values())

    def _producer(self, producer_id: int, epoch: int) -> _Producer:
        producer = self._producers.get(producer_id)
        if producer is None:
            producer = self._producers[producer_id] = _Producer(epoch)
        elif producer.epoch != epoch:
            producer.epoch = epoch
            producer.batches.clear()
        return producer

    def _end_transaction(
        self, batch: Batch, marker: EndTxnMarker, now_ms: int
    ) -> CompletedTransaction | None:
        producer = self._producer(batch.producer_id, batch.producer_epoch)
        producer.coordinator_epoch = marker.coordinator_epoch
        producer.last_used_ms = now_ms
        first_offset = producer.txn_start_offset
        if first_offset == NO_OFFSET:
            return None  # a marker for a transaction that wrote nothing here
        producer.txn_start_offset = NO_OFFSET
        del self._open[first_offset]
        last_offset = batch.base_offset
        self._undecided[first_offset] = last_offset
        return CompletedTransaction(
            producer_id=batch.producer_id,
            first_offset=first_offset,
            last_offset=last_offset,
            last_stable_offset=next(iter(self._open), last_offset + 1),
            is_aborted=marker.type is ControlType.ABORT,
        )


def _find_duplicate(batch: Batch, batches: list[_SentBatch]) -> Duplicate:
    first, last = batch.base_sequence, batch.last_sequence
    for first_sequence, last_sequence, last_offset, delta, timestamp_ms in batches:
        if first_sequence == first and last_sequence == last:
            return Duplicate(
                base_offset=last_offset - delta, last_offset=last_offset, timestamp_ms=timestamp_ms
            )
    known = batches[-1][1] if batches else NO_SEQUENCE
    raise ApiError(
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        f"producer {batch.producer_id} sent sequences {first} to {last} after {known}; "
        f"its next batch begins at {(known + 1) & SEQUENCE_MAX}",
    )


def _old_epoch(producer_id: int, epoch: int, known: int) -> ApiError:
    return ApiError(
        ErrorCode.INVALID_PRODUCER_EPOCH,
        f"producer {producer_id} writes under epoch {epoch}, the partition has seen {known}; "
        "a newer instance has taken over",
    )


def _decode_snapshot(data: Buffer) -> list[tuple[int, ...]]:
    if len(data) < _SNAPSHOT_HEADER.size + _INT32.size:
        raise SnapshotCorrupt(f"{len(data)} bytes are too few for a header")
    version, crc = _SNAPSHOT_HEADER.unpack_from(data)
    if version != SNAPSHOT_VERSION:
        raise SnapshotCorrupt(f"its version is {version}, known is {SNAPSHOT_VERSION}")
    body = memoryview(data)[_SNAPSHOT_HEADER.size :]
    if crc32c(body) != crc:
        raise SnapshotCorrupt("its bytes do not match its CRC-32C")
    (count,) = _INT32.unpack_from(body)
    if len(body) != _INT32.size + count * _SNAPSHOT_ENTRY.size:
        raise SnapshotCorrupt(f"it promises {count} producers in {len(body)} bytes")
    return list(_SNAPSHOT_ENTRY.iter_unpack(body[_INT32.size :]))
