"""By the clock: retention, checkpoints one at a time, removal of deleted files."""

from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from headwater.core_log.protocol.messages.delete_topics import DeleteTopicsResponse
from headwater.core_log.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from headwater.core_log.protocol.schema import Message
from headwater.core_log.testing import requests

from .world import TOPIC, World

ROLL = {"segment.index.bytes": "8", "index.interval.bytes": "0"}


def delete_records(offset: int, topic: str = TOPIC) -> DeleteRecordsRequest:
    return DeleteRecordsRequest(
        topics=[
            DeleteRecordsTopic(
                name=topic, partitions=[DeleteRecordsPartition(partition_index=0, offset=offset)]
            )
        ],
        timeout_ms=1_000,
    )


def low_watermark(answer: Message | None) -> tuple[int, int]:
    assert isinstance(answer, DeleteRecordsResponse)
    result = answer.topics[0].partitions[0]
    return result.error_code, result.low_watermark


def test_old_segments_go_with_their_records() -> None:
    world = World(topic=False)
    world.create(TOPIC, configs=ROLL | {"retention.ms": "600000"})
    for _ in range(3):
        world.produce("v")
    world.broker.advance(400_000)
    world.produce("young")
    assert world.read() == ["v", "v", "v", "young"]
    world.broker.advance(500_000)
    assert world.read() == ["young"]
    world.broker.advance(200_000)
    names = world.broker.fs.list(f"/data/{TOPIC}-0")
    assert "00000000000000000000.log" not in names
    assert not [name for name in names if name.endswith(".deleted")]


def test_a_raised_retention_acts_at_the_next_check() -> None:
    world = World(topic=False)
    world.create(TOPIC, configs=ROLL)
    world.produce("a")
    world.produce("b")
    world.alter(TOPIC, retention_ms="1000")
    world.broker.advance(310_000)
    assert world.hosted().log.log_start_offset >= 1


def test_deleted_records_stay_deleted() -> None:
    world = World()
    for value in "abc":
        world.produce(value)
    answer = world.ask(delete_records(2), DeleteRecordsResponse, 2)
    assert low_watermark(answer) == (ErrorCode.NONE, 2)
    assert world.fetch(1).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    world.reopened(world.broker.crash)
    assert world.hosted().log.log_start_offset == 2
    assert world.read() == ["c"]


def test_nobody_deletes_what_coordinators_wrote() -> None:
    world = World()
    world.ask(
        FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]), FindCoordinatorResponse, 6
    )
    answer = world.ask(delete_records(0, "__consumer_offsets"), DeleteRecordsResponse, 2)
    assert low_watermark(answer) == (ErrorCode.INVALID_TOPIC_EXCEPTION, -1)


def test_minus_one_deletes_up_to_the_high_watermark() -> None:
    world = World()
    world.produce("a", "b")
    answer = world.ask(delete_records(-1), DeleteRecordsResponse, 2)
    assert low_watermark(answer) == (ErrorCode.NONE, 2)


def test_records_cannot_be_deleted_beyond_the_high_watermark_nor_from_compacted_topics() -> None:
    world = World()
    world.create("compacted", configs={"cleanup.policy": "compact"})
    world.produce("a")
    far = world.ask(delete_records(2), DeleteRecordsResponse, 2)
    assert low_watermark(far) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    compacted = world.ask(delete_records(0, "compacted"), DeleteRecordsResponse, 2)
    assert low_watermark(compacted) == (ErrorCode.POLICY_VIOLATION, -1)


def test_two_deletions_at_once_do_not_write_one_file_from_two_threads() -> None:
    """The second waits for the first one's checkpoint and gets one of its own."""
    world = World()
    for value in "abcd":
        world.produce(value)
    first = world.client.send(delete_records(1), version=2)
    others = [world.broker.connect() for _ in range(2)]
    later = [
        client.send(delete_records(offset), version=2) for offset, client in enumerate(others, 2)
    ]
    assert len(world.broker.disk) == 1
    world.broker.disk.step()
    while world.broker.step(disk=False):
        pass
    assert low_watermark(first()) == (ErrorCode.NONE, 1)
    world.broker.settle()
    assert [low_watermark(answer())[1] for answer in later] == [2, 3]
    world.reopened(world.broker.crash)
    assert world.read() == ["d"]


def test_a_deletion_that_finds_no_space_for_its_checkpoint_is_no_success() -> None:
    world = World()
    world.produce("a", "b")
    world.broker.fs.remove("/data/headwater.reserve")
    world.broker.fs.capacity_bytes = world.broker.fs.used_bytes
    answer = world.ask(delete_records(1), DeleteRecordsResponse, 2)
    assert low_watermark(answer) == (ErrorCode.KAFKA_STORAGE_ERROR, -1)
    world.broker.fs.capacity_bytes = None
    answer = world.ask(delete_records(2), DeleteRecordsResponse, 2)
    assert low_watermark(answer) == (ErrorCode.NONE, 2)


def test_files_of_a_deleted_topic_go_after_their_delay() -> None:
    world = World(topic=False)
    world.create(TOPIC, configs={"file.delete.delay.ms": "30000"})
    world.produce("v")
    world.ask(requests.delete_topic(TOPIC, version=6), DeleteTopicsResponse, 6)
    names = world.broker.fs.list("/data")
    assert f"{TOPIC}-0" not in names
    assert [name for name in names if name.endswith("-delete")]
    world.broker.advance(45_000)
    assert not [name for name in world.broker.fs.list("/data") if name.endswith("-delete")]


def test_a_restart_after_a_checkpoint_reads_what_came_behind_it() -> None:
    world = World()
    world.produce("a")
    world.broker.advance(61_000)
    world.produce("b")
    world.reopened(world.broker.crash)
    assert world.read() == ["a", "b"]
    assert world.hosted().high_watermark == 2


def test_lazily_flushed_topics_are_flushed_when_their_time_is_over() -> None:
    world = World(topic=False)
    world.create(TOPIC, configs={"flush.messages": "100", "flush.ms": "1000"})
    assert world.produce("a").error_code == ErrorCode.NONE
    assert world.hosted().log.flushed_offset == 0
    world.broker.advance(1_200)
    assert world.hosted().log.flushed_offset == 1
