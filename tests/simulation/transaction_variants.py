"""Brokers whose transactions or compaction are broken on purpose, each by one change.

As in ``variants``: what gets away shows what the simulation does not look at. Each names the
scenario that finds it soonest.
"""

import dataclasses
from typing import Any, Final

from headwater.core_log.broker.coordinator import Runner
from headwater.core_log.broker.marker_orders import MarkerOrders
from headwater.core_log.broker.markers import Markers
from headwater.core_log.broker.transactions import Transactions
from headwater.core_log.groups import txn_commits
from headwater.core_log.groups.offsets import Offsets
from headwater.core_log.groups.shard import GroupShard
from headwater.core_log.kernel.effects import Effects
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.storage import compacting
from headwater.core_log.storage.cleanable import dirtiness
from headwater.core_log.storage.compaction.output import CleanedWriter
from headwater.core_log.storage.compaction.survivors import Survivors
from headwater.core_log.storage.compaction.transactions import TransactionWalk
from headwater.core_log.storage.log import PartitionLog
from headwater.core_log.storage.producers import ProducerStates
from headwater.core_log.storage.transactions import TransactionIndex
from headwater.core_log.transactions import expiry, shard
from headwater.core_log.transactions.guard import Guard
from headwater.core_log.transactions.transaction import Transaction, TransactionState

from .variants import Break, Patch


def late_requests_are_served(patch: Patch) -> None:
    patch.setattr(Guard, "admits", lambda *_: True)


def markers_go_before_the_decision_is_durable(patch: Patch) -> None:
    act = Runner.act

    def hasty(self: Any, effects: Effects) -> None:
        orders = effects.orders_after_commit
        act(self, dataclasses.replace(effects, orders_after_commit=()))
        if orders:
            self._runtime.carry_out(self, orders)

    patch.setattr(Runner, "act", hasty)


def the_coordinator_answers_before_its_records_are_durable(patch: Patch) -> None:
    act = Runner.act

    def eager(self: Any, effects: Effects) -> None:
        act(self, dataclasses.replace(effects, replies_after_commit=()))
        for parked in effects.replies_after_commit:
            parked.reply_to.resolve(parked.response)  # type: ignore[attr-defined]  # a Deferred

    patch.setattr(Runner, "act", eager)


def the_last_stable_offset_ignores_open_transactions(patch: Patch) -> None:
    patch.setattr(ProducerStates, "first_unstable_offset", lambda *_: None)


def open_transactions_are_forgotten_at_a_restart(patch: Patch) -> None:
    load = ProducerStates.load_snapshot

    def forget(self: Any, data: Any, *, now_ms: int) -> None:
        load(self, data, now_ms=now_ms)
        self._open.clear()
        for producer in self._producers.values():
            producer.txn_start_offset = -1

    patch.setattr(ProducerStates, "load_snapshot", forget)


def the_epoch_stays_at_the_end_of_a_transaction(patch: Patch) -> None:
    """And the partitions take such a marker: else no transaction would end at all."""
    end = Transaction.end

    def keep(self: Transaction, **facts: Any) -> None:
        end(self, **facts | {"client_version": 0})

    patch.setattr(Transaction, "end", keep)


def a_time_out_fences_nobody(patch: Patch) -> None:
    fence = Transaction.fence
    end = Transaction.end

    def keep(self: Transaction, **facts: Any) -> None:
        is_fenced = self.state is TransactionState.PREPARE_EPOCH_FENCE
        epoch = self.producer_epoch
        end(self, **facts | ({"client_version": 0} if is_fenced else {}))
        if is_fenced:
            self.producer_epoch = epoch

    patch.setattr(Transaction, "fence", fence)
    patch.setattr(Transaction, "end", keep)


def transactions_do_not_time_out(patch: Patch) -> None:
    patch.setattr(expiry, "_abort_timed_out", lambda *_: None)


def a_new_instance_fences_nobody(patch: Patch) -> None:
    raise_epoch = Transaction.raise_epoch

    def keep(self: Transaction, **facts: Any) -> None:
        epoch = self.producer_epoch
        raise_epoch(self, **facts)
        self.producer_epoch = max(epoch, 0)

    patch.setattr(Transaction, "raise_epoch", keep)


def prepared_transactions_are_left_after_a_restart(patch: Patch) -> None:
    patch.setattr(shard, "go_on_ending", lambda *_: None)


def only_the_first_partition_gets_its_marker(patch: Patch) -> None:
    write = MarkerOrders._write

    def first_only(self: Any, order: Any, partition: Any, is_valid: Any, written: Any) -> None:
        if partition == order.partitions[0]:
            write(self, order, partition, is_valid, written)
        else:
            self.unwritten -= 1
            written(partition)

    patch.setattr(MarkerOrders, "_write", first_only)


