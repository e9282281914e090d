"""Where an epoch of the partition's leader ends."""

import pytest

from headwater.core_log.broker.handlers.offset_for_leader_epoch import HANDLER
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from headwater.core_log.records.batch import patch, read_batch

from ..world import TOPIC, World

VERSIONS = range(HANDLER.version_min, HANDLER.version_max + 1)


def end_of(
    world: World,
    epoch: int,
    *,
    topic: str = TOPIC,
    partition: int = 0,
    current: int = -1,
    version: int = 4,
) -> tuple[int, int, int]:
    """Error code, epoch and end offset of the answer."""
    asked = OffsetForLeaderPartition(
        partition=partition, current_leader_epoch=current, leader_epoch=epoch
    )
    request = OffsetForLeaderEpochRequest(
        replica_id=-1, topics=[OffsetForLeaderTopic(topic=topic, partitions=[asked])]
    )
    response = world.ask(request, OffsetForLeaderEpochResponse, version)
    assert response.topics[0].topic == topic
    (answer,) = response.topics[0].partitions
    assert answer.partition == partition
    return answer.error_code, answer.leader_epoch, answer.end_offset


@pytest.fixture(scope="module")
def three() -> World:
    """Epoch 0 has offsets 0 and 1, epoch 4 has 2, epoch 6 has 3 to 5; 6 is the latest."""
    world = World()
    log = world.hosted().log
    offset = 0
    for epoch, count in [(0, 2), (4, 1), (6, 3)]:
        batch = read_batch(world.batch(*["v"] * count))
        offset = log.append_as_leader(batch, leader_epoch=epoch, now_ms=world.now_ms).last_offset
    log.flush()
    assert offset == 5
    return world


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("asked", "epoch", "end_offset"),
    [(0, 0, 2), (1, 0, 2), (3, 0, 2), (4, 4, 3), (5, 4, 3), (6, 6, 6), (7, -1, -1), (-1, -1, -1)],
)
def test_an_epoch_ends_where_the_next_one_begins(
    three: World, asked: int, epoch: int, end_offset: int, version: int
) -> None:
    """The largest epoch not above the one asked for; the latest ends with the log; of one that the
    log has not seen nobody knows, and that is no error."""
    assert end_of(three, asked, version=version) == (ErrorCode.NONE, epoch, end_offset)


def test_an_epoch_below_all_ends_where_the_first_begins() -> None:
    """Under its own number: records of it were deleted, or there were none."""
    world = World()
    log = world.hosted().log
    for epoch in (2, 2, 5):
        log.append_as_leader(read_batch(world.batch("v")), leader_epoch=epoch, now_ms=0)
    log.flush()
    log.raise_log_start(1)
    assert end_of(world, 1) == (ErrorCode.NONE, 1, 1)
    assert end_of(world, 3) == (ErrorCode.NONE, 2, 2)


def test_an_epoch_of_which_compaction_has_left_nothing_keeps_its_end() -> None:
    """Epochs are facts about the log, not about its records."""
    world = World()
    log = world.hosted().log
    encoded = bytearray()
    for epoch, offset in [(0, 1), (3, 8)]:
        batch = read_batch(world.batch("v"))
        patch(batch, base_offset=offset, leader_epoch=epoch)
        encoded += batch.view
    log.append_as_follower(encoded, now_ms=0, may_leave_gaps=True)
    log.flush()
    assert end_of(world, 0) == (ErrorCode.NONE, 0, 8)
    assert end_of(world, 2) == (ErrorCode.NONE, 0, 8)
    assert end_of(world, 3) == (ErrorCode.NONE, 3, 9)


def test_who_knows_another_leader_is_told_so(three: World) -> None:
    """The epoch that the client believes in is compared first (KIP-320)."""
    known = three.hosted().replica.leader_epoch
    assert end_of(three, 0, current=known) == (ErrorCode.NONE, 0, 2)
    assert end_of(three, 0, current=known + 1) == (ErrorCode.UNKNOWN_LEADER_EPOCH, -1, -1)


def test_a_partition_that_is_not_here() -> None:
    world = World()
    for topic, partition in [("nope", 0), (TOPIC, 1)]:
        found = end_of(world, 0, topic=topic, partition=partition)
        assert found == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1, -1)
