"""Cleaning against a child's notes: of each key the last record, and what readers may rely on."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.records.batch import TimestampType
from headwater.core_log.records.compression import Codec
from headwater.core_log.storage.compaction import survivors, windows
from headwater.core_log.storage.compaction.cleaner import clean
from headwater.core_log.storage.compaction.job import CleanStopped, Pace

from .logs import RETENTION_MS, CompactedLog

SMALL_MAP: int = 61 * 24
"""Room for 54 keys."""

KEYS = st.sampled_from([b"a", b"b", b"c", b"d", b"a longer key, of more than thirty-two bytes"])
VALUES = st.none() | st.sampled_from([b"", b"v", b"w" * 70])
PAIRS = st.lists(st.tuples(st.none() | KEYS | KEYS | KEYS, VALUES), min_size=1, max_size=5)
PRODUCERS = st.integers(0, 2)

STEPS = st.one_of(
    st.tuples(st.just("append"), PAIRS, st.sampled_from(Codec), st.sampled_from(TimestampType)),
    st.tuples(st.just("idempotent"), PAIRS, PRODUCERS),
    st.tuples(st.just("transact"), PAIRS, PRODUCERS),
    st.tuples(st.just("transact"), PAIRS, PRODUCERS),
    st.tuples(st.just("end"), PRODUCERS, st.booleans()),
    st.tuples(st.just("end"), PRODUCERS, st.booleans()),
    st.tuples(st.just("roll")),
    st.tuples(st.just("roll")),
    st.tuples(st.just("clean"), st.sampled_from([0, 1, RETENTION_MS - 1, RETENTION_MS])),
    st.tuples(st.just("clean"), st.sampled_from([0, 1, RETENTION_MS - 1, RETENTION_MS])),
)


@contextmanager
def small_steps() -> Iterator[None]:
    """Windows and portions of a few batches, so that a small log has several."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows, "WINDOW_BYTES_MIN", 300)
        patch.setattr(survivors, "UNPACKED_BYTES", 200)
        yield


def act(log: CompactedLog, step: tuple[object, ...]) -> None:
    match step:
        case ("append", list(pairs), Codec() as codec, TimestampType() as timestamp_type):
            log.append(pairs, codec=codec, timestamp_type=timestamp_type)
        case ("idempotent", list(pairs), int(producer_id)):
            log.append(pairs, producer_id=producer_id + 10)
        case ("transact", list(pairs), int(producer_id)):
            log.append(pairs, producer_id=producer_id, is_transactional=True)
        case ("end", int(producer_id), bool(is_commit)):
            log.end(producer_id, is_commit=is_commit)
        case ("roll",):
            log.roll()
        case ("clean", int(wait_ms)):
            log.clock.advance(wait_ms)
            before = log.read(committed=True)
            result = log.clean()
            assert result.fault is None
            assert result.clean_until_offset == log.end_offset
            check(log)
            latest = {record.key: record.value for record in before if record.key is not None}
            assert latest_of(log) == {k: v for k, v in latest.items() if v is not None}
        case _:
            raise AssertionError(step)


def latest_of(log: CompactedLog) -> dict[bytes, bytes]:
    """The table that a consumer of committed records builds."""
    table: dict[bytes, bytes] = {}
    for record in log.read(committed=True):
        if record.key is None:
            continue
        if record.value is None:
            table.pop(record.key, None)
        else:
            table[record.key] = record.value
    return table


def check(log: CompactedLog) -> None:
    assert log.read(committed=False) == log.expected()
    committed = {e.record.offset for e in log.noted if e.is_committed}
    below = [r for r in log.expected() if r.offset < log.last_stable_offset]
    assert log.read(committed=True) == [r for r in below if r.offset in committed]
    log.check_indexes()
    check_batches(log)