def a_marker_that_failed_counts_as_written(patch: Patch) -> None:
    write = Markers.write

    def trusting(self: Any, topic: str, index: int, marker: Any, done: Any) -> None:
        write(self, topic, index, marker, lambda _: done(ErrorCode.NONE))

    patch.setattr(Markers, "write", trusting)


def every_transaction_is_committed(patch: Patch) -> None:
    write = Markers.write

    def commit(self: Any, topic: str, index: int, marker: Any, done: Any) -> None:
        write(self, topic, index, dataclasses.replace(marker, is_commit=True), done)

    patch.setattr(Markers, "write", commit)


def old_clients_are_not_verified(patch: Patch) -> None:
    patch.setattr(
        Transactions,
        "verify",
        lambda self, *identity: dict.fromkeys(identity[-1], ErrorCode.NONE),
    )


def what_is_aborted_is_not_listed(patch: Patch) -> None:
    patch.setattr(PartitionLog, "aborted_transactions", lambda *_: [])


def the_list_of_aborted_transactions_is_not_made_anew(patch: Patch) -> None:
    reset = TransactionIndex.reset
    patch.setattr(TransactionIndex, "reset", lambda self, entries: reset(self, entries[:0]))


def the_list_of_aborted_transactions_is_not_synced(patch: Patch) -> None:
    patch.setattr(TransactionIndex, "file", lambda *_: None)


def pending_offsets_count_at_once(patch: Patch) -> None:
    def put(self: Offsets, producer_id: int, place: Any, offset: Any) -> None:
        del producer_id
        self.put(place.group_id, place.topic, place.partition, offset)

    patch.setattr(Offsets, "put_pending", put)


def pending_offsets_are_forgotten_at_a_load(patch: Patch) -> None:
    replay = GroupShard.replay

    def forget(self: Any, key: bytes, value: Any, **facts: Any) -> None:
        if facts.get("sender") is None:
            replay(self, key, value, **facts)

    patch.setattr(GroupShard, "replay", forget)


def markers_are_passed_over_at_a_load(patch: Patch) -> None:
    patch.setattr(GroupShard, "replay_end", lambda *_, **__: None)


def offsets_of_strangers_are_taken(patch: Patch) -> None:
    patch.setattr(txn_commits, "_check_sender", lambda *_: None)


def compaction_keeps_what_was_aborted(patch: Patch) -> None:
    patch.setattr(TransactionWalk, "on_data", lambda *_: False)


def compaction_loses_the_newest_key(patch: Patch) -> None:
    gather = Survivors.gather

    def shorter(self: Any, fs: Any, pace: Any) -> None:
        gather(self, fs, pace)
        self._offsets = self._offsets[:-1]

    patch.setattr(Survivors, "gather", shorter)


def compaction_goes_on_beyond_what_is_decided(patch: Patch) -> None:
    def further(*facts: Any, **others: Any) -> Any:
        return dirtiness(*facts, **others | {"stable_offset": 1 << 60})

    patch.setattr(f"{compacting.__name__}.dirtiness_of", further)


class _Unsynced:
    """A file that forgets to sync."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def sync(self) -> None:
        """Not done."""


def cleaned_files_are_not_synced(patch: Patch) -> None:
    create = CleanedWriter._create
    patch.setattr(CleanedWriter, "_create", lambda self, suffix: _Unsynced(create(self, suffix)))


VARIANTS: Final[dict[Break, str]] = {
    late_requests_are_served: "late-1",
    the_coordinator_answers_before_its_records_are_durable: "crashes",
    the_last_stable_offset_ignores_open_transactions: "transactions",
    open_transactions_are_forgotten_at_a_restart: "crashes",
    the_epoch_stays_at_the_end_of_a_transaction: "transactions",
    a_time_out_fences_nobody: "time-outs",
    transactions_do_not_time_out: "time-outs",
    a_new_instance_fences_nobody: "zombies",
    prepared_transactions_are_left_after_a_restart: "crashes",
    only_the_first_partition_gets_its_marker: "transactions",
    a_marker_that_failed_counts_as_written: "full-disk",
    every_transaction_is_committed: "transactions",
    old_clients_are_not_verified: "late-1",
    what_is_aborted_is_not_listed: "transactions",
    the_list_of_aborted_transactions_is_not_made_anew: "crashes",
    the_list_of_aborted_transactions_is_not_synced: "crashes",
    pending_offsets_count_at_once: "copies",
    pending_offsets_are_forgotten_at_a_load: "copies-restarted",
    markers_are_passed_over_at_a_load: "copies-restarted",
    offsets_of_strangers_are_taken: "rebalances",
    compaction_keeps_what_was_aborted: "compaction",
    compaction_loses_the_newest_key: "compaction",
    compaction_goes_on_beyond_what_is_decided: "swaps",
    cleaned_files_are_not_synced: "swaps",
}
"""Each with the scenario that finds it. ``test_torn_decisions`` catches the one that is missing."""
