"""The tests are tested: each of these faults, put into the code on purpose, makes one of them fail.

A fault that a test was once written for belongs here, so that the test cannot rot unseen. Only
tests that draw nothing at random take part: they fail at once and the same way each time.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from headwater.core_log.storage import (
    checkpointing,
    directory,
    expiry,
    recovery,
    swap,
    truncation,
    volume,
)
from headwater.core_log.storage.checkpointing import CheckpointJob
from headwater.core_log.storage.errors import LogDirectoryFailed
from headwater.core_log.storage.flush import FlushJob, Unflushed
from headwater.core_log.storage.index import OffsetIndex, RecentBatches, SegmentIndexes, TimeIndex
from headwater.core_log.storage.log import PartitionLog
from headwater.core_log.storage.recovery import _Loading
from headwater.core_log.storage.scan import Found, walk_batches
from headwater.core_log.storage.segment import Segment
from headwater.core_log.storage.snapshots import ProducerSnapshots
from headwater.core_log.testing.memory_fs import MemoryFileSystem, PowerLost

from . import (
    test_cleaning,
    test_crash,
    test_directory,
    test_log,
    test_recovery,
    test_segment,
    test_swap,
)

Patch = Callable[[pytest.MonkeyPatch], None]
Function = Callable[..., Any]


def crash_everywhere() -> None:
    for operation in range(0, test_crash.operation_count(), 3):
        told = test_crash.story(operation)
        told.world.fs.crash_after(operation)
        with pytest.raises(PowerLost):
            told.run()
        told.world.crash()
        told.check()
        told.check_it_goes_on()


def quick_suite() -> Iterator[Callable[[], None]]:
    """Some of the tests, the quickest first."""
    yield test_log.test_the_first_flush_makes_names_durable_too
    yield test_log.test_jobs_may_end_in_any_order
    yield test_log.test_a_flush_before_a_truncation_proves_nothing_after_it
    yield test_log.test_truncation_takes_whole_batches_and_forgets_their_producers
    yield test_log.test_one_turn_is_one_write_per_segment
    yield test_log.test_a_segment_rolls_before_it_grows_beyond_its_size
    yield test_log.test_retention_by_time_takes_the_active_segment_too
    yield test_log.test_files_go_after_the_log_start_is_durable_and_the_delay_is_over
    yield test_log.test_a_failed_flush_takes_the_directory_offline_for_good
    yield test_directory.test_the_marker_of_a_clean_stop_goes_before_anything_is_written
    yield test_directory.test_the_reserve_lets_a_full_disk_delete
    yield test_recovery.test_a_torn_segment_takes_later_ones_with_it
    yield test_recovery.test_a_changed_batch_below_the_recovery_point_stays_and_is_reported
    yield test_segment.test_an_index_caught_lying_is_replaced
    yield test_log.test_producers_of_cut_records_stay_forgotten
    yield test_cleaning.test_deleted_records_drop_whole_cleaned_segments
    yield test_cleaning.test_a_log_that_is_begun_anew_elsewhere_takes_no_result
    yield test_cleaning.test_a_tail_whose_sync_failed_is_on_disk_after_the_next_start
    yield partial(test_cleaning.test_gaps_of_a_compaction_are_no_losses_without_checkpoints, True)
    yield test_swap.test_one_cleaned_file_left_undoes_every_swap_behind_it
    yield test_swap.test_a_decided_swap_replaces_exactly_what_it_says
    for seed in range(10):
        yield partial(test_crash.test_a_kill_loses_nothing_that_was_written, seed)
    for left_bytes in (0, 111, 222):
        yield partial(test_log.test_a_full_disk_refuses_and_keeps_serving, left_bytes)
    for tail in (test_recovery.NEXT[:-1], test_recovery.NEXT[:-1] + b"?"):
        yield partial(test_recovery.test_a_torn_tail_is_cut_and_told, tail)
    yield lambda: test_recovery.test_indexes_are_caches("both", "zeros", is_clean=True)
    yield lambda: test_recovery.test_indexes_are_caches("both", "cut", is_clean=True)
    yield crash_everywhere


def replacing(target: object, name: str, replacement: object) -> Patch:
    return lambda patch: patch.setattr(target, name, replacement)


def wrapping(target: object, name: str, wrap: Callable[[Function], Function]) -> Patch:
    return lambda patch: patch.setattr(target, name, wrap(getattr(target, name)))


def nothing(*_: object, **__: object) -> None: ...


def flush_without_files(job: FlushJob) -> None:
    for name in job.directories:
        job.fs.sync_directory(name)


def flush_without_directories(job: FlushJob) -> None:
    for file in job.files:
        file.sync()


def careless_write(fs: Any, path: str, data: bytes) -> None:
    file = fs.open(path, "replace")
    file.write_at([data], 0)


def blind_walk(*arguments: Any, **options: Any) -> Iterator[Found]:
    for found in walk_batches(*arguments, **options):
        yield found._replace(fault=None)


def keeping_the_marker(remove: Function) -> Function:
    return lambda self, path: None if path.endswith("cleanshutdown") else remove(self, path)


def off_by(difference: int) -> Callable[[Function], Function]:
    return lambda original: (
        lambda self, value, *rest, **more: original(self, value + difference, *rest, **more)
    )


FAULTS: dict[str, Patch] = {
    "a flush that syncs no data": replacing(FlushJob, "run", flush_without_files),
    "a flush that syncs no names": replacing(FlushJob, "run", flush_without_directories),
    "a flush that promises too much": wrapping(
        Unflushed, "end", lambda end: lambda self, job: end(self, job) + 1
    ),
    "a job that proves something after a truncation": replacing(
        Unflushed, "end", lambda self, job: job.end_offset
    ),
    "an account that loses a segment when the next is written": replacing(
        Unflushed, "written", lambda self, segment: setattr(self, "_segments", [segment])
    ),
    "indexes that are not flushed": replacing(Unflushed, "indexed", nothing),
    "small files replaced in place": lambda patch: (
        patch.setattr(checkpointing, "write_durably", careless_write),
        patch.setattr(directory, "write_durably", careless_write),
        patch.setattr(volume, "write_durably", careless_write),
    )[0],
    "a checkpoint that syncs no directory": wrapping(
        CheckpointJob,
        "_run",
        lambda run: lambda self: run(_without_directory_sync(self)),
    ),
    "a checkpoint that does not give up the reserve": replacing(
        CheckpointJob, "run", CheckpointJob._run
    ),
    "a clean-shutdown marker that stays": wrapping(
        MemoryFileSystem, "remove", keeping_the_marker
    ),
    "recovery that believes checksums": replacing(recovery, "walk_batches", blind_walk),
    "recovery that leaves the torn bytes": replacing(Segment, "cut_file", Segment.hide_from),
    "recovery that leaves later segments": replacing(_Loading, "_cut_files", nothing),
    "recovery that syncs nothing": replacing(_Loading, "_sync_from", nothing),
    "recovery that forgets producers": replacing(
        recovery, "replay", lambda *_, **__: None
    ),
    "a full disk that leaves half a batch": replacing(
        Segment,
        "drop_pending",
        lambda self, next_offset: self.pending.clear(),
    ),
    "a truncation that keeps producers and epochs": replacing(
        PartitionLog, "restore_derived", nothing
    ),
    "an offset index that points too far": wrapping(OffsetIndex, "floor", off_by(1)),
    "an offset index that keeps a cut entry": wrapping(OffsetIndex, "truncate_to", off_by(200)),
    "a time index that points too far": wrapping(TimeIndex, "floor", off_by(5000)),
    "a time index believed when torn": replacing(TimeIndex, "fault", lambda *_: None),
    "indexes that are not sealed": replacing(SegmentIndexes, "seal", nothing),
    "recent batches that are off by one": wrapping(RecentBatches, "find", off_by(1)),
    "snapshots that outlive a truncation": replacing(ProducerSnapshots, "forget_above", nothing),
    "segments that never roll by size": replacing(Segment, "must_roll", lambda *_: False),
    "deletion that does not wait for the checkpoint": wrapping(
        expiry,
        "doom",
        lambda doom: lambda log, count, reason: _doom_at_once(log, doom, count, reason),
    ),
    "a swap beside what a dead cleaner left": replacing(swap, "_remove_temporary", nothing),
    "a swap whose list is not believed": replacing(swap, "decode_replaced", lambda _: None),
    "a truncation that leaves a swap half done": replacing(truncation, "end_cleaning", nothing),
    "recovery that takes compaction for a loss": replacing(_Loading, "_is_torn", lambda *_: True),
    "recovery that syncs what it did not write": replacing(recovery, "_rewrite", nothing),
    "a failed flush that is forgiven": replacing(
        PartitionLog,
        "flush_failed",
        lambda self, error: LogDirectoryFailed(self.path, str(error)),
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.patches_code
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_on_purpose_is_caught(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[fault](monkeypatch)
    for test in quick_suite():
        try:
            test()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            return
    pytest.fail(f"no test notices: {fault}")


def test_without_a_fault_all_is_well() -> None:
    for test in quick_suite():
        test()


class _NoDirectorySync:
    def __init__(self, fs: Any) -> None:
        self._fs = fs

    def __getattr__(self, name: str) -> Any:
        return nothing if name == "sync_directory" else getattr(self._fs, name)


def _without_directory_sync(job: CheckpointJob) -> CheckpointJob:
    if not isinstance(job._fs, _NoDirectorySync):
        job._fs = _NoDirectorySync(job._fs)
    return job


def _doom_at_once(log: PartitionLog, doom: Function, count: int, reason: str) -> Any:
    doomed = log.segments[:count]
    notes = doom(log, count, reason)
    log.remove_files(doomed)
    return notes
