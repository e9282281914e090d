"""Compaction in a broker: by the clock, beside everything else, and given up when need be."""

import errno
from collections.abc import Callable

import pytest

from headwater.core_log.broker.compaction import FAILURES_MAX, CleanerFailed, Outcome
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.kernel.ports import OpenMode
from headwater.core_log.protocol.messages.delete_topics import DeleteTopicsResponse
from headwater.core_log.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from headwater.core_log.protocol.messages.offset_commit import OffsetCommitResponse
from headwater.core_log.protocol.messages.offset_fetch import OffsetFetchResponse
from headwater.core_log.protocol.messages.produce import ProduceResponse
from headwater.core_log.records.record import NewRecord, build_batch
from headwater.core_log.storage.compaction.job import CleanFault, CleanJob, CleanResult
from headwater.core_log.testing import requests

from .transacting import FEW, Transactor
from .transacting import committed as read_committed
from .world import TOPIC, World

ROLL = {"segment.index.bytes": "8", "index.interval.bytes": "0"}
"""A segment for every record."""
COMPACT = ROLL | {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0"}
BACKOFF_MS = 15_000


def compacted_world(**configs: str) -> World:
    world = World(topic=False)
    world.create(TOPIC, configs=COMPACT | {k.replace("_", "."): v for k, v in configs.items()})
    return world


def put(world: World, text: str, topic: str = TOPIC) -> int:
    """One record a word, ``key=value``; without a value a tombstone."""
    code = 0
    for word in text.split():
        key, _, value = word.partition("=")
        batch = build_batch(
            [
                NewRecord(
                    timestamp_ms=world.now_ms,
                    key=key.encode(),
                    value=value.encode() if value else None,
                )
            ]
        )
        code = world.produce_batch(batch, topic=topic).error_code
    return code


def put_without_key(world: World) -> int:
    return world.produce_batch(
        requests.batch_of(["keyless"], now_ms=world.now_ms, key=None)
    ).error_code


def events(world: World) -> list[str]:
    return [event for event, _ in world.broker.notes]


def test_the_newest_value_of_each_key_stays() -> None:
    world = compacted_world()
    put(world, "a=1 b=1 a=2 c=1 b=2 z=active")
    world.broker.advance(BACKOFF_MS - 1)
    assert world.read() == ["1", "1", "2", "1", "2", "active"]
    world.broker.advance(1)
    assert world.read() == ["2", "1", "2", "active"]
    assert world.hosted().log.cleaned_offset == 5
    assert events(world).count("log_compacted") == 1
    stats = world.broker.running.compaction.stats
    assert (stats.passes, stats.last.records_in, stats.last.records_out) == (1, 5, 3)
    assert stats.bytes_out < stats.bytes_in
    world.broker.check()


def test_nothing_dirty_means_no_pass() -> None:
    world = compacted_world()
    put(world, "a=1 a=2 z=active")
    world.broker.advance(3 * BACKOFF_MS)
    put(world, "z=active")
    assert world.broker.running.compaction.stats.passes == 1
    assert world.broker.running.compaction.dirty_ratio_max == 0.0


def test_several_dirty_logs_follow_each_other_at_once() -> None:
    world = compacted_world()
    world.create("u", configs=COMPACT)
    for topic in (TOPIC, "u"):
        put(world, "a=1 a=2 z=active", topic)
    world.broker.advance(BACKOFF_MS)
    assert world.broker.running.compaction.stats.passes == 2


def test_other_topics_are_left_as_they_are() -> None:
    world = World(topic=False)
    world.create(TOPIC, configs=ROLL)
    put(world, "a=1 a=2 z=active")
    world.broker.advance(3 * BACKOFF_MS)
    assert world.read() == ["1", "2", "active"]


def test_compaction_can_be_switched_on_and_off_for_a_topic() -> None:
    """Records without a key from before go; afterwards nothing does any more."""
    world = World(topic=False)
    world.create(TOPIC, configs=ROLL | {"min.cleanable.dirty.ratio": "0"})
    put_without_key(world)
    put(world, "a=1 a=2 z=active")
    world.alter(TOPIC, cleanup_policy="compact")
    assert put_without_key(world) == ErrorCode.INVALID_RECORD
    world.broker.advance(BACKOFF_MS)
    assert world.read() == ["2", "active"]
    world.alter(TOPIC, cleanup_policy="delete")
    assert put_without_key(world) == ErrorCode.NONE
    put(world, "a=3 a=4 z=active")
    world.broker.advance(5 * BACKOFF_MS)
    assert world.read() == ["2", "active", "keyless", "3", "4", "active"]


def test_a_broker_can_do_without_compaction() -> None:
    world = World(topic=False, configs={"log.cleaner.enable": "false"})
    world.create(TOPIC, configs=COMPACT)
    put(world, "a=1 a=2 z=active")
    world.broker.advance(10 * BACKOFF_MS)
    assert world.read() == ["1", "2", "active"]


def test_lazily_flushed_records_are_put_on_disk_first() -> None:
    world = compacted_world(flush_messages="1000000")
    put(world, "a=1 a=2 z=active")
    assert world.hosted().log.flushed_offset == 0
    world.broker.advance(3 * BACKOFF_MS)
    assert world.read() == ["2", "active"]


def test_the_longest_lag_makes_a_quiet_log_roll_and_be_compacted() -> None:
    world = World(topic=False, configs={"log.retention.check.interval.ms": "1000"})
    world.create(TOPIC, configs={"cleanup.policy": "compact", "max.compaction.lag.ms": "60000"})
    put(world, "a=1 a=2")
    world.broker.advance(50_000)
    assert world.read() == ["1", "2"]
    world.broker.advance(40_000)
    assert world.read() == ["2"]


def test_retention_applies_as_well_where_both_policies_are_named() -> None:
    world = compacted_world(cleanup_policy="compact,delete", retention_ms="600000")
    put(world, "a=1 a=2 b=1 z=active")
    world.broker.advance(BACKOFF_MS)
    assert world.read() == ["2", "1", "active"]
    world.broker.advance(1_000_000)
    assert world.read() == []
    put(world, "a=3 a=4 z=active")
    world.broker.advance(BACKOFF_MS)
    assert world.read() == ["4", "active"]
    world.broker.check()


@pytest.mark.parametrize("end", ["stop", "kill", "crash"])
@pytest.mark.parametrize("steps", range(0, 30, 2))
def test_the_broker_may_end_at_any_step(steps: int, end: str) -> None:
    world = compacted_world()
    put(world, "a=1 b=1 a=2 c=1 b=2 z=active")
    world.broker.clock.advance(BACKOFF_MS)
    for _ in range(steps):
        world.broker.step()
    broker = world.broker
    world.reopened({"stop": broker.stop, "kill": broker.kill, "crash": broker.crash}[end])
    assert world.read() in (["1", "1", "2", "1", "2", "active"], ["2", "1", "2", "active"])
    world.broker.advance(2 * BACKOFF_MS)
    assert world.read() == ["2", "1", "2", "active"]
    world.broker.check()


@pytest.mark.parametrize("steps", range(0, 30, 2))
def test_a_topic_may_be_deleted_at_any_step(steps: int) -> None:
    world = compacted_world()
    put(world, "a=1 b=1 a=2 c=1 b=2 z=active")
    world.broker.clock.advance(BACKOFF_MS)
    for _ in range(steps):
        world.broker.step()
    answer = world.ask(requests.delete_topic(TOPIC, version=6), DeleteTopicsResponse, 6)
    assert answer.responses[0].error_code == ErrorCode.NONE
    world.create(TOPIC, configs=COMPACT)
    put(world, "a=3 a=4 z=active")
    world.broker.advance(2_000_000)
    assert world.read() == ["4", "active"]
    assert not world.broker.failures
    assert not world.broker.running.compaction.uncleanable


def roll_often(world: World, topic: str) -> None:
    world.alter(topic, segment_index_bytes="8", index_interval_bytes="100")
    world.reopened(world.broker.stop)  # the interval counts from the next segment on


def committed(world: World) -> dict[str, int]:
    """The group's offset of the topic's partition, by group."""
    offsets = {}
    for group in ("g", "h"):
        request = requests.fetch_offsets(
            group, TOPIC, [0], version=10, topic_id=world.topic_id(TOPIC)
        )
        answer = world.ask(request, OffsetFetchResponse, 10)
        offsets[group] = answer.groups[0].topics[0].partitions[0].committed_offset
    return offsets


def test_committed_offsets_are_compacted_and_found_again() -> None:
    world = World(configs=FEW)
    find = FindCoordinatorRequest(key_type=0, coordinator_keys=["g"])
    world.ask(find, FindCoordinatorResponse, 4)
    roll_often(world, "__consumer_offsets")
    for offset in range(40):
        for group in ("g", "h"):
            request = requests.commit_offset(group, TOPIC, world.topic_id(TOPIC), {0: offset})
            answer = world.ask(request, OffsetCommitResponse, 10)
            assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE
    before = world.hosted("__consumer_offsets").log.size_bytes
    world.broker.advance(2 * BACKOFF_MS)
    assert world.hosted("__consumer_offsets").log.size_bytes < before / 4
    for end in (world.broker.stop, world.broker.kill, world.broker.crash):
        assert committed(world) == {"g": 39, "h": 39}
        world.reopened(end)
    assert committed(world) == {"g": 39, "h": 39}
    assert not [event for event, facts in world.broker.notes if facts["severe"]]


def test_the_coordinator_s_memory_of_transactions_is_compacted_and_found_again() -> None:
    world = World(configs=FEW)
    transactor = Transactor(world)
    assert transactor.initialize() == ErrorCode.NONE
    roll_often(world, "__transaction_state")
    transactor.connection = None
    for turn in range(20):
        transactor.send("v")
        assert transactor.end(commit=turn % 2 == 0) == ErrorCode.NONE
    before = world.hosted("__transaction_state").log.size_bytes
    world.broker.advance(2 * BACKOFF_MS)
    assert world.hosted("__transaction_state").log.size_bytes < before / 2
    for end in (world.broker.stop, world.broker.kill, world.broker.crash):
        world.reopened(end)
        transactor.connection = None
        known = transactor.sender
        assert transactor.initialize() == ErrorCode.NONE
        assert transactor.sender.producer_id == known.producer_id
        assert transactor.sender.producer_epoch > known.producer_epoch
        transactor.send("v")
        assert transactor.end() == ErrorCode.NONE
    assert not world.broker.running.compaction.uncleanable


@pytest.mark.parametrize("version", [1, 2])
def test_an_aborted_record_supersedes_nothing(version: int) -> None:
    world = World(topic=False, configs=FEW)
    world.create(TOPIC, configs=COMPACT)
    transactor = Transactor(world, version)
    assert transactor.initialize() == ErrorCode.NONE

    def transaction(value: str, *, commit: bool) -> None:
        if version == 1:
            assert transactor.add(0) == ErrorCode.NONE
        assert transactor.send(value).error_code == ErrorCode.NONE
        assert transactor.end(commit=commit) == ErrorCode.NONE

    transaction("old", commit=True)
    transaction("new", commit=True)
    transaction("aborted", commit=False)
    put(world, "z=active")
    for end in (None, world.broker.stop, world.broker.kill, world.broker.crash):
        world.broker.advance(2 * BACKOFF_MS)
        assert read_committed(world) == ["new", "active"]
        if end is not None:
            world.reopened(end)


def test_a_transaction_is_refused_a_record_without_a_key() -> None:
    world = World(topic=False, configs=FEW)
    world.create(TOPIC, configs=COMPACT)
    transactor = Transactor(world)
    assert transactor.initialize() == ErrorCode.NONE
    batch = requests.batch_of(
        ["a", "b"],
        now_ms=world.now_ms,
        producer_id=transactor.sender.producer_id,
        producer_epoch=transactor.sender.producer_epoch,
        key=None,
        is_transactional=True,
    )
    request = requests.produce(
        TOPIC, world.topic_id(TOPIC), {0: batch}, transactional_id=transactor.transactional_id
    )
    answer = world.ask(request, ProduceResponse, 13).responses[0].partition_responses[0]
    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert [error.batch_index for error in answer.record_errors] == [0, 1]


def test_a_damaged_log_is_left_alone_and_says_why() -> None:
    world = compacted_world()
    put(world, "a=1 a=2 z=active")
    world.broker.fs.flip_bit("/data/t-0/00000000000000000000.log", 65)
    world.create("u", configs=COMPACT)
    put(world, "a=1 a=2 z=active", "u")
    world.broker.advance(3 * BACKOFF_MS)
    (reason,) = world.broker.running.compaction.uncleanable.values()
    assert "00000000000000000000.log, byte 0" in reason
    assert world.read("u") == ["2", "active"]
    assert events(world).count("log_uncleanable") == 1
    assert not [name for name in world.broker.fs.list("/data/t-0") if name.endswith(".cleaned")]
    world.reopened(world.broker.kill)
    assert world.broker.running.compaction.uncleanable == {}


class FailingCleaner:
    """Fails as told, and counts."""

    def __init__(self, outcome: Callable[[CleanJob], Outcome]) -> None:
        self.calls = 0
        self._outcome = outcome

    def run(
        self, job: CleanJob, *, bytes_per_second_max: float | None, done: Callable[[Outcome], None]
    ) -> None:
        assert bytes_per_second_max is None
        self.calls += 1
        done(self._outcome(job))


def test_a_cleaner_that_dies_is_tried_again_later_and_later_and_not_for_ever() -> None:
    world = compacted_world()
    cleaner = FailingCleaner(lambda job: CleanerFailed(reason="it died"))
    world.broker.running.compaction._cleaner = cleaner
    put(world, "a=1 a=2 z=active")
    calls = []
    for _ in range(12):
        world.broker.advance(BACKOFF_MS)
        calls.append(cleaner.calls)
    assert calls[:7] == [1, 1, 2, 2, 2, 2, FAILURES_MAX]
    assert calls[-1] == FAILURES_MAX
    (reason,) = world.broker.running.compaction.uncleanable.values()
    assert "it died" in reason
    assert world.read() == ["1", "2", "active"]


def test_files_that_go_under_the_cleaner_s_hands_are_no_damage() -> None:
    """DeleteRecords removes them; what is left can be cleaned as before."""
    world = compacted_world()
    put(world, "a=1 a=2 a=3 z=active")

    def surprised(job: CleanJob) -> Outcome:
        world.hosted().log.raise_log_start(1)
        fault = CleanFault(file="00000000000000000000.log", position=0, reason="it is gone")
        return CleanResult(clean_until_offset=job.first_dirty_offset, fault=fault)

    compaction = world.broker.running.compaction
    cleaner, compaction._cleaner = compaction._cleaner, FailingCleaner(surprised)
    world.broker.advance(BACKOFF_MS)
    assert compaction.uncleanable == {}
    compaction._cleaner = cleaner
    world.broker.advance(4 * BACKOFF_MS)
    assert world.read() == ["3", "active"]


def test_a_pass_without_progress_is_not_tried_for_ever() -> None:
    world = compacted_world()
    cleaner = FailingCleaner(lambda job: CleanResult(clean_until_offset=job.first_dirty_offset))
    world.broker.running.compaction._cleaner = cleaner
    put(world, "a=1 a=2 z=active")
    world.broker.advance(10 * BACKOFF_MS)
    assert cleaner.calls == 1
    (reason,) = world.broker.running.compaction.uncleanable.values()
    assert "dedupe.buffer.size" in reason


def test_a_full_disk_postpones_compaction() -> None:
    world = compacted_world()
    put(world, "a=1 a=2 z=active")
    fs = world.broker.fs
    fs.capacity_bytes = fs.used_bytes
    world.broker.advance(BACKOFF_MS)
    assert world.read() == ["1", "2", "active"]
    assert "compaction_postponed" in events(world)
    fs.capacity_bytes = None
    world.broker.advance(10 * BACKOFF_MS)
    assert world.read() == ["2", "active"]


@pytest.mark.parametrize("operation", range(0, 60, 3))
def test_a_failing_disk_takes_the_directory_offline_and_nothing_is_mixed(operation: int) -> None:
    world = compacted_world()
    put(world, "a=1 b=1 a=2 c=1 b=2 z=active")
    world.broker.fs.fail_after(operation, errno.EIO)
    world.broker.advance(BACKOFF_MS)
    world.broker.fs.fail_after(1 << 40)
    world.reopened(world.broker.kill)
    assert world.read() in (["1", "1", "2", "1", "2", "active"], ["2", "1", "2", "active"])
    world.broker.advance(2 * BACKOFF_MS)
    assert world.read() == ["2", "1", "2", "active"]


def test_settings_are_read_before_every_look() -> None:
    world = World(topic=False, configs={"log.cleaner.backoff.ms": "1000"})
    world.create(TOPIC, configs=COMPACT)
    put(world, "a=1 a=2 z=active")
    world.broker.advance(1000)
    assert world.read() == ["2", "active"]


def test_a_cleaned_log_is_the_same_to_kafka_s_checkpoint() -> None:
    world = compacted_world()
    put(world, "a=1 a=2 z=active")
    world.broker.advance(BACKOFF_MS + 61_000)
    file = world.broker.fs.open("/data/cleaner-offset-checkpoint", OpenMode.READ)
    assert file.read_at(100, 0) == b"0\n1\nt 0 2\n"
