"""A compaction of one log: what it is told, and what may come between."""

import errno
from dataclasses import replace

import pytest

from headwater.core_log.kernel.ports import OpenMode
from headwater.core_log.records.batch import read_batch
from headwater.core_log.records.control import ControlType, EndTxnMarker, build_end_txn_batch
from headwater.core_log.storage.cleanable import CleaningPolicy
from headwater.core_log.storage.compaction.job import CleanedSegment, CleanResult
from headwater.core_log.storage.errors import LogDirectoryFailed
from headwater.core_log.testing.memory_fs import MemoryFileSystem

from .compacted import CONFIG, HIGH, Pass, compacted, fill, filled, numbered, offsets, surviving
from .world import LOG, World, batch_of, batches_in

FIRST = f"{LOG}/00000000000000000000.log"


def temporary(fs: MemoryFileSystem) -> list[str]:
    return [name for name in fs.list(LOG) if name.endswith((".cleaned", ".swap", ".replaced"))]


# What may be cleaned


def test_the_newest_record_of_each_key_stays() -> None:
    world = filled(18)
    compacted(world)
    assert offsets(world) == surviving(16, 18)
    assert world.log.cleaned_offset == 16
    world.log.check()


def test_the_active_segment_is_never_cleaned() -> None:
    """Not even when it is the only one, or when all before it is clean."""
    assert filled(4).log.dirtiness(high_watermark=HIGH, now_ms=0) is None
    world = filled(18)
    compacted(world)
    assert world.log.dirtiness(high_watermark=HIGH, now_ms=0) is None


def test_a_log_that_is_not_compacted_is_never_dirty() -> None:
    world = filled(18, replace(CONFIG, cleanup_compact=False))
    assert world.log.dirtiness(high_watermark=HIGH, now_ms=0) is None


def test_a_log_with_a_job_under_way_is_not_offered_again() -> None:
    world = filled(18)
    one = Pass(world)
    assert world.log.fits(one.job)
    assert world.log.dirtiness(high_watermark=HIGH, now_ms=0) is None
    one.give_up()
    assert not world.log.fits(one.job)
    assert world.log.dirtiness(high_watermark=HIGH, now_ms=0) is not None


@pytest.mark.parametrize(("high_watermark", "end"), [(0, 0), (3, 0), (4, 4), (11, 8), (16, 16)])
def test_nothing_above_the_high_watermark_is_cleaned(high_watermark: int, end: int) -> None:
    found = filled(18).log.dirtiness(high_watermark=high_watermark, now_ms=0)
    assert found is not None
    assert found.end_offset == end


def test_nothing_that_is_not_flushed_is_cleaned() -> None:
    world = filled(6)
    for number in range(6, 18):
        world.log.append_as_leader(numbered(number), leader_epoch=0, now_ms=0)
    world.log.write()
    found = world.log.dirtiness(high_watermark=HIGH, now_ms=0)
    assert found is not None
    assert found.end_offset == 4
    world.log.flush()
    found = world.log.dirtiness(high_watermark=HIGH, now_ms=0)
    assert found is not None
    assert found.end_offset == 16


def test_an_open_transaction_bounds_what_is_cleaned() -> None:
    world = filled(6)
    opened = batch_of(producer_id=7, is_transactional=True, timestamp_ms=6)
    world.log.append_as_leader(opened, leader_epoch=0, now_ms=0)
    for number in range(7, 20):
        world.log.append_as_leader(numbered(number), leader_epoch=0, now_ms=0)
    world.log.flush()
    found = world.log.dirtiness(high_watermark=HIGH, now_ms=0)
    assert found is not None
    assert found.end_offset == 4
    job = Pass(world).job
    assert job.end_offset == 4
    assert [segment.base_offset for segment in job.segments] == [0]