def check_batches(log: CompactedLog) -> None:
    """What those rely on who rebuild producers and transactions from the log."""
    batches = list(log.batches())
    offsets = [offset for batch in batches for offset in (batch.base_offset, batch.last_offset)]
    assert offsets == sorted(offsets)
    if log.clean_until:
        assert any(batch.last_offset + 1 == log.clean_until for batch in batches)
    last_offsets = {(batch.producer_id, batch.last_offset) for batch in batches}
    for producer in log.producers.values():
        if producer.last_data_offset >= 0:
            assert (producer.producer_id, producer.last_data_offset) in last_offsets
    control = {batch.base_offset for batch in batches if batch.is_control}
    for batch in batches:
        if batch.is_transactional and not batch.is_control:
            marker = log.marker_of(batch)
            assert marker is None or marker in control


@given(st.lists(STEPS, min_size=4, max_size=40))
def test_a_log_holds_what_its_notes_say_however_often_it_is_cleaned(
    steps: list[tuple[object, ...]],
) -> None:
    log = CompactedLog()
    with small_steps():
        for step in [*steps, ("roll",), ("clean", RETENTION_MS), ("clean", RETENTION_MS)]:
            act(log, step)


@given(st.lists(STEPS, min_size=4, max_size=30), st.integers(0, 2**20))
def test_cleaning_settles(steps: list[tuple[object, ...]], seed: int) -> None:
    """Without new records and without time, further cleanings change nothing."""
    log = CompactedLog(seed=seed)
    for step in [*steps, ("roll",), ("clean", 0)]:
        act(log, step)
    seen = log.read(committed=False)
    for _ in range(2):
        log.clean()
        assert log.read(committed=False) == seen
    files = log.files()
    log.clean()
    assert log.files() == files


@pytest.mark.slow
@given(st.integers(0, 2**20), st.integers(1, 90))
def test_a_full_map_ends_a_cleaning_early_and_the_next_goes_on(seed: int, key_count: int) -> None:
    rng = random.Random(seed)
    log = CompactedLog()
    for _ in range(40):
        log.append([(b"%d" % rng.randrange(key_count), b"v") for _ in range(rng.randrange(1, 9))])
        if rng.random() < 0.2:
            log.roll()
    log.roll()
    ends = []
    with small_steps():
        while log.clean_until < log.end_offset:
            ends.append(log.clean_until)
            log.clean(map_bytes_max=SMALL_MAP)
            assert log.read(committed=False) == log.expected()
            log.check_indexes()
            assert len(ends) < 100
    assert ends == sorted(set(ends))
    assert (len(ends) > 1) == (key_count_of(log) > 54)


def key_count_of(log: CompactedLog) -> int:
    return len({entry.record.key for entry in log.noted})


def test_a_batch_with_more_keys_than_the_map_holds_is_cleaned_all_the_same() -> None:
    log = CompactedLog()
    for batch in range(2):
        log.append([(b"%d" % (100 * batch + index), b"v") for index in range(200)])
        log.roll()
    first = log.clean(map_bytes_max=SMALL_MAP)
    assert first.clean_until_offset == 200
    assert [segment.replaces for segment in first.segments] == [(0,)]
    assert log.clean(map_bytes_max=SMALL_MAP).clean_until_offset == 400
    assert log.read(committed=False) == log.expected()


def test_a_reader_that_begins_in_time_sees_every_tombstone() -> None:
    log = CompactedLog()
    log.append([(b"a", b"1"), (b"b", b"1")])
    log.append([(b"a", None)])
    log.roll()
    log.clean()
    log.clock.advance(RETENTION_MS - 1)
    log.clean()
    assert [(r.key, r.value) for r in log.read(committed=True)] == [(b"b", b"1"), (b"a", None)]
    log.clock.advance(1)
    result = log.clean()
    assert [(r.key, r.value) for r in log.read(committed=True)] == [(b"b", b"1")]
    assert (result.stats.tombstones_kept, result.stats.tombstones_dropped) == (0, 1)


