"""A log is a list: whatever is appended is read back in order, until retention says otherwise."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from headwater.core_log.kernel.errors import ApiError, ErrorCode
from headwater.core_log.records.batch import TimestampType, check_crc, read_batch, scan
from headwater.core_log.records.control import ControlType, EndTxnMarker, build_end_txn_batch
from headwater.core_log.storage.config import LogConfig
from headwater.core_log.storage.errors import DiskFull, LogDirectoryFailed, OffsetOutOfRange
from headwater.core_log.storage.log import PartitionLog

from .world import FOREVER, LOG, World, batch_of, batches_in, offsets_in

SMALL = LogConfig(segment_bytes=700, index_interval_bytes=150, retention_ms=None)
HOUR_MS = 3_600_000


class LogMachine(RuleBasedStateMachine):
    """Every operation of a log, against a list of (base offset, next offset)."""

    @initialize()
    def start(self) -> None:
        self.world = World(SMALL)
        self.batches: list[tuple[int, int]] = []
        self.start_offset = 0
        self.end_offset = 0
        self.flushed_offset = 0

    @property
    def log(self) -> PartitionLog:
        return self.world.log

    @rule(count=st.integers(1, 4))
    def append(self, count: int) -> None:
        appended = self.world.append(count)
        assert (appended.base_offset, appended.last_offset + 1) == (
            self.end_offset,
            self.end_offset + count,
        )
        self.batches.append((self.end_offset, self.end_offset + count))
        self.end_offset += count

    @rule()
    def write(self) -> None:
        self.log.write()
        assert self.log.written_offset == self.end_offset

    @rule()
    def flush(self) -> None:
        self.log.flush()
        self.flushed_offset = self.end_offset
        assert self.log.flushed_offset == self.end_offset

    @rule()
    def roll(self) -> None:
        self.log.roll()

    @rule()
    def checkpoint(self) -> None:
        self.world.directory.checkpoint({})
        self.world.directory.remove_deleted(self.world.clock.now_ms() + HOUR_MS)

    @rule(is_clean=st.booleans())
    def restart(self, is_clean: bool) -> None:  # noqa: FBT001 - hypothesis passes it by name
        self.log.write()
        self.world.restart(clean=is_clean)
        self.flushed_offset = self.end_offset
        assert not any(note.severe for note in self.world.notes)

    @rule(data=st.data())
    def truncate(self, data: st.DataObject) -> None:
        offset = data.draw(self.edges())
        self.log.truncate_to(offset)
        self.world.directory.checkpoint({})
        if offset < self.start_offset:
            self.batches, self.start_offset, self.end_offset = [], offset, offset
        elif offset < self.end_offset:
            self.end_offset = next(base for base, end in self.batches if end > offset)
            self.batches = [batch for batch in self.batches if batch[1] <= offset]
            if self.end_offset < self.start_offset:
                self.batches, self.end_offset = [], self.start_offset
        self.flushed_offset = min(self.flushed_offset, self.end_offset)

    @precondition(lambda self: self.end_offset > self.start_offset)
    @rule(data=st.data())
    def delete_records(self, data: st.DataObject) -> None:
        self.log.write()
        offset = data.draw(self.edges().filter(lambda o: self.start_offset <= o <= self.end_offset))
        self.log.raise_log_start(offset)
        self.world.directory.checkpoint({})
        self.start_offset = offset

    @rule(data=st.data(), bytes_max=st.sampled_from([0, 1, 80, 200, 10_000]), whole=st.booleans())
    def read(self, data: st.DataObject, bytes_max: int, whole: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
        start, end = data.draw(self.edges()), data.draw(self.edges())
        if not self.start_offset <= start <= self.end_offset:
            with pytest.raises(OffsetOutOfRange):
                self.log.read(start, bytes_max=bytes_max, end_offset=end, at_least_one=whole)
            return
        piece = self.log.read(start, bytes_max=bytes_max, end_offset=end, at_least_one=whole)
        limit = min(end, self.log.written_offset)
        visible = [batch for batch in self.batches if batch[1] > start and batch[1] <= limit]
        found = [(b.base_offset, b.next_offset) for b in scan(piece.read(), verify_crc=True)]
        assert found == visible[: len(found)]
        assert found or not visible or not whole
        assert piece.size_bytes <= max(bytes_max, batch_of(4).size_bytes if whole else 0)
        assert piece.size_bytes == 0 or piece.base_offset == visible[0][0]

    def edges(self) -> st.SearchStrategy[int]:
        bounds = {0, self.start_offset, self.log.written_offset, self.end_offset}
        bounds.update(bound for batch in self.batches[-8:] for bound in batch)
        near = sorted({max(0, bound + d) for bound in bounds for d in (-1, 0, 1)})
        return st.sampled_from(near)

    @invariant()
    def agrees(self) -> None:
        log = self.log
        log.check()
        assert log.log_start_offset == self.start_offset
        assert log.log_end_offset == self.end_offset
        assert log.flushed_offset >= min(self.flushed_offset, self.end_offset)
        written = [
            b for b in self.batches if b[1] > self.start_offset and b[1] <= log.written_offset
        ]
        assert [(b.base_offset, b.next_offset) for b in batches_in(log)] == written


LogMachine.TestCase.settings = settings(max_examples=100, stateful_step_count=25, deadline=None)
TestLog = LogMachine.TestCase


# Appending


def test_offsets_are_dense_and_the_batch_is_patched_in_place() -> None:
    world = World()
    first, second = batch_of(3), batch_of(2)
    log = world.log
    assert log.append_as_leader(first, leader_epoch=4, now_ms=0) == (0, 2, -1, False)
    assert log.append_as_leader(second, leader_epoch=5, now_ms=0) == (3, 4, -1, False)
    assert (second.base_offset, second.partition_leader_epoch) == (3, 5)
    log.write()
    stored = batches_in(log)
    assert [bytes(batch.view) for batch in stored] == [bytes(first.view), bytes(second.view)]
    assert log.latest_epoch == 5


def test_nothing_is_read_before_it_is_written() -> None:
    world = World()
    world.append(2)
    assert (world.log.log_end_offset, world.log.written_offset) == (2, 0)
    assert world.log.pending_bytes == batch_of(2).size_bytes == world.log.size_bytes
    assert world.log.read(0, bytes_max=1000, end_offset=2).size_bytes == 0
    world.log.write()
    assert world.log.pending_bytes == 0
    assert offsets_in(world.log) == [0, 1]


def test_one_turn_is_one_write_per_segment() -> None:
    world = World(SMALL)
    for _ in range(14):
        world.append()
    writes = len(world.fs.operations)
    world.log.write()
    made = world.fs.operations[writes:]
    logs = [op.split()[1] for op in made if op.startswith("write") and ".log" in op]
    assert len(logs) == len(set(logs)) == world.log.segment_count == 2
    world.log.write()
    assert len(world.fs.operations) == writes + len(made)


def test_append_time_is_stamped_where_the_topic_asks() -> None:
    world = World(replace(FOREVER, message_timestamp_type="LogAppendTime"))
    appended = world.append(2)
    assert appended.log_append_time_ms == world.clock.now_ms()
    world.log.write()
    (stored,) = batches_in(world.log)
    check_crc(stored)
    assert stored.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert stored.max_timestamp == world.clock.now_ms()


def test_a_repeated_batch_is_told_where_it_is() -> None:
    """And nothing is written; a gap is refused, and nothing is written either."""
    world = World()
    world.append(2, producer_id=7)
    world.append(3, producer_id=7, sequence=2)
    assert world.append(2, producer_id=7) == (0, 1, -1, True)
    with pytest.raises(ApiError) as caught:
        world.append(1, producer_id=7, sequence=9)
    assert caught.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert world.log.log_end_offset == 5


def test_a_batch_larger_than_a_segment_is_refused() -> None:
    world = World(SMALL)
    with pytest.raises(ApiError) as caught:
        world.log.append_as_leader(batch_of(value=b"v" * 700), leader_epoch=0, now_ms=0)
    assert caught.value.code is ErrorCode.RECORD_LIST_TOO_LARGE
    assert world.log.log_end_offset == 0


def test_a_follower_takes_what_continues_the_log() -> None:
    """Offsets and epochs are kept; several batches come in one piece."""
    world = World()
    records = bytearray()
    for offset, count, epoch in ((0, 2, 3), (2, 1, 3), (3, 4, 6)):
        records += batch_of(count, base_offset=offset, leader_epoch=epoch).view
    appended = world.log.append_as_follower(records, now_ms=0)
    world.log.flush()
    assert [(a.base_offset, a.last_offset) for a in appended] == [(0, 1), (2, 2), (3, 6)]
    assert offsets_in(world.log) == list(range(7))
    assert world.log.end_offset_for_epoch(3) == (3, 3)
    assert world.log.end_offset_for_epoch(5) == (3, 3)
    assert world.log.end_offset_for_epoch(6) == (6, 7)
    assert world.log.epoch_at(2) == 3
    assert world.log.latest_epoch == 6


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[:-1],
        lambda data: data + b"\0" * 10,
        lambda data: data[:0],
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: data[:0] + bytes(batch_of(base_offset=1).view),
        lambda data: data + data,
        lambda data: data + bytes(batch_of(base_offset=9).view),
    ],
)
def test_a_follower_refuses_anything_else(spoil: Callable[[bytes], bytes]) -> None:
    """Cut, changed, elsewhere or twice: the log is as before."""
    world = World()
    with pytest.raises(ApiError) as caught:
        world.log.append_as_follower(spoil(bytes(batch_of(2).view)), now_ms=0)
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE
    assert world.log.log_end_offset == 0
    world.log.check()


def test_gaps_of_compaction_are_taken_when_asked_for() -> None:
    world = World()
    records = bytes(batch_of(2).view) + bytes(batch_of(1, base_offset=9).view)
    world.log.append_as_follower(records, now_ms=0, may_leave_gaps=True)
    world.log.write()
    assert world.log.log_end_offset == 10
    for offset in (2, 5, 8, 9):
        piece = world.log.read(offset, bytes_max=1, end_offset=10)
        assert [b.base_offset for b in scan(piece.read(), verify_crc=True)] == [9]


# Rolling


def bases(world: World) -> list[int]:
    world.log.write()
    names = world.fs.list(LOG)
    return [int(name.removesuffix(".log")) for name in names if name.endswith(".log")]


def test_a_segment_rolls_before_it_grows_beyond_its_size() -> None:
    size_bytes = batch_of().size_bytes
    world = World(replace(SMALL, segment_bytes=3 * size_bytes))
    for _ in range(7):
        world.append()
    assert bases(world) == [0, 3, 6]


def test_a_segment_rolls_when_its_records_span_too_long() -> None:
    """By the records' own time, from the first batch's newest record on."""
    world = World(replace(FOREVER, segment_ms=HOUR_MS))
    for minutes in (0, 60, 1, 10):
        world.clock.advance(minutes * 60_000)
        world.append()
    assert bases(world) == [0, 2]


def test_records_without_time_roll_by_the_clock() -> None:
    world = World(replace(FOREVER, segment_ms=HOUR_MS))
    for minutes in (0, 60, 1):
        world.clock.advance(minutes * 60_000)
        world.log.append_as_leader(
            batch_of(timestamp_ms=-1), leader_epoch=0, now_ms=world.clock.now_ms()
        )
    assert bases(world) == [0, 2]


def test_jitter_rolls_earlier_never_later() -> None:
    config = replace(FOREVER, segment_ms=HOUR_MS, segment_jitter_ms=HOUR_MS // 2)
    spans: set[int] = set()
    for _ in range(3):
        world = World(config)
        for _ in range(200):
            world.append()
            world.clock.advance(60_000)
        found = bases(world)
        spans.update(b - a for a, b in pairwise(found))
    assert spans <= set(range(30, 62))
    assert len(spans) > 1


def test_a_segment_rolls_when_an_index_is_full() -> None:
    world = World(replace(FOREVER, segment_index_bytes=36, index_interval_bytes=0))
    for _ in range(10):
        world.append()
        world.clock.advance(1)
    # The first batch has no entry, two more fit beside the one that seals the time index.
    assert bases(world) == [0, 3, 6, 9]


def test_a_segment_rolls_when_offsets_reach_too_far() -> None:
    world = World()
    world.log.truncate_fully_and_start_at(0)
    gap = bytes(batch_of(base_offset=2**31 - 1).view)
    world.append()
    world.log.append_as_follower(gap, now_ms=0, may_leave_gaps=True)
    world.append()
    assert bases(world) == [0, 2**31]
    assert offsets_in(world.log) == [0, 2**31 - 1, 2**31]


def test_rolling_an_empty_segment_changes_nothing() -> None:
    world = World()
    world.log.roll()
    world.append()
    world.log.roll()
    world.log.roll()
    assert bases(world) == [0, 1]


def test_an_old_segment_is_rolled_on_request() -> None:
    world = World(replace(FOREVER, segment_ms=HOUR_MS))
    assert not world.log.roll_if_old(world.clock.now_ms())
    world.append()
    assert not world.log.roll_if_old(world.clock.now_ms() + HOUR_MS)
    assert world.log.roll_if_old(world.clock.now_ms() + HOUR_MS + 1)
    assert bases(world) == [0, 1]


# Flushing


def test_a_flush_covers_what_was_written_when_it_began() -> None:
    world = World()
    world.append()
    world.log.write()
    job = world.log.begin_flush()
    assert job is not None
    world.append()
    world.log.write()
    job.run()
    world.log.end_flush(job)
    assert (world.log.flushed_offset, world.log.written_offset) == (1, 2)


def test_nothing_to_flush_is_no_job() -> None:
    world = World()
    world.append()
    world.log.flush()
    assert world.log.begin_flush() is None


def test_jobs_may_end_in_any_order() -> None:
    """A later job includes what an earlier one, still running, had to do."""
    world = World(SMALL)
    for _ in range(10):
        world.append()
    world.log.write()
    first = world.log.begin_flush()
    world.append()
    world.log.write()
    second = world.log.begin_flush()
    assert first is not None
    assert second is not None
    second.run()
    world.log.end_flush(second)
    assert world.log.flushed_offset == 11
    world.crash()
    assert offsets_in(world.log) == list(range(11))


def test_a_flush_before_a_truncation_proves_nothing_after_it() -> None:
    world = World()
    for _ in range(3):
        world.append()
    world.log.write()
    job = world.log.begin_flush()
    assert job is not None
    job.run()
    world.log.truncate_to(1)
    world.append()
    world.append()
    world.log.write()
    world.log.end_flush(job)
    assert world.log.flushed_offset <= 1


def test_the_first_flush_makes_names_durable_too() -> None:
    """File, directory, and the directory's own name: nothing of it may be missing."""
    for seed in range(10):
        world = World(seed=seed)
        world.append()
        world.log.flush()
        world.crash()
        assert offsets_in(world.log) == [0]
        assert world.log.topic_id == bytes(range(16))


