"""Brokers broken on purpose, each by one change that could be somebody's mistake.

The simulation has to catch every one of them within a bounded number of seeds. One that gets away
shows what the simulation does not look at.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from headwater.core_log.broker import broker as broker_module
from headwater.core_log.broker.coordinator import Runner
from headwater.core_log.broker.deferred import Deferred
from headwater.core_log.broker.housekeeping import Housekeeping
from headwater.core_log.broker.partitions import ACKS_ALL, Hosted, Partitions
from headwater.core_log.broker.producer_ids import ProducerIds
from headwater.core_log.broker.reconcile import Reconciler
from headwater.core_log.broker.session import Session
from headwater.core_log.broker.shards import Shards
from headwater.core_log.controller import controller as controller_module
from headwater.core_log.controller import nodes
from headwater.core_log.controller.controller import Controller
from headwater.core_log.replica.partition import Partition
from headwater.core_log.storage import checkpointing
from headwater.core_log.storage import recovery as recovery_module
from headwater.core_log.storage.checkpointing import CheckpointJob
from headwater.core_log.storage.checkpoints import LOG_STARTS, RECOVERY_POINTS
from headwater.core_log.storage.directory import LogDirectory
from headwater.core_log.storage.flush import FlushJob
from headwater.core_log.storage.log import PartitionLog
from headwater.core_log.storage.producers import Duplicate, ProducerStates
from headwater.core_log.storage.recovery import _Loading
from headwater.core_log.storage.snapshots import ProducerSnapshots

Patch = pytest.MonkeyPatch
Break = Callable[[Patch], None]


def acks_all_is_answered_when_written(patch: Patch) -> None:
    wait = Hosted.wait

    def eager(self: Hosted, appended: Any, acks: int, waiter: Any, deadline_ms: int) -> None:
        wait(self, appended, 1 if acks == ACKS_ALL else acks, waiter, deadline_ms)

    patch.setattr(Hosted, "wait", eager)


def consumers_read_what_is_not_flushed(patch: Patch) -> None:
    patch.setattr(Hosted, "high_watermark", property(lambda self: self.log.written_offset))


def the_high_watermark_follows_the_write(patch: Patch) -> None:
    advance = Partition.advance_local

    def early(self: Partition, *, log_end_offset: int, durable_offset: int) -> bool:
        del durable_offset
        return advance(self, log_end_offset=log_end_offset, durable_offset=log_end_offset)

    patch.setattr(Partition, "advance_local", early)


def a_flush_covers_what_was_written_after_it_began(patch: Patch) -> None:
    end_flush = PartitionLog.end_flush

    def too_far(self: PartitionLog, job: FlushJob) -> None:
        end_flush(self, job)
        self.flushed_offset = self.written_offset

    patch.setattr(PartitionLog, "end_flush", too_far)


def a_flush_forgets_the_names_of_new_files(patch: Patch) -> None:
    def run(self: FlushJob) -> None:
        for file in self.files:
            file.sync()

    patch.setattr(FlushJob, "run", run)


def a_flush_syncs_one_file_of_several(patch: Patch) -> None:
    def run(self: FlushJob) -> None:
        self.files[0].sync()
        for directory in self.directories:
            self.fs.sync_directory(directory)

    patch.setattr(FlushJob, "run", run)


def a_failed_flush_counts_as_done(patch: Patch) -> None:
    flushed = Partitions._flushed
    patch.setattr(
        Partitions,
        "_flushed",
        lambda self, pairs, errors: flushed(self, pairs, [None] * len(errors)),
    )


def duplicates_are_appended(patch: Patch) -> None:
    check = ProducerStates.check

    def blind(self: ProducerStates, batch: Any) -> Any:
        verdict = check(self, batch)
        return 0 if type(verdict) is Duplicate else verdict

    patch.setattr(ProducerStates, "check", blind)


def gaps_in_the_sequence_are_taken(patch: Patch) -> None:
    check = ProducerStates.check

    def careless(self: ProducerStates, batch: Any) -> Any:
        try:
            return check(self, batch)
        except Exception:  # noqa: BLE001 - the variant is that nobody cares
            return 0

    patch.setattr(ProducerStates, "check", careless)


def producers_are_forgotten_at_a_restart(patch: Patch) -> None:
    def forget(self: Any, segments: Any, *, end_offset: int, expiration_ms: int, **_: Any) -> Any:
        del self, segments, end_offset
        return ProducerStates(expiration_ms=expiration_ms)

    patch.setattr(ProducerSnapshots, "restore", forget)
    patch.setattr(recovery_module, "replay", lambda *_, **__: None)


def producer_ids_are_given_before_they_are_committed(patch: Patch) -> None:
    allocated = ProducerIds._allocated

    def given(self: ProducerIds, block: Any) -> None:
        del block
        allocated(self, (self._next, 1_000))

    patch.setattr(ProducerIds, "_allocated", given)


def a_torn_tail_stays(patch: Patch) -> None:
    def keep(self: Any, index: int, stop: Any) -> None:
        del self, index, stop

    patch.setattr(_Loading, "_cut", keep)


def recovery_cuts_at_the_recovery_point(patch: Patch) -> None:
    read = _Loading._read_segment

    def short(self: Any, segment: Any, next_offset: int, recovery_point: int) -> Any:
        stop = read(self, segment, next_offset, recovery_point)
        if stop.next_offset > recovery_point >= segment.base_offset and recovery_point > 0:
            position = segment.locate(recovery_point)
            if position is not None:
                return stop._replace(
                    position=position[1], next_offset=recovery_point, fault="cut for no reason"
                )
        return stop

    patch.setattr(_Loading, "_read_segment", short)


def every_stop_counts_as_clean(patch: Patch) -> None:
    init = LogDirectory.__init__

    def trusting(self: Any, volume: Any, claimed: Any) -> None:
        init(self, volume, replace(claimed, was_clean=True))

    patch.setattr(LogDirectory, "__init__", trusting)


def epochs_stay_after_an_unclean_end(patch: Patch) -> None:
    unfence = nodes.unfence_broker
    patch.setattr(
        controller_module,
        "unfence_broker",
        lambda image, broker_id, *, raise_leader_epochs: unfence(
            image, broker_id, raise_leader_epochs=False
        ),
    )


def _with_offsets(patch: Patch, change: Callable[[LogDirectory, dict[str, Any]], None]) -> None:
    begin = LogDirectory.begin_checkpoint

    def changed(self: LogDirectory, high_watermarks: Mapping[tuple[str, int], int]) -> Any:
        job = begin(self, high_watermarks)
        offsets = dict(job._offsets)
        change(self, offsets)
        job._offsets = offsets
        return job

    patch.setattr(LogDirectory, "begin_checkpoint", changed)


def the_recovery_point_runs_ahead_of_the_flush(patch: Patch) -> None:
    def ahead(self: LogDirectory, offsets: dict[str, Any]) -> None:
        offsets[RECOVERY_POINTS] = {name: log.log_end_offset for name, log in self._logs.items()}

    _with_offsets(patch, ahead)


def log_starts_are_not_written_down(patch: Patch) -> None:
    def without(self: LogDirectory, offsets: dict[str, Any]) -> None:
        del self
        offsets[LOG_STARTS] = {}

    _with_offsets(patch, without)


def a_deletion_is_answered_before_it_is_durable(patch: Patch) -> None:
    def at_once(self: Housekeeping) -> Deferred[list[Any]]:
        del self
        done: Deferred[list[Any]] = Deferred()
        done.resolve([None])
        return done

    patch.setattr(Housekeeping, "checkpoint", at_once)


def two_checkpoints_run_at_once(patch: Patch) -> None:
    patch.setattr(
        Housekeeping,
        "_checkpoint_running",
        property(lambda _: False, lambda _self, _value: None),
        raising=False,
    )


def files_go_before_the_log_start_is_durable(patch: Patch) -> None:
    def hasty(self: CheckpointJob) -> None:
        for segments in self.doomed.values():
            checkpointing._set_aside(self._fs, segments)
        self.is_done = True

    patch.setattr(CheckpointJob, "_run", hasty)


def metadata_is_answered_before_it_is_committed(patch: Patch) -> None:
    def eager(self: Controller, decide: Any, done: Any, *, now_ms: int) -> None:
        decision = decide(self._newest)
        self._propose(decision.records, now_ms=now_ms)
        done(decision.response)

    patch.setattr(Controller, "submit", eager)


def committed_metadata_is_not_acted_on(patch: Patch) -> None:
    patch.setattr(Reconciler, "_host_if_ours", lambda *_: None)


def metadata_counts_as_flushed_when_written(patch: Patch) -> None:
    def no_work(self: Any) -> None:
        job = self.controller.begin_flush()
        if job is not None:
            self._metadata_flushed(job, None)

    def turn(self: Any) -> None:
        self.controller.write()
        no_work(self)

    patch.setattr(broker_module.Broker, "_turn_metadata", turn)


def offset_commits_are_answered_before_they_are_committed(patch: Patch) -> None:
    act = Runner.act

    def eager(self: Any, effects: Any) -> None:
        act(self, dataclasses.replace(effects, replies_after_commit=()))
        for parked in effects.replies_after_commit:
            parked.reply_to.resolve(parked.response)

    patch.setattr(Runner, "act", eager)


def offset_commits_are_not_written(patch: Patch) -> None:
    patch.setattr(Runner, "_append", lambda *_: None)


def a_shard_serves_before_it_is_loaded(patch: Patch) -> None:
    load = Runner._load

    def hasty(self: Any, offset: int) -> None:
        load(self, offset)
        self.is_loaded = True

    patch.setattr(Runner, "_load", hasty)


def a_shard_keeps_what_was_not_appended(patch: Patch) -> None:
    patch.setattr(Shards, "reload", lambda *_: None)


def a_full_disk_fails_silently(patch: Patch) -> None:
    fail = Hosted.fail

    def silent(self: Hosted, error: Any, *, from_offset: int = 0) -> None:
        if from_offset == 0:
            fail(self, error, from_offset=from_offset)

    patch.setattr(Hosted, "fail", silent)


def what_a_full_disk_dropped_keeps_its_offsets(patch: Patch) -> None:
    drop = PartitionLog._drop_queue

    def kept(self: PartitionLog) -> None:
        end_offset = self.log_end_offset
        drop(self)
        self.log_end_offset = self.written_offset = end_offset

    patch.setattr(PartitionLog, "_drop_queue", kept)


def answers_overtake_each_other(patch: Patch) -> None:
    def ready_first(self: Any) -> None:
        self._flush_wanted = False
        out = self._out
        for slot in [slot for slot in self._slots if slot.parts is not None]:
            out.extend(slot.parts)
            self._slots.remove(slot)
        if out and not self.closed:
            self._out = []
            self._transport.send(out)

    patch.setattr(Session, "flush", ready_first)


def parked_fetches_are_not_woken(patch: Patch) -> None:
    patch.setattr(Hosted, "wake_fetches", lambda self: self.fetches.clear())


VARIANTS: Final[tuple[Break, ...]] = (
    acks_all_is_answered_when_written,
    consumers_read_what_is_not_flushed,
    the_high_watermark_follows_the_write,
    a_flush_covers_what_was_written_after_it_began,
    a_flush_forgets_the_names_of_new_files,
    a_flush_syncs_one_file_of_several,
    a_failed_flush_counts_as_done,
    duplicates_are_appended,
    gaps_in_the_sequence_are_taken,
    producers_are_forgotten_at_a_restart,
    producer_ids_are_given_before_they_are_committed,
    a_torn_tail_stays,
    recovery_cuts_at_the_recovery_point,
    every_stop_counts_as_clean,
    epochs_stay_after_an_unclean_end,
    the_recovery_point_runs_ahead_of_the_flush,
    log_starts_are_not_written_down,
    a_deletion_is_answered_before_it_is_durable,
    two_checkpoints_run_at_once,
    files_go_before_the_log_start_is_durable,
    metadata_is_answered_before_it_is_committed,
    committed_metadata_is_not_acted_on,
    metadata_counts_as_flushed_when_written,
    offset_commits_are_answered_before_they_are_committed,
    offset_commits_are_not_written,
    a_shard_serves_before_it_is_loaded,
    a_shard_keeps_what_was_not_appended,
    a_full_disk_fails_silently,
    what_a_full_disk_dropped_keeps_its_offsets,
    answers_overtake_each_other,
)
