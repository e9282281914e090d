"""Producer ids come from committed blocks and are never given twice."""

import pytest

from headwater.core_log.broker.deferred import Deferred
from headwater.core_log.broker.producer_ids import Block, ProducerIds
from headwater.core_log.kernel.errors import ApiError, ErrorCode

from .world import World


class Controller:
    """Hands out blocks when it is told to."""

    def __init__(self) -> None:
        self.asked: list[Deferred[Block | ApiError]] = []

    def allocate(self) -> Deferred[Block | ApiError]:
        self.asked.append(Deferred())
        return self.asked[-1]


def take(ids: ProducerIds, count: int) -> list[int | ApiError]:
    taken: list[int | ApiError] = []
    for _ in range(count):
        ids.next().then(taken.append)
    return taken


def test_many_who_wait_share_one_block_and_the_rest_gets_the_next() -> None:
    controller = Controller()
    ids = ProducerIds(controller.allocate)
    taken = take(ids, 5)
    assert (taken, len(controller.asked)) == ([], 1)
    controller.asked[0].resolve((100, 3))
    assert (taken, len(controller.asked)) == ([100, 101, 102], 2)
    controller.asked[1].resolve((200, 3))
    assert taken == [100, 101, 102, 200, 201]
    assert take(ids, 1) == [202]


def test_who_cannot_wait_gets_none_and_finds_one_the_next_time() -> None:
    controller = Controller()
    ids = ProducerIds(controller.allocate)
    assert ids.take() is None
    assert ids.take() is None
    assert len(controller.asked) == 1
    controller.asked[0].resolve((100, 2))
    assert (ids.take(), ids.take(), ids.take()) == (100, 101, None)
    assert len(controller.asked) == 2


def test_readiness_is_told_when_a_block_is_there_or_why_there_is_none() -> None:
    controller = Controller()
    ids = ProducerIds(controller.allocate)
    told: list[ApiError | None] = []
    ids.ready().then(told.append)
    error = ApiError(ErrorCode.KAFKA_STORAGE_ERROR, "the disk is full")
    controller.asked[0].resolve(error)
    ids.ready().then(told.append)
    controller.asked[1].resolve((100, 1))
    ids.ready().then(told.append)
    assert told == [error, None, None]
    assert ids.take() == 100


def test_who_waits_learns_why_there_is_none() -> None:
    controller = Controller()
    ids = ProducerIds(controller.allocate)
    taken = take(ids, 2)
    error = ApiError(ErrorCode.KAFKA_STORAGE_ERROR, "the disk is full")
    controller.asked[0].resolve(error)
    assert taken == [error, error]
    take(ids, 1)
    assert len(controller.asked) == 2


@pytest.mark.parametrize("end", ["stop", "kill", "crash"])
def test_a_restart_begins_a_new_block(end: str) -> None:
    world = World(topic=False)
    before = [world.producer_id() for _ in range(3)]
    world.reopened(getattr(world.broker, end))
    after = [world.producer_id() for _ in range(3)]
    assert len({*before, *after}) == 6
    assert min(after) > max(before)