def test_a_failed_flush_takes_the_directory_offline_for_good() -> None:
    """Nothing is tried again: the log refuses, reads go on, the owner is told once."""
    world = World()
    world.append()
    world.log.write()
    job = world.log.begin_flush()
    assert job is not None
    world.fs.fail_after(0)
    with pytest.raises(OSError, match="injected") as caught:
        job.run()
    failure = world.log.flush_failed(caught.value)
    assert isinstance(failure, LogDirectoryFailed)
    assert failure.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert world.failures == [failure]
    assert world.directory.offline_reason is not None
    for attempt in (world.append, world.log.flush, world.log.begin_flush, world.log.roll):
        with pytest.raises(LogDirectoryFailed):
            attempt()
    assert world.log.flushed_offset == 0
    assert offsets_in(world.log) == [0]


def test_a_failed_write_takes_the_directory_offline() -> None:
    world = World()
    world.append()
    world.log.flush()
    world.append()
    world.fs.fail_after(0)
    with pytest.raises(LogDirectoryFailed, match="injected"):
        world.log.write()
    world.restart(clean=False)
    assert world.directory.offline_reason is None
    assert 0 in offsets_in(world.log)


# A full disk


@pytest.mark.parametrize("left_bytes", range(0, 300, 37))
def test_a_full_disk_refuses_and_keeps_serving(left_bytes: int) -> None:
    """What does not fit never was: offsets go on densely once there is space again."""
    world = World(SMALL)
    for sequence in range(6):
        world.append(producer_id=7, sequence=sequence)
    world.log.flush()
    world.fs.capacity_bytes = world.fs.used_bytes + left_bytes
    for sequence in range(6, 16):
        world.append(producer_id=7, sequence=sequence)
    with pytest.raises(DiskFull):
        world.log.write()
    world.log.check()
    end = world.log.log_end_offset
    assert 6 <= end < 16
    assert offsets_in(world.log) == list(range(end))
    with pytest.raises(DiskFull):
        world.append(producer_id=7, sequence=end)
    world.fs.capacity_bytes = None
    for sequence in range(end, 20):
        assert world.append(producer_id=7, sequence=sequence).base_offset == sequence
    world.log.flush()
    assert world.append(producer_id=7, sequence=18).duplicate
    assert offsets_in(world.log) == list(range(20))
    world.crash()
    assert offsets_in(world.log) == list(range(20))


