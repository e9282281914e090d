"""Waits of one partition: answered in time, in order, and only for what they waited for."""

import pytest

from headwater.core_log.broker.partitions import ACKS_ALL, Hosted
from headwater.core_log.kernel.errors import ApiError, ErrorCode
from headwater.core_log.records.batch import read_batch
from headwater.core_log.storage.log import Appended

from .world import TOPIC, World


class Told:
    """Remembers how its appends ended."""

    def __init__(self) -> None:
        self.ends: list[tuple[int, ErrorCode | None]] = []

    def done(self, hosted: Hosted, appended: Appended, error: ApiError | None) -> None:
        del hosted
        self.ends.append((appended.last_offset, None if error is None else error.code))


def append(hosted: Hosted, told: Told, world: World, *, acks: int = ACKS_ALL) -> None:
    """One record, with a deadline as many seconds away as its offset."""
    appended = hosted.append(read_batch(world.batch("v")), now_ms=world.now_ms)
    hosted.wait(appended, acks, told, 1_000 * (10 - appended.last_offset))


def test_each_wait_expires_by_its_own_deadline() -> None:
    """The oldest append may have the latest deadline."""
    world = World()
    hosted, told = world.hosted(), Told()
    for _ in range(3):
        append(hosted, told, world)
    hosted.expire(8_500)
    assert told.ends == [(2, ErrorCode.REQUEST_TIMED_OUT)]
    hosted.expire(10_000)
    assert sorted(told.ends)[:2] == [
        (0, ErrorCode.REQUEST_TIMED_OUT),
        (1, ErrorCode.REQUEST_TIMED_OUT),
    ]
    assert not hosted.has_waits


def test_a_failure_spares_those_before_it() -> None:
    world = World()
    hosted, told = world.hosted(), Told()
    for _ in range(3):
        append(hosted, told, world)
    hosted.fail(ApiError(ErrorCode.KAFKA_STORAGE_ERROR), from_offset=1)
    assert told.ends == [(1, ErrorCode.KAFKA_STORAGE_ERROR), (2, ErrorCode.KAFKA_STORAGE_ERROR)]
    assert hosted.has_waits


def test_who_is_told_of_a_failure_may_append_again_at_once() -> None:
    world = World()
    hosted, told = world.hosted(), Told()

    class Again(Told):
        def done(self, hosted: Hosted, appended: Appended, error: ApiError | None) -> None:
            super().done(hosted, appended, error)
            append(hosted, told, world)

    again = Again()
    append(hosted, again, world)
    append(hosted, again, world)
    hosted.fail(ApiError(ErrorCode.KAFKA_STORAGE_ERROR))
    assert len(again.ends) == 2
    assert told.ends == []
    world.broker.running.partitions.touched(hosted)
    world.broker.settle()
    assert [code for _, code in told.ends] == [None, None]


def test_what_is_committed_already_is_told_at_once() -> None:
    world = World()
    world.produce("v")
    told = Told()
    world.hosted().wait(Appended(0, 0), ACKS_ALL, told, 0)
    assert told.ends == [(0, None)]


def test_a_removed_partition_answers_its_waits_and_takes_no_more() -> None:
    world = World()
    hosted, told = world.hosted(), Told()
    append(hosted, told, world)
    world.broker.running.partitions.remove(hosted)
    assert told.ends == [(0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)]
    assert world.broker.running.partitions.by_name(TOPIC, 0) is None
    with pytest.raises(ApiError, match="deleted"):
        append(hosted, told, world)