def test_a_delete_horizon_takes_nothing_from_the_timestamps() -> None:
    log = CompactedLog()
    for codec in Codec:
        log.append([(b"a%d" % codec, None), (b"b%d" % codec, b"v"), (b"c", b"w")], codec=codec)
        log.clock.advance(2**33)
    log.roll()
    before = {record.offset: record.timestamp_ms for record in log.read(committed=False)}
    log.clean()
    batches = [batch for batch in log.batches() if batch.record_count]
    assert all(batch.has_delete_horizon for batch in batches)
    assert {batch.base_timestamp for batch in batches} == {log.clock.now_ms() + RETENTION_MS}
    after = {record.offset: record.timestamp_ms for record in log.read(committed=False)}
    assert after == {offset: before[offset] for offset in after}
    assert [b.compression for b in batches] == list(Codec)


def test_a_tombstone_may_be_kept_for_ever() -> None:
    log = CompactedLog()
    log.append([(b"a", None)])
    log.roll()
    timestamp_ms = log.noted[0].record.timestamp_ms
    log.clean(delete_retention_ms=2**63 - 1)
    log.clock.advance(2**50)
    log.clean()
    assert [record.timestamp_ms for record in log.read(committed=True)] == [timestamp_ms]


def test_the_newest_timestamp_is_that_of_the_records_left() -> None:
    log = CompactedLog()
    for timestamp_type in TimestampType:
        log.append([(b"a", b"v"), (b"x%d" % timestamp_type, b"v"), (b"a", b"v")])
    log.append([(b"a", b"v")])
    log.roll()
    log.clean()
    first = next(iter(log.batches()))
    assert (first.record_count, first.last_offset_delta) == (1, 2)
    assert first.max_timestamp == log.clock.now_ms() + 1


def test_a_marker_goes_when_its_horizon_has_passed_and_not_before() -> None:
    log = CompactedLog()
    log.append([(b"kept", b"1")], producer_id=1, is_transactional=True)
    log.end(1, is_commit=True)
    log.append([(b"a", b"1")], producer_id=1, is_transactional=True)
    log.end(1, is_commit=False)
    log.append([(b"a", b"2")], producer_id=1, is_transactional=True)
    log.end(1, is_commit=True)
    log.append([(b"a", b"3")])
    log.roll()
    log.producers.clear()

    def markers() -> list[int]:
        return [batch.base_offset for batch in log.batches() if batch.is_control]

    log.clean()  # takes the records
    assert markers() == [1, 3, 5]
    log.clock.advance(10 * RETENTION_MS)
    log.clean()  # finds that they are gone
    assert markers() == [1, 3, 5]
    log.clock.advance(RETENTION_MS - 1)
    log.clean()
    assert markers() == [1, 3, 5]
    log.clock.advance(1)
    assert log.clean().stats.markers_dropped == 2
    assert markers() == [1]
    log.clock.advance(10 * RETENTION_MS)
    log.clean()
    assert markers() == [1]


def test_a_producers_last_batch_stays_without_records() -> None:
    log = CompactedLog()
    for _ in range(3):
        log.append([(b"a", b"1"), (b"a", b"1")], producer_id=7, codec=Codec.ZSTD)
    log.append([(b"a", b"2")])
    log.roll()
    log.clean()
    empty, last = log.batches()
    assert (empty.record_count, empty.size_bytes, empty.compression) == (0, 61, 0)
    assert (empty.base_offset, empty.last_offset, empty.base_sequence) == (4, 5, 4)
    assert (empty.producer_id, empty.producer_epoch, empty.last_sequence) == (7, 0, 5)
    assert empty.partition_leader_epoch == 3
    assert last.record_count == 1
    log.producers.clear()
    log.clean()
    assert [batch.base_offset for batch in log.batches()] == [6]


def test_the_marker_of_a_producer_without_data_stays() -> None:
    log = CompactedLog()
    log.end(1, is_commit=False)
    log.append([(b"a", b"2")])
    log.roll()
    for _ in range(4):
        log.clean()
        log.clock.advance(RETENTION_MS)
    assert [batch.is_control for batch in log.batches()] == [True, False]
    log.producers.clear()
    log.clean()
    assert [batch.is_control for batch in log.batches()] == [False]