# Retention and truncation


def filled(config: LogConfig, count: int = 40) -> World:
    world = World(config)
    for _ in range(count):
        world.append()
        world.clock.advance(1000)
    world.log.flush()
    return world


def test_retention_by_size_deletes_whole_segments_from_the_start() -> None:
    world = filled(replace(SMALL, retention_bytes=1000))
    notes = world.log.delete_expired(now_ms=world.clock.now_ms(), high_watermark=40)
    assert world.log.log_start_offset > 0
    assert 1000 <= world.log.size_bytes < 1000 + 700
    assert [note.event for note in notes] == ["segment_deleted"] * len(world.log.doomed)
    assert offsets_in(world.log) == list(range(world.log.log_start_offset, 40))


def test_retention_by_time_takes_the_active_segment_too() -> None:
    """When all is old a new segment begins at the end, so that the offset is not lost."""
    world = filled(replace(SMALL, retention_ms=60_000))
    later = world.clock.now_ms() + 61_000
    world.log.delete_expired(now_ms=later, high_watermark=40)
    assert (world.log.log_start_offset, world.log.log_end_offset) == (40, 40)
    world.directory.checkpoint({})
    world.directory.remove_deleted(later + HOUR_MS)
    assert bases(world) == [40]
    world.crash()
    assert (world.log.log_start_offset, world.log.log_end_offset) == (40, 40)


