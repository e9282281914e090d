"""Producers are judged as Kafka judges them: duplicates found, gaps refused, transactions told."""

from pathlib import Path

import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.kernel.errors import ApiError, ErrorCode
from headwater.core_log.records.batch import SEQUENCE_MAX, Batch, CorruptBatch, patch, read_batch
from headwater.core_log.records.control import (
    ControlType,
    EndTxnMarker,
    build_control_batch,
    build_end_txn_batch,
)
from headwater.core_log.records.record import NewRecord, build_batch
from headwater.core_log.storage.aborted import AbortedTransaction
from headwater.core_log.storage.producers import (
    ACCEPT,
    BATCHES_REMEMBERED,
    ActiveProducer,
    CompletedTransaction,
    Duplicate,
    ProducerStates,
    SnapshotCorrupt,
)

DATA = Path(__file__).parent / "data"
KAFKA_SNAPSHOT = (DATA / "kafka-4.3.snapshot").read_bytes()
DAY_MS = 86_400_000
PRODUCER = 7


def data_batch(
    sequence: int,
    count: int = 1,
    *,
    producer_id: int = PRODUCER,
    epoch: int = 0,
    is_transactional: bool = False,
    timestamp_ms: int = 0,
) -> Batch:
    return read_batch(
        build_batch(
            [NewRecord(timestamp_ms=timestamp_ms, value=b"v")] * count,
            producer_id=producer_id,
            producer_epoch=epoch,
            base_sequence=sequence,
            is_transactional=is_transactional,
        )
    )


def marker_batch(
    control: ControlType = ControlType.ABORT,
    *,
    producer_id: int = PRODUCER,
    epoch: int = 0,
    coordinator_epoch: int = 0,
) -> Batch:
    return read_batch(
        build_end_txn_batch(
            EndTxnMarker(type=control, coordinator_epoch=coordinator_epoch),
            producer_id=producer_id,
            producer_epoch=epoch,
            timestamp_ms=0,
        )
    )


class Log:
    """As much of a log as producers need: offsets."""

    def __init__(self, states: ProducerStates | None = None) -> None:
        self.states = ProducerStates() if states is None else states
        self.end_offset = 0

    def append(self, batch: Batch, *, now_ms: int = 0) -> CompletedTransaction | None:
        """Put the batch at the end, asking nobody."""
        patch(batch, base_offset=self.end_offset, leader_epoch=0)
        self.end_offset = batch.next_offset
        completed = self.states.update(batch, now_ms=now_ms)
        self.states.check_invariants()
        return completed

    def send(self, batch: Batch, *, now_ms: int = 0) -> str:
        """What a client would be told."""
        try:
            verdict = self.states.check(batch)
        except ApiError as error:
            return error.code.name
        if isinstance(verdict, Duplicate):
            return f"duplicate {verdict.base_offset} {verdict.last_offset}"
        assert verdict is ACCEPT
        offset = self.end_offset
        self.append(batch, now_ms=now_ms)
        return f"append {offset}"


def test_kafka_s_own_verdicts() -> None:
    """600 steps recorded from Kafka 4.3: the same verdicts, transactions and producers."""
    *steps, _, _, _, _ = lines = (DATA / "kafka-4.3-producers.txt").read_text().splitlines()
    log, high_watermark = Log(), 0

    for step in steps:
        action, _, answer = step.partition(" -> ")
        match action.split():
            case ["data", producer_id, epoch, sequence, count, is_transactional]:
                got = log.send(
                    data_batch(
                        int(sequence),
                        int(count),
                        producer_id=int(producer_id),
                        epoch=int(epoch),
                        is_transactional=is_transactional == "1",
                    )
                )
            case ["marker", *fields]:
                got = send_marker(log, *fields)
            case ["hw", offset]:
                got, high_watermark = "ok", int(offset)
            case ["reload", offset]:
                got, high_watermark = "ok", int(offset)
                log.states.load_snapshot(log.states.encode_snapshot(), now_ms=0)
            case _:
                raise AssertionError(step)
        unstable = log.states.first_unstable_offset(high_watermark)
        assert f"{got} unstable {'none' if unstable is None else unstable}" == answer, step

    assert lines[len(steps) :] == [
        f"producer {p.producer_id} {p.producer_epoch} {p.last_sequence} {p.coordinator_epoch} "
        f"{p.current_txn_start_offset}"
        for p in log.states.active()
    ]