def test_a_job_names_producers_and_aborted_transactions_with_markers_behind_its_end() -> None:
    world = filled(1)
    world.append(producer_id=7, is_transactional=True)
    world.append(producer_id=8, sequence=3)
    marker = read_batch(
        build_end_txn_batch(
            EndTxnMarker(type=ControlType.ABORT, coordinator_epoch=1),
            producer_id=7,
            producer_epoch=0,
            timestamp_ms=0,
        )
    )
    fill_up = range(3, 7)
    for number in fill_up:
        world.log.append_as_leader(numbered(number), leader_epoch=0, now_ms=0)
    world.log.append_as_leader(marker, leader_epoch=0, now_ms=0)
    world.log.flush()
    job = Pass(world).job
    assert job.segments[-1].end_offset <= 7
    assert [(each.producer_id, each.last_data_offset) for each in job.producers] == [(7, 1), (8, 2)]
    assert [(each.producer_id, each.first_offset) for each in job.aborted] == [(7, 1)]
    assert len(job.secret) == 32


def test_young_records_wait_for_the_minimum_lag() -> None:
    policy = CleaningPolicy(dirty_ratio_min=0.0, lag_ms_min=10)
    world = filled(18, replace(CONFIG, cleaning=policy))
    ends = []
    for now_ms in (0, 13, 17, 18, 26):
        found = world.log.dirtiness(high_watermark=HIGH, now_ms=now_ms)
        assert found is not None
        ends.append(found.end_offset)
    assert ends == [0, 4, 8, 8, 16]


def test_a_record_that_waits_too_long_makes_its_log_overdue() -> None:
    policy = CleaningPolicy(dirty_ratio_min=1.0, lag_ms_max=100)
    world = filled(18, replace(CONFIG, cleaning=policy))
    overdue = []
    for now_ms in (100, 101):
        found = world.log.dirtiness(high_watermark=HIGH, now_ms=now_ms)
        assert found is not None
        overdue.append(found.is_worth_it(policy))
    assert overdue == [False, True]


def test_the_next_pass_begins_where_the_last_one_ended() -> None:
    world = filled(18)
    compacted(world)
    fill(world, 10)
    found = world.log.dirtiness(high_watermark=HIGH, now_ms=0)
    assert found is not None
    assert (found.first_dirty_offset, found.end_offset) == (16, 24)
    assert 0 < found.clean_bytes < found.cleanable_bytes
    job = Pass(world).job
    assert job.first_dirty_offset == 16
    assert job.segments[0].base_offset == 0


# What may come between


def test_reads_under_way_go_on_in_the_old_files() -> None:
    world = filled(18)
    piece = world.log.read(0, bytes_max=1 << 20, end_offset=18)
    before = piece.read()
    compacted(world)
    world.directory.checkpoint({})
    world.directory.remove_deleted(world.clock.now_ms())
    assert piece.read() == before
    assert temporary(world.fs) == []


def test_old_files_go_after_their_delay() -> None:
    world = filled(18, replace(CONFIG, file_delete_delay_ms=1000))
    compacted(world)
    assert f"{FIRST}.deleted".rpartition("/")[2] in world.fs.list(LOG)
    world.directory.checkpoint({})
    world.directory.remove_deleted(world.clock.now_ms() + 999)
    assert world.fs.size(f"{FIRST}.deleted") is not None
    world.directory.remove_deleted(world.clock.now_ms() + 1000)
    assert not [name for name in world.fs.list(LOG) if name.endswith(".deleted")]
    assert world.fs.size(FIRST) is not None


def test_appends_and_reads_go_on_between_all_steps() -> None:
    world = filled(18)
    one = Pass(world)
    fill(world, 5)
    one.work()
    assert offsets(world) == list(range(23))
    one.decide()
    fill(world, 5)
    seen = [offsets(world)]
    while not one.switch(count_max=1):
        world.log.check()
        seen.append(offsets(world))
    one.end()
    assert seen[0] == list(range(28))
    assert offsets(world) == surviving(16, 28)
    assert all(set(offsets(world)) <= set(each) for each in seen)