def test_nothing_beyond_the_high_watermark_expires() -> None:
    world = filled(replace(SMALL, retention_ms=1))
    world.log.delete_expired(now_ms=world.clock.now_ms() + HOUR_MS, high_watermark=12)
    assert 0 < world.log.log_start_offset <= 12


def test_a_compacted_log_keeps_what_is_old() -> None:
    world = filled(replace(SMALL, retention_ms=1, retention_bytes=1, cleanup_delete=False))
    assert world.log.delete_expired(now_ms=1 << 60, high_watermark=40) == []


def test_files_go_after_the_log_start_is_durable_and_the_delay_is_over() -> None:
    world = filled(replace(SMALL, retention_bytes=1000, file_delete_delay_ms=5000))
    world.log.delete_expired(now_ms=world.clock.now_ms(), high_watermark=40)
    before = bases(world)
    operations = len(world.fs.operations)
    world.directory.checkpoint({})
    made = world.fs.operations[operations:]
    durable = made.index("sync_directory data")
    renamed = [i for i, op in enumerate(made) if op.endswith(".log.deleted")]
    assert renamed
    assert min(renamed) > durable
    assert "log-start-offset-checkpoint" in " ".join(made[:durable])
    gone = [base for base in before if base not in bases(world)]
    assert [made[i].split()[1] for i in renamed] == [f"{LOG}/{base:020d}.log" for base in gone]
    assert world.directory.remove_deleted(world.clock.now_ms() + 4999) == 0
    assert world.directory.remove_deleted(world.clock.now_ms() + 5000) > 0
    assert not [name for name in world.fs.list(LOG) if name.endswith(".deleted")]