def send_marker(
    log: Log, producer_id: str, epoch: str, coordinator_epoch: str, control: str, version: str
) -> str:
    try:
        log.states.check_marker(
            producer_id=int(producer_id),
            producer_epoch=int(epoch),
            coordinator_epoch=int(coordinator_epoch),
            transaction_version=int(version),
        )
    except ApiError as error:
        return error.code.name
    offset = log.end_offset
    completed = log.append(
        marker_batch(
            ControlType[control.upper()],
            producer_id=int(producer_id),
            epoch=int(epoch),
            coordinator_epoch=int(coordinator_epoch),
        )
    )
    if completed is None:
        return f"append {offset}"
    assert completed.is_aborted == (control == "abort")
    assert completed.producer_id == int(producer_id)
    return (
        f"append {offset} completed {completed.first_offset} {completed.last_offset} "
        f"{completed.last_stable_offset}"
    )


def test_plain_batches_are_nobody_s() -> None:
    """A batch without a producer id is accepted and leaves no trace."""
    log = Log()

    assert log.send(read_batch(build_batch([NewRecord(timestamp_ms=0)]))) == "append 0"
    assert len(log.states) == 0


def test_the_last_five_batches_are_known_again() -> None:
    """A retry of one of them gets its old offsets; an older one is out of order."""
    log = Log()
    for sequence in range(0, 14, 2):
        log.send(data_batch(sequence, 2))

    again = [log.send(data_batch(sequence, 2)) for sequence in range(0, 14, 2)]

    assert BATCHES_REMEMBERED == 5
    assert again == ["OUT_OF_ORDER_SEQUENCE_NUMBER"] * 2 + [
        f"duplicate {offset} {offset + 1}" for offset in range(4, 14, 2)
    ]


def test_a_duplicate_tells_its_timestamp() -> None:
    """With LogAppendTime the retry is answered with the time of the first append."""
    log = Log()
    log.append(data_batch(0, timestamp_ms=123))

    verdict = log.states.check(data_batch(0, timestamp_ms=456))

    assert verdict == Duplicate(base_offset=0, last_offset=0, timestamp_ms=123)


@pytest.mark.parametrize(("sequence", "count"), [(0, 2), (1, 1), (0, 1)])
def test_part_of_a_batch_is_no_duplicate(sequence: int, count: int) -> None:
    """Both ends of the sequences must be those of one batch."""
    log = Log()
    log.send(data_batch(0, 3))

    assert log.send(data_batch(sequence, count)) == "OUT_OF_ORDER_SEQUENCE_NUMBER"


def test_sequences_wrap_around() -> None:
    """After 2^31-1 comes 0, between batches and within one, and retries are still found."""
    log = Log()

    assert log.send(data_batch(SEQUENCE_MAX - 1, 2)) == "append 0"
    assert log.send(data_batch(0, 1)) == "append 2"
    assert log.send(data_batch(SEQUENCE_MAX - 1, 2)) == "duplicate 0 1"

    log = Log()
    assert log.send(data_batch(SEQUENCE_MAX - 1, 4)) == "append 0"
    assert log.send(data_batch(2)) == "append 4"
    assert log.send(data_batch(SEQUENCE_MAX - 1, 4)) == "duplicate 0 3"
    assert log.send(data_batch(0)) == "OUT_OF_ORDER_SEQUENCE_NUMBER"


def test_an_unknown_producer_may_begin_anywhere() -> None:
    """Its records may have expired or been deleted here; it goes on where it is."""
    log = Log()

    assert log.send(data_batch(40)) == "append 0"
    assert log.send(data_batch(42)) == "OUT_OF_ORDER_SEQUENCE_NUMBER"