@pytest.mark.parametrize("offset", [0, 5, 15])
@pytest.mark.parametrize("step", ["job", "worked", "undecided", "decided", "half"])
def test_truncation_ends_a_compaction(step: str, offset: int) -> None:
    """A swap that is decided is carried out first; any other result comes too late."""
    world = filled(18)
    one = Pass(world)
    if step != "job":
        one.work()
    if step == "undecided":
        assert one.begin_swap() is not None
    if step in ("decided", "half"):
        one.decide()
    if step == "half":
        one.switch(count_max=1)
    world.log.truncate_to(offset)
    world.log.check()
    is_swapped = step in ("decided", "half")
    before = surviving(16, 18) if is_swapped else list(range(18))
    assert offsets(world) == [each for each in before if each < offset]
    assert not world.log.fits(one.job)
    if step == "undecided":
        assert one.swap is not None
        one.swap.run()
        assert not one.swap.settle()
    elif step == "worked":
        assert one.begin_swap() is None
    one.give_up()
    assert temporary(world.fs) == []
    assert world.log.cleaned_offset is None or world.log.cleaned_offset <= offset
    world.directory.checkpoint({})
    world.restart(clean=False)
    assert offsets(world) == [each for each in before if each < offset]


def test_truncation_behind_the_job_lets_it_go_on() -> None:
    world = filled(18)
    one = Pass(world).work()
    world.log.truncate_to(17)
    one.decide()
    assert one.switch()
    one.end()
    assert offsets(world) == surviving(16, 17)


def test_a_log_that_is_begun_anew_elsewhere_takes_no_result() -> None:
    world = filled(18)
    one = Pass(world).work().decide()
    world.log.truncate_fully_and_start_at(100)
    assert one.switch()
    assert world.log.log_start_offset == world.log.log_end_offset == 100
    assert temporary(world.fs) == []
    world.directory.checkpoint({})
    world.restart(clean=False)
    assert (world.log.log_start_offset, world.log.log_end_offset) == (100, 100)


def test_a_pass_may_end_early_and_the_next_goes_on_there() -> None:
    """The map of keys was full: segments behind its end are as they were."""
    world = filled(18)
    one = Pass(world).work()
    assert one.result is not None
    one.result = CleanResult(segments=one.result.segments[:1], clean_until_offset=8)
    one.decide()
    assert one.switch()
    one.end()
    assert temporary(world.fs) == []
    assert [each.base_offset for each in world.log.segments] == [0, 8, 12, 16]
    assert world.log.cleaned_offset == 8
    assert set(range(8, 18)) <= set(offsets(world))
    assert Pass(world).job.first_dirty_offset == 8


@pytest.mark.parametrize("replaces", [(), (4,), (0, 8), (0, 4, 8, 12, 16)])
def test_a_result_about_other_segments_is_refused(replaces: tuple[int, ...]) -> None:
    world = filled(18)
    one = Pass(world).work()
    assert one.result is not None
    wrong = [
        CleanedSegment(base_offset=base, replaces=replaces, size_bytes=0) for base in replaces[:1]
    ]
    one.result = CleanResult(segments=tuple(wrong), clean_until_offset=16)
    assert one.begin_swap() is None
    one.give_up()
    assert offsets(world) == list(range(18))


def test_deleted_records_drop_whole_cleaned_segments() -> None:
    """The reference cleaner makes one of two: [0, 8), [8, 16)."""
    world = filled(18)
    one = Pass(world).work()
    world.log.raise_log_start(9)
    one.decide()
    assert one.switch()
    one.end()
    assert [each.base_offset for each in world.log.segments] == [8, 16]
    assert offsets(world) == [each for each in surviving(16, 18) if each >= 9]
    assert temporary(world.fs) == []
    world.directory.checkpoint({})
    world.restart(clean=False)
    assert offsets(world) == [each for each in surviving(16, 18) if each >= 9]


def test_deleted_records_that_cut_a_cleaned_segment_refuse_the_result() -> None:
    world = filled(18)
    one = Pass(world).work()
    world.log.raise_log_start(5)
    assert one.begin_swap() is None
    one.give_up()
    assert offsets(world) == list(range(5, 18))
    assert temporary(world.fs) == []
    compacted(world)
    assert offsets(world) == surviving(16, 18, start=4)


@pytest.mark.parametrize("offset", [3, 5, 9, 17])
def test_records_deleted_while_names_change_are_hidden_and_removed_later(offset: int) -> None:
    world = filled(18)
    one = Pass(world).work().decide()
    one.switch(count_max=1)
    count = world.log.segment_count
    world.log.raise_log_start(offset)
    assert world.log.log_start_offset == offset
    assert world.log.segment_count == count
    world.directory.checkpoint({})
    assert one.switch()
    one.end()
    world.log.check()
    assert offsets(world) == [each for each in surviving(16, 18) if each >= offset]
    world.log.delete_expired(now_ms=0, high_watermark=18)
    assert world.log.first_base_offset == max(each for each in (0, 8, 16) if each <= max(offset, 0))
    world.directory.checkpoint({})
    world.restart(clean=False)
    assert offsets(world) == [each for each in surviving(16, 18) if each >= offset]


