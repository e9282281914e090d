"""Offsets by time and by place."""

import pytest

from headwater.core_log.broker.handlers.list_offsets import (
    EARLIEST,
    EARLIEST_LOCAL,
    EARLIEST_PENDING,
    HANDLER,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    READ_COMMITTED,
)
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
)
from headwater.core_log.testing import requests

from ..transacting import FEW, Transactor
from ..world import TOPIC, World


def answer(
    world: World, timestamp: int, version: int = 11, *, read_committed: bool = False
) -> ListOffsetsPartitionResponse:
    request = requests.list_offset(TOPIC, 0, timestamp)
    request.isolation_level = READ_COMMITTED if read_committed else 0
    return world.ask(request, ListOffsetsResponse, version).topics[0].partitions[0]


@pytest.fixture(scope="module")
def three() -> World:
    """Records at 0, 10 and 5 seconds."""
    world = World()
    for jump_ms in (0, 10_000, -5_000):
        world.broker.clock.jump(jump_ms)
        world.produce("v")
    return world


@pytest.mark.parametrize("version", range(HANDLER.version_min, HANDLER.version_max + 1))
def test_start_and_end_are_told_in_every_version(three: World, version: int) -> None:
    assert answer(three, EARLIEST, version).offset == 0
    assert answer(three, LATEST, version).offset == 3
    assert answer(three, LATEST, version).leader_epoch == (0 if version >= 4 else -1)


def test_a_time_finds_the_first_record_not_older(three: World) -> None:
    start_ms = three.now_ms - 5_000
    for timestamp, offset in [
        (0, 0),
        (start_ms, 0),
        (start_ms + 1, 1),
        (start_ms + 10_000, 1),
        (start_ms + 10_001, -1),
    ]:
        found = answer(three, timestamp)
        assert (found.error_code, found.offset) == (ErrorCode.NONE, offset)
    assert answer(three, start_ms + 1).timestamp == start_ms + 10_000


def test_the_highest_timestamp_has_its_record(three: World) -> None:
    assert answer(three, MAX_TIMESTAMP).offset == 1


def test_places_of_tiered_logs_are_those_of_one_that_is_not(three: World) -> None:
    assert answer(three, EARLIEST_LOCAL).offset == 0
    assert answer(three, LATEST_TIERED).offset == -1
    assert answer(three, EARLIEST_PENDING).offset == -1


@pytest.mark.parametrize(
    ("place", "since"),
    [(MAX_TIMESTAMP, 7), (EARLIEST_LOCAL, 8), (LATEST_TIERED, 9), (EARLIEST_PENDING, 11)],
)
def test_a_place_that_a_version_does_not_know_is_refused(
    three: World, place: int, since: int
) -> None:
    assert answer(three, place, since).error_code == ErrorCode.NONE
    assert answer(three, place, since - 1).error_code == ErrorCode.UNSUPPORTED_VERSION


def test_an_empty_log_has_no_times() -> None:
    world = World()
    assert answer(world, 0).offset == -1
    assert answer(world, MAX_TIMESTAMP).offset == -1
    assert answer(world, LATEST).offset == 0


@pytest.mark.parametrize("timestamp", [-7, -100])
@pytest.mark.parametrize("version", [1, 11])
def test_a_place_that_nobody_knows_is_refused(three: World, timestamp: int, version: int) -> None:
    assert answer(three, timestamp, version).error_code == ErrorCode.UNSUPPORTED_VERSION


def test_who_reads_committed_records_sees_no_further_than_the_oldest_open_transaction() -> None:
    """The end, a time and the highest time; what stands before it is found as ever."""
    world = World(configs=FEW)
    world.produce("before")
    producer = Transactor(world)
    assert producer.initialize() == ErrorCode.NONE
    world.broker.clock.jump(1_000)
    open_ms = world.now_ms
    assert producer.send("open").error_code == ErrorCode.NONE
    world.broker.clock.jump(1_000)
    world.produce("behind")
    assert answer(world, LATEST).offset == 3
    assert answer(world, LATEST, read_committed=True).offset == 1
    for timestamp, visible in [(open_ms, 1), (open_ms + 1, 2), (MAX_TIMESTAMP, 2)]:
        assert answer(world, timestamp).offset == visible
    assert answer(world, open_ms, read_committed=True).offset == -1
    assert answer(world, open_ms - 1_000, read_committed=True).offset == 0
    assert answer(world, MAX_TIMESTAMP, read_committed=True).offset == 0
    assert answer(world, EARLIEST, read_committed=True).offset == 0

    assert producer.end(commit=True) == ErrorCode.NONE
    assert answer(world, LATEST, read_committed=True).offset == 4
    assert answer(world, open_ms, read_committed=True).offset == 1


def test_the_start_moves_with_deleted_records() -> None:
    """And what lies below it is found by no time."""
    world = World()
    for jump_ms in (0, 10_000, -5_000):
        world.broker.clock.jump(jump_ms)
        world.produce("v")
    world.hosted().log.raise_log_start(2)
    assert answer(world, EARLIEST).offset == answer(world, EARLIEST_LOCAL).offset == 2
    assert answer(world, 0).offset == 2
    assert answer(world, MAX_TIMESTAMP).offset == 2