def test_a_reader_keeps_its_slice_while_files_go() -> None:
    world = filled(replace(SMALL, retention_bytes=1000, file_delete_delay_ms=0))
    piece = world.log.read(0, bytes_max=500, end_offset=40)
    data = piece.read()
    world.log.delete_expired(now_ms=world.clock.now_ms(), high_watermark=40)
    world.directory.checkpoint({})
    world.directory.remove_deleted(world.clock.now_ms())
    assert piece.read() == piece.read_cached() == data


def test_raising_the_log_start_hides_and_drops_whole_segments() -> None:
    world = filled(SMALL)
    world.log.raise_log_start(12)
    assert [segment.base_offset for segment in world.log.doomed] == [0]
    with pytest.raises(OffsetOutOfRange, match=r"holds \[12, 40\)"):
        world.log.read(11, bytes_max=1, end_offset=40)
    with pytest.raises(OffsetOutOfRange):
        world.log.raise_log_start(41)
    assert world.log.raise_log_start(3) == []
    assert offsets_in(world.log) == list(range(12, 40))
    world.directory.checkpoint({})
    world.crash()
    assert world.log.log_start_offset == 12


def test_truncation_takes_whole_batches_and_forgets_their_producers() -> None:
    world = World(SMALL)
    for sequence in range(0, 20, 2):
        world.append(2, producer_id=7, sequence=sequence, leader_epoch=sequence // 10)
    world.log.flush()
    world.log.truncate_to(11)
    assert world.log.log_end_offset == world.log.flushed_offset == 10
    assert world.log.latest_epoch == 0
    assert world.append(2, producer_id=7, sequence=10).base_offset == 10
    world.log.flush()
    world.directory.checkpoint({})
    world.crash()
    assert offsets_in(world.log) == list(range(12))


def test_producers_of_cut_records_stay_forgotten() -> None:
    """A snapshot from before a cut must not speak for what was written after it."""
    world = World(SMALL)
    for sequence in range(25):  # rolls at 10 and 20
        world.append(producer_id=7, sequence=sequence)
    world.log.flush()
    world.log.truncate_to(15)
    for sequence in range(0, 10, 2):
        world.append(2, producer_id=8, sequence=sequence)
    world.log.flush()
    world.log.truncate_to(21)
    assert world.append(producer_id=7, sequence=14).duplicate
    assert world.append(producer_id=7, sequence=15).base_offset == 21
    assert world.append(producer_id=8, sequence=6).base_offset == 22


def test_a_log_starts_over_elsewhere() -> None:
    world = filled(SMALL)
    world.log.truncate_fully_and_start_at(100)
    assert offsets_in(world.log) == []
    assert world.append(producer_id=9, sequence=5).base_offset == 100
    assert world.log.end_offset_for_epoch(0) == (0, 101)
    world.log.flush()
    world.crash()
    assert offsets_in(world.log) == [100]


# Transactions


def end_transaction(world: World, kind: ControlType, *, producer_id: int = 7) -> None:
    marker = build_end_txn_batch(
        EndTxnMarker(type=kind, coordinator_epoch=1),
        producer_id=producer_id,
        producer_epoch=0,
        timestamp_ms=world.clock.now_ms(),
    )
    world.log.append_as_leader(read_batch(marker), leader_epoch=0, now_ms=world.clock.now_ms())


@pytest.mark.parametrize("room_bytes", range(160))
def test_a_marker_without_space_for_its_place_in_the_list_is_dropped(room_bytes: int) -> None:
    """All or nothing, wherever the disk is full; then the log goes on from there.

    Found in simulation: the marker stayed in the file, and the next batch got its offset again.
    """
    world = World()
    world.append(producer_id=7, is_transactional=True)
    world.log.flush()
    world.fs.capacity_bytes = world.fs.used_bytes + room_bytes
    end_transaction(world, ControlType.ABORT)
    with suppress(DiskFull):
        world.log.write()
    assert world.log.log_end_offset in (1, 2)
    world.fs.capacity_bytes = None
    if world.log.log_end_offset == 1:
        end_transaction(world, ControlType.ABORT)
    world.append()
    world.log.check()
    world.log.flush()
    world.restart(clean=False)
    assert offsets_in(world.log) == [0, 1, 2]
    aborted = world.log.aborted_transactions(0, 2)
    assert [(entry.first_offset, entry.last_offset) for entry in aborted] == [(0, 1)]


def with_transactions(config: LogConfig = FOREVER) -> World:
    world = World(config)
    world.append(2, producer_id=7, is_transactional=True)
    world.append(1)
    end_transaction(world, ControlType.ABORT)
    world.append(1, producer_id=7, sequence=2, is_transactional=True)
    end_transaction(world, ControlType.COMMIT)
    world.append(3, producer_id=8, is_transactional=True)
    world.append(1)
    world.log.flush()
    return world


def test_the_last_stable_offset_waits_for_the_oldest_transaction() -> None:
    world = with_transactions()
    assert world.log.last_stable(3) == 0  # its marker is not yet committed
    assert world.log.last_stable(10) == 6
    end_transaction(world, ControlType.COMMIT, producer_id=8)
    world.log.write()
    assert world.log.last_stable(11) == 11


@pytest.mark.parametrize("restart", ["no", "clean", "crash"])
@pytest.mark.parametrize("segment_bytes", [150, 1 << 20])
def test_aborted_transactions_are_found_where_they_overlap(
    restart: str, segment_bytes: int
) -> None:
    world = with_transactions(replace(FOREVER, segment_bytes=segment_bytes))
    if restart != "no":
        world.crash() if restart == "crash" else world.restart()
    found = {
        (start, end): [t.producer_id for t in world.log.aborted_transactions(start, end)]
        for start in (0, 1, 3, 4)
        for end in (1, 2, 10)
        if start < end
    }
    assert found == {
        (0, 1): [7], (0, 2): [7], (0, 10): [7],
        (1, 2): [7], (1, 10): [7],
        (3, 10): [7],
        (4, 10): [],
    }  # fmt: skip
    assert world.log.last_stable(10) == 6
    assert [p.producer_id for p in world.log.active_producers()] == [7, 8]


def test_silent_producers_are_forgotten() -> None:
    world = World(replace(FOREVER, producer_id_expiration_ms=1000))
    world.append(producer_id=7)
    world.log.expire_producers(world.clock.now_ms() + 999)
    assert len(world.log.active_producers()) == 1
    world.log.expire_producers(world.clock.now_ms() + 1000)
    assert world.log.active_producers() == []


def test_configuration_counts_from_then_on() -> None:
    world = World()
    world.append()
    world.log.configure(SMALL)
    for _ in range(10):
        world.append()
    assert len(bases(world)) == 2


@given(counts=st.lists(st.integers(1, 5), min_size=1, max_size=12), data=st.data())
@settings(max_examples=40, deadline=None)
def test_cold_reads_find_what_hot_ones_do(counts: list[int], data: st.DataObject) -> None:
    """With nothing remembered since a restart, indexes and headers give the same slices."""
    world = World(replace(SMALL, index_interval_bytes=100))
    for count in counts:
        world.append(count)
    world.log.flush()
    end = world.log.log_end_offset
    start = data.draw(st.integers(0, end))
    limit = data.draw(st.sampled_from([start, start + 1, end - 1, end]))
    bytes_max = data.draw(st.sampled_from([0, 69, 70, 71, 150, 10_000]))
    hot = world.log.read(start, bytes_max=bytes_max, end_offset=limit)
    world.restart()
    cold = world.log.read(start, bytes_max=bytes_max, end_offset=limit)
    assert (hot.position, hot.size_bytes, hot.base_offset) == (
        cold.position,
        cold.size_bytes,
        cold.base_offset,
    )