def test_retention_waits_for_a_compaction_to_end() -> None:
    config = replace(CONFIG, cleanup_delete=True, retention_ms=0)
    world = filled(18, config)
    one = Pass(world).work()
    assert world.log.delete_expired(now_ms=1 << 40, high_watermark=18) == []
    one.decide()
    assert world.log.delete_expired(now_ms=1 << 40, high_watermark=18) == []
    assert one.switch()
    one.end()
    assert world.log.delete_expired(now_ms=1 << 40, high_watermark=18) != []
    assert offsets(world) == []
    assert world.log.log_start_offset == 18


def test_a_policy_that_names_compact_no_more_refuses_the_result() -> None:
    world = filled(18)
    one = Pass(world).work()
    world.log.configure(replace(CONFIG, cleanup_compact=False))
    assert one.begin_swap() is None
    one.give_up()
    assert offsets(world) == list(range(18))


@pytest.mark.parametrize("step", ["job", "worked", "undecided", "decided", "half"])
def test_a_deleted_topic_takes_its_compaction_along(step: str) -> None:
    world = filled(18)
    one = Pass(world)
    if step != "job":
        one.work()
    if step == "undecided":
        one.begin_swap()
    if step in ("decided", "half"):
        one.decide()
    if step == "half":
        one.switch(count_max=1)
    world.directory.delete(world.log)
    if step == "undecided":
        assert one.swap is not None
        one.swap.run()
        assert not one.swap.settle()
    if step in ("decided", "half"):
        assert one.switch()
    assert not world.failures
    world.directory.checkpoint({})
    world.directory.remove_deleted(world.clock.now_ms())
    assert not [name for name in world.fs.list("data") if name.startswith("t-0")]


@pytest.mark.parametrize("step", ["undecided", "decided", "half"])
@pytest.mark.parametrize("clean", [True, False])
def test_a_stop_within_a_swap_leaves_one_log(step: str, clean: bool) -> None:  # noqa: FBT001 - a parameter
    world = filled(18)
    one = Pass(world).work()
    if step == "undecided":
        one.begin_swap()
    else:
        one.decide()
    if step == "half":
        one.switch(count_max=1)
    world.directory.close(clean=clean)
    if clean:
        assert not [name for name in temporary(world.fs) if not name.endswith(".cleaned")]
    world.start()
    assert offsets(world) == (list(range(18)) if step == "undecided" else surviving(16, 18))
    assert temporary(world.fs) == []
    assert not any(note.severe for note in world.notes)


def test_a_failed_directory_takes_no_result() -> None:
    world = filled(18)
    one = Pass(world).work()
    world.directory.checkpoint({})
    world.fs.fail_after(0)
    world.log.append_as_leader(numbered(18), leader_epoch=0, now_ms=0)
    with pytest.raises(LogDirectoryFailed):
        world.log.write()
    with pytest.raises(LogDirectoryFailed):
        one.log.begin_swap(one.job, one.result)  # type: ignore[arg-type]  # it has worked


def test_a_full_disk_leaves_the_log_as_it_was() -> None:
    """Wherever the names or the list of them find no space."""
    count = 0
    for operation in range(20):
        world = filled(18)
        one = Pass(world).work()
        decision = one.begin_swap()
        assert decision is not None
        world.fs.fail_after(operation, errno.ENOSPC)
        decision.run()
        world.fs.fail_after(1 << 40)
        is_decided = decision.settle()
        assert is_decided == (temporary(world.fs) != [])
        if not is_decided:
            one.log.end_clean(one.job, None)
            assert offsets(world) == list(range(18))
            count += 1
        world.restart(clean=False)
        assert offsets(world) == (surviving(16, 18) if is_decided else list(range(18)))
    assert count > 5