def test_segments_are_put_together_by_what_is_left_of_them() -> None:
    log = CompactedLog()
    for index in range(9):
        log.append([(b"%d" % index, bytes(600)), (b"x", bytes(900))])
        log.roll()
    result = log.clean()
    assert [segment.replaces for segment in result.segments] == [
        (0, 2, 4, 6),
        (8, 10, 12, 14),
        (16,),
    ]
    for segment in result.segments:
        assert segment.size_bytes == len(log.bytes_of(log.path(segment.base_offset, ".log")))
        assert segment.size_bytes <= 4_000
    check(log)


@pytest.mark.parametrize(
    ("base", "replaces"), [(2**31 - 1, [(0, 2**31 - 1)]), (2**31, [(0,), (2**31,)])]
)
def test_a_segment_ends_where_relative_offsets_do(
    base: int, replaces: list[tuple[int, ...]]
) -> None:
    log = CompactedLog()
    log.append([(b"a", b"v")])
    log.roll()
    log.skip_to(base)
    log.append([(b"b", b"v")])
    log.roll()
    assert [segment.replaces for segment in log.clean().segments] == replaces
    check(log)


def test_full_indexes_end_a_segment() -> None:
    log = CompactedLog()
    for index in range(4):
        log.append([(b"%d" % index, bytes(100))])
        log.roll()
    assert len(log.clean(segment_index_bytes=30).segments) == 4


def test_an_aborted_transaction_stays_in_the_index_while_its_marker_does() -> None:
    log = CompactedLog()
    log.append([(b"a", b"1")], producer_id=1, is_transactional=True)
    log.append([(b"b", b"1")])
    log.end(1, is_commit=False)
    log.append([(b"c", b"1")])
    log.roll()
    assert log.clean().segments[0].has_transaction_index  # the producer's last batch is there
    log.producers.clear()
    assert log.clean().segments[0].has_transaction_index
    assert not log.clean().segments[0].has_transaction_index


def test_what_lies_past_the_end_is_copied_as_it_is() -> None:
    """A segment may reach past the last stable offset; aborted and keyless records stay there."""
    log = CompactedLog()
    log.append([(b"a", b"1"), (b"a", b"2")])
    log.append([(b"a", b"3")], producer_id=1, is_transactional=True)
    log.append([(b"a", b"4")], producer_id=2, is_transactional=True)
    log.end(2, is_commit=False)
    log.append([(None, b"5"), (b"a", b"6"), (b"a", b"7")])
    log.roll()
    assert log.clean().clean_until_offset == 2
    assert [record.offset for record in log.read(committed=False)] == [1, 2, 3, 5, 6, 7]
    check(log)
    log.end(1, is_commit=True)
    log.append([(b"b", b"")])
    log.roll()
    log.clean()
    assert [record.offset for record in log.read(committed=True)] == [7, 9]
    check(log)


def test_keyless_records_are_dropped_and_counted() -> None:
    log = CompactedLog()
    log.append([(None, b"1"), (b"a", b"2"), (None, b"3")])
    log.append([(b"", b"4")])
    log.roll()
    assert log.clean().stats.keyless_dropped == 2
    assert [record.offset for record in log.read(committed=True)] == [1, 3]


def test_keyless_records_of_the_clean_part_are_dropped_too() -> None:
    """Compaction was switched off for a while and on again."""
    log = CompactedLog()
    log.append([(None, b"1"), (b"", b"2")])
    log.append([(b"a", b"3")])
    log.roll()
    assert log.clean(first_dirty_offset=2).stats.keyless_dropped == 1
    assert [record.offset for record in log.read(committed=True)] == [1, 2]


def test_a_pace_is_told_the_bytes_and_may_stop_the_work() -> None:
    log = CompactedLog()
    log.append([(b"a", bytes(1000))])
    log.roll()
    files = log.files()
    told: list[int] = []
    clean_with(log, told.append)
    assert sum(told) == 3 * len(files["00000000000000000000.log"])

    def stop(_: int) -> None:
        raise CleanStopped

    with pytest.raises(CleanStopped):
        clean_with(log, stop)
    assert {k: v for k, v in log.files().items() if not k.endswith(".cleaned")} == files


def clean_with(log: CompactedLog, pace: Pace) -> None:
    clean(log.job(), log.fs, clock=log.clock, pace=pace)