def test_a_raised_epoch_begins_at_zero_and_fences_the_old_one() -> None:
    """KIP-360: the new instance starts over, and what the old one sends is refused."""
    log = Log()
    log.send(data_batch(0))

    assert log.send(data_batch(1, epoch=1)) == "OUT_OF_ORDER_SEQUENCE_NUMBER"
    assert log.send(data_batch(0, epoch=1)) == "append 1"
    assert log.send(data_batch(1, epoch=0)) == "INVALID_PRODUCER_EPOCH"
    assert log.send(data_batch(0, epoch=0)) == "INVALID_PRODUCER_EPOCH"
    assert log.send(data_batch(0, epoch=1)) == "duplicate 1 1"


def test_a_plain_batch_within_a_transaction_is_refused() -> None:
    """Its records would be neither committed nor aborted."""
    log = Log()
    log.send(data_batch(0, is_transactional=True))

    assert log.send(data_batch(1)) == "INVALID_TXN_STATE"
    assert log.send(data_batch(1, is_transactional=True)) == "append 1"


def test_a_transaction_keeps_the_log_unstable_until_its_marker_is_replicated() -> None:
    """Readers of committed records stop before the first record that is not decided for good."""
    log = Log()
    log.append(data_batch(0, producer_id=1))
    log.append(data_batch(0, producer_id=2, is_transactional=True))
    log.append(data_batch(0, producer_id=3, is_transactional=True))
    unstable = log.states.first_unstable_offset

    assert unstable(3) == 1

    completed = log.append(marker_batch(ControlType.ABORT, producer_id=2, coordinator_epoch=4))
    assert completed == CompletedTransaction(
        producer_id=2, first_offset=1, last_offset=3, last_stable_offset=2, is_aborted=True
    )
    assert completed.index_entry() == AbortedTransaction(
        producer_id=2, first_offset=1, last_offset=3, last_stable_offset=2
    )
    assert [unstable(3), unstable(4)] == [1, 2]

    completed = log.append(marker_batch(ControlType.COMMIT, producer_id=3))
    assert completed is not None
    assert (completed.is_aborted, completed.last_stable_offset) == (False, 5)
    assert [unstable(4), unstable(5)] == [2, None]


def test_a_marker_that_kafka_s_cleaner_has_emptied_says_nothing() -> None:
    """Its batch stays, without a record, while the producer is remembered."""
    log = Log()
    log.send(data_batch(0, is_transactional=True))
    emptied = marker_batch()
    emptied.view[57:61] = (0).to_bytes(4)
    emptied = read_batch(emptied.view)
    assert emptied.record_count == 0
    assert log.append(emptied) is None
    assert log.states.first_unstable_offset(10) == 0


def test_the_last_record_s_own_time_is_shown_whenever_it_was_read() -> None:
    """Recovery reads batches long after they were written."""
    log = Log()
    log.append(data_batch(0, timestamp_ms=5), now_ms=9 * DAY_MS)
    (shown,) = log.states.active()
    assert shown.last_timestamp_ms == 5


def test_a_marker_for_nothing_leaves_only_its_epochs() -> None:
    """A transaction need not have written to every partition it named."""
    log = Log()

    assert log.append(marker_batch(epoch=3, coordinator_epoch=9)) is None
    assert log.states.first_unstable_offset(0) is None
    assert log.states.active() == [
        ActiveProducer(
            producer_id=PRODUCER,
            producer_epoch=3,
            last_sequence=-1,
            last_timestamp_ms=0,
            coordinator_epoch=9,
            current_txn_start_offset=-1,
        )
    ]
    assert log.send(data_batch(1, epoch=3)) == "OUT_OF_ORDER_SEQUENCE_NUMBER"
    assert log.send(data_batch(0, epoch=3)) == "append 1"


@pytest.mark.parametrize(
    ("version", "epoch", "code"),
    [
        (1, 4, ErrorCode.INVALID_PRODUCER_EPOCH),
        (1, 5, None),
        (1, 6, None),
        (2, 4, ErrorCode.INVALID_PRODUCER_EPOCH),
        (2, 5, ErrorCode.INVALID_PRODUCER_EPOCH),
        (2, 6, None),
    ],
)
def test_a_marker_s_epoch_ends_the_transaction(
    version: int, epoch: int, code: ErrorCode | None
) -> None:
    """KIP-890: from version 2 on, the marker's epoch is above that of the records."""
    log = Log()
    log.append(data_batch(0, epoch=5, is_transactional=True))

    def check() -> None:
        log.states.check_marker(
            producer_id=PRODUCER,
            producer_epoch=epoch,
            coordinator_epoch=0,
            transaction_version=version,
        )

    if code is None:
        check()
        return
    with pytest.raises(ApiError) as caught:
        check()
    assert caught.value.code is code