def test_what_a_dead_cleaner_left_behind_does_not_undo_a_later_swap() -> None:
    world = filled(18)
    stray = f"{LOG}/00000000000000000000.txnindex.cleaned"
    one = Pass(world).work()
    world.fs.open(stray, OpenMode.REPLACE).write_at([b"x" * 34], 0)
    one.decide()
    world.restart(clean=False)
    assert offsets(world) == surviving(16, 18)
    assert temporary(world.fs) == []


# What is there afterwards


def test_a_pass_is_remembered_across_restarts() -> None:
    world = filled(18)
    compacted(world)
    world.directory.checkpoint({})
    world.restart(clean=False)
    assert world.log.cleaned_offset == 16
    world.restart()
    assert world.log.cleaned_offset == 16
    text = world.fs.open("data/cleaner-offset-checkpoint", OpenMode.READ).read_at(100, 0)
    assert text == b"0\n1\nt 0 16\n"


def test_truncation_takes_the_clean_part_back() -> None:
    world = filled(18)
    compacted(world)
    world.log.truncate_to(14)
    assert world.log.cleaned_offset is not None
    assert world.log.cleaned_offset <= world.log.log_end_offset <= 14


def test_all_derived_state_holds_over_gaps() -> None:
    world = World(CONFIG)
    for number in range(18):
        world.log.append_as_leader(
            numbered(number, producer_id=7),
            leader_epoch=number // 6,
            now_ms=world.clock.now_ms(),
        )
    world.log.flush()
    compacted(world)
    for end in ("none", "stopped", "killed", "crashed"):
        if end in ("stopped", "killed"):
            world.restart(clean=end == "stopped")
        elif end == "crashed":
            world.crash()
        log = world.log
        seen = offsets(world)
        assert seen == surviving(16, 18)
        assert [log.epoch_at(number) for number in seen] == [number // 6 for number in seen]
        assert log.end_offset_for_epoch(0) == (0, 6)
        again = log.append_as_leader(numbered(17, producer_id=7), leader_epoch=2, now_ms=0)
        assert again.duplicate
        for number in range(18):
            following = next(each for each in seen if each >= number)
            found = log.offset_for_timestamp(number, end_offset=18)
            assert found is not None
            assert (found.offset, found.leader_epoch) == (following, following // 6)
            assert log.read(number, bytes_max=1, end_offset=18).base_offset == following


@pytest.mark.parametrize("is_known", [True, False])
def test_gaps_of_a_compaction_are_no_losses_without_checkpoints(is_known: bool) -> None:  # noqa: FBT001 - a parameter
    """Recovery points gone: the compaction's own checkpoint tells; that one damaged, the policy."""
    world = filled(24)
    compacted(world)
    compact_gap = [each.base_offset for each in world.log.segments]
    assert len(compact_gap) > 2
    world.directory.checkpoint({})
    world.directory.close(clean=False)
    world.fs.remove("data/recovery-point-offset-checkpoint")
    if not is_known:
        world.fs.open("data/cleaner-offset-checkpoint", OpenMode.REPLACE).write_at([b"rubbish"], 0)
    world.start()
    assert offsets(world) == surviving(20, 24)
    assert world.log.log_end_offset == 24


def test_a_slice_knows_an_offset_that_it_does_not_reach() -> None:
    """Near enough that aborted transactions far behind it need not be read."""
    world = filled(40)
    for _ in range(2):
        end = world.log.log_end_offset
        for start in range(end):
            piece = world.log.read(start, bytes_max=1, end_offset=end)
            assert start < piece.end_offset <= min(end, (start // 4 + 1) * 4)
        world.restart()


def test_a_tail_whose_sync_failed_is_on_disk_after_the_next_start() -> None:
    """The system takes the pages for written: they read well, and a power loss takes them."""
    world = World()
    world.append()
    world.log.flush()
    world.directory.checkpoint({})
    world.append(3)
    world.log.write()
    job = world.log.begin_flush()
    assert job is not None
    world.fs.fail_after(0)
    with pytest.raises(OSError, match="injected"):
        job.run()
    world.restart(clean=False)
    assert world.log.flushed_offset == 4
    world.crash()
    assert world.log.log_end_offset == 4
    assert len(batches_in(world.log)) == 2