def test_a_marker_of_the_last_epoch_has_none_above_it() -> None:
    """KIP-890: epoch 32767 ends its own transaction, since it cannot be raised."""
    log = Log()
    log.append(data_batch(0, epoch=2**15 - 1, is_transactional=True))

    log.states.check_marker(
        producer_id=PRODUCER,
        producer_epoch=2**15 - 1,
        coordinator_epoch=0,
        transaction_version=2,
    )


def test_an_old_coordinator_is_fenced() -> None:
    """Who lost the coordination of a transaction does not end it."""
    log = Log()
    log.append(marker_batch(coordinator_epoch=4))

    def check(coordinator_epoch: int) -> None:
        log.states.check_marker(
            producer_id=PRODUCER, producer_epoch=0, coordinator_epoch=coordinator_epoch
        )

    check(4)
    with pytest.raises(ApiError) as caught:
        check(3)
    assert caught.value.code is ErrorCode.TRANSACTION_COORDINATOR_FENCED


def test_control_batches_of_the_raft_layer_are_nobody_s() -> None:
    """They have no producer, so nothing is remembered; a producer's must hold a marker."""
    log = Log()
    leader_change = [(ControlType.LEADER_CHANGE, b"")]

    log.append(read_batch(build_control_batch(leader_change, timestamp_ms=0)))
    assert len(log.states) == 0
    with pytest.raises(CorruptBatch):
        log.append(
            read_batch(
                build_control_batch(leader_change, timestamp_ms=0, producer_id=1, producer_epoch=0)
            )
        )


@pytest.mark.parametrize(("idle_ms", "expired"), [(DAY_MS - 1, 0), (DAY_MS, 1), (DAY_MS + 1, 1)])
def test_idle_producers_expire_by_the_broker_s_clock(idle_ms: int, expired: int) -> None:
    """However old its records are, a producer that writes now is remembered for a day."""
    log = Log()
    log.append(data_batch(0, timestamp_ms=1), now_ms=10 * DAY_MS)

    assert log.states.remove_expired(10 * DAY_MS + idle_ms) == expired
    assert len(log.states) == 1 - expired


def test_an_open_transaction_does_not_expire() -> None:
    """Forgetting its start would let readers pass it."""
    log = Log()
    log.append(data_batch(0, is_transactional=True))

    assert log.states.remove_expired(100 * DAY_MS) == 0
    assert log.states.first_unstable_offset(1) == 0
    log.append(marker_batch(), now_ms=100 * DAY_MS)
    assert log.states.remove_expired(101 * DAY_MS) == 1


def test_a_snapshot_written_by_kafka_is_read_and_written() -> None:
    """The bytes are Kafka's, and so is what they say."""
    states = ProducerStates()

    states.load_snapshot(KAFKA_SNAPSHOT, now_ms=6000)

    states.check_invariants()
    assert states.encode_snapshot() == KAFKA_SNAPSHOT
    assert [
        (p.producer_id, p.producer_epoch, p.last_sequence, p.last_timestamp_ms)
        for p in states.active()
    ] == [(77, 3, 1, 5000), (78, 0, 0, 5001), (79, 1, -1, 5002)]
    assert [p.coordinator_epoch for p in states.active()] == [6, -1, 2]
    assert states.first_unstable_offset(100) == 9
    # The batch of producer 77 has sequences 2^31-1 to 1 at offsets 9 to 11.
    duplicate = states.check(data_batch(SEQUENCE_MAX, 3, producer_id=77, epoch=3))
    assert duplicate == Duplicate(base_offset=9, last_offset=11, timestamp_ms=5000)


def test_expired_producers_are_left_in_the_snapshot() -> None:
    """Those that were idle too long when it is loaded are left out, open transactions are not."""
    states = ProducerStates(expiration_ms=1000)

    states.load_snapshot(KAFKA_SNAPSHOT, now_ms=6001)

    assert [p.producer_id for p in states.active()] == [78, 79]


def test_loading_replaces_what_was_known() -> None:
    """Nothing of the time before shines through, no open transaction either."""
    log = Log()
    empty = log.states.encode_snapshot()
    log.append(data_batch(0, is_transactional=True))
    log.append(data_batch(0, producer_id=8, is_transactional=True))
    log.append(marker_batch(producer_id=8))

    log.states.load_snapshot(empty, now_ms=0)

    assert len(log.states) == 0
    assert log.states.first_unstable_offset(0) is None
    assert repr(log.states) == "<ProducerStates 0 producers, 0 open>"


@given(cut=st.integers(0, len(KAFKA_SNAPSHOT) - 1))
def test_a_cut_snapshot_is_refused(cut: int) -> None:
    """No prefix passes for the whole."""
    with pytest.raises(SnapshotCorrupt):
        ProducerStates().load_snapshot(KAFKA_SNAPSHOT[:cut], now_ms=0)


@given(byte=st.integers(0, len(KAFKA_SNAPSHOT) - 1), bit=st.integers(0, 7))
def test_a_flipped_bit_in_a_snapshot_is_found_and_changes_nothing(byte: int, bit: int) -> None:
    """Version and checksum cover every byte, and the state stays as it was."""
    states = ProducerStates()
    states.load_snapshot(KAFKA_SNAPSHOT, now_ms=0)
    damaged = bytearray(KAFKA_SNAPSHOT)
    damaged[byte] ^= 1 << bit

    with pytest.raises(SnapshotCorrupt):
        states.load_snapshot(damaged, now_ms=0)

    assert states.encode_snapshot() == KAFKA_SNAPSHOT


def test_a_snapshot_of_the_wrong_length_is_refused() -> None:
    """A true checksum over a count that lies does not help."""
    empty = ProducerStates().encode_snapshot()
    whole = KAFKA_SNAPSHOT

    assert len(empty) == 10
    for forged in (empty[:6] + b"\x00\x00\x00\x01", whole[:6] + b"\x7f\xff\xff\xff" + whole[10:]):
        with pytest.raises(SnapshotCorrupt):
            ProducerStates().load_snapshot(resealed(forged), now_ms=0)


def resealed(snapshot: bytes) -> bytes:
    return snapshot[:2] + crc32c(snapshot[6:]).to_bytes(4, "big") + snapshot[6:]


# What an honest client does next: a new batch, or again one that it has sent, as if the answer was
# lost; now and then the broker restarts from its snapshot.
ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("new"), st.integers(1, 3)),
        st.tuples(st.just("again"), st.integers(1, BATCHES_REMEMBERED)),
        st.tuples(st.just("restart"), st.just(0)),
    ),
    max_size=25,
)


@given(actions=ACTIONS, first_sequence=st.sampled_from([0, 1, SEQUENCE_MAX - 3, SEQUENCE_MAX]))
def test_an_honest_client_never_writes_twice(
    actions: list[tuple[str, int]], first_sequence: int
) -> None:
    """The model is a list of what was sent; the log holds each once, retries get its offsets."""
    log = Log()
    sent: list[tuple[int, int, int]] = []  # sequence, count, offset
    known = 0  # so many of the last may be sent again
    sequence = first_sequence
    for action, number in actions:
        if action == "new":
            assert log.send(data_batch(sequence, number)) == f"append {log.end_offset - number}"
            sent.append((sequence, number, log.end_offset - number))
            sequence = (sequence + number) & SEQUENCE_MAX
            known = min(known + 1, BATCHES_REMEMBERED)
        elif action == "again" and number <= known:
            old, count, offset = sent[-number]
            assert log.send(data_batch(old, count)) == f"duplicate {offset} {offset + count - 1}"
        elif action == "restart":
            log.states.load_snapshot(log.states.encode_snapshot(), now_ms=0)
            known = min(known, 1)  # a snapshot holds one batch of each producer
    assert log.end_offset == sum(count for _, count, _ in sent)
