"""What the metadata says comes to be on this node, at once and at every start."""

import errno

import pytest

from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from headwater.core_log.protocol.messages.create_topics import CreateTopicsResponse
from headwater.core_log.protocol.messages.delete_topics import DeleteTopicsResponse
from headwater.core_log.protocol.messages.produce import ProduceResponse
from headwater.core_log.records.batch import read_batch
from headwater.core_log.testing import requests

from .world import TOPIC, World


def delete(world: World, topic: str = TOPIC) -> None:
    world.ask(requests.delete_topic(topic, version=6), DeleteTopicsResponse, 6)


def test_a_created_topic_is_hosted_when_its_creation_is_answered() -> None:
    world = World(topic=False)
    world.create("new", partitions=3)
    assert [world.hosted("new", index).log.log_end_offset for index in range(3)] == [0, 0, 0]


def test_a_created_topic_outlives_a_power_loss_at_once() -> None:
    """Its metadata is on disk; a directory that is not is made again."""
    for seed in range(10):
        world = World(seed=seed, topic=False)
        world.create("new", partitions=3)
        world.reopened(world.broker.crash)
        assert world.produce("v", topic="new").error_code == ErrorCode.NONE
        assert world.read("new") == ["v"]


def test_a_topic_grows() -> None:
    world = World()
    request = CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name=TOPIC, count=3, assignments=None)], timeout_ms=1_000
    )
    answer = world.ask(request, CreatePartitionsResponse, 3)
    assert answer.results[0].error_code == ErrorCode.NONE
    assert world.hosted(TOPIC, 2).replica.is_leader


def test_a_topic_of_the_same_name_begins_empty() -> None:
    world = World()
    world.produce("old")
    old_id = world.topic_id()
    delete(world)
    world.create(TOPIC)
    assert world.topic_id() != old_id
    assert world.read() == []
    world.produce("new")
    world.reopened(world.broker.kill)
    assert world.read() == ["new"]


@pytest.mark.parametrize("seed", range(5))
def test_a_deletion_that_only_metadata_knows_is_done_at_the_start(seed: int) -> None:
    """The power went between the commit of the deletion and its effect on the directory."""
    world = World(seed=seed)
    world.produce("old")
    delete(world)
    world.reopened(world.broker.crash)
    assert TOPIC not in world.broker.running.image.topics
    assert f"{TOPIC}-0" not in world.broker.fs.list("/data")
    world.create(TOPIC)
    assert world.read() == []


def test_a_topic_id_that_was_not_flushed_is_flushed_after_a_kill() -> None:
    """Else the next power loss takes the id, and with it the log for one of a deleted topic."""
    for seed in range(10):
        world = World(seed=seed)
        world.client.send(world.produce_request(world.batch("a"), acks=1), version=13)
        while world.broker.step(disk=False):
            pass
        world.reopened(world.broker.kill)
        world.produce("b")
        world.reopened(world.broker.crash)
        assert world.read() == ["a", "b"]


def test_a_bound_on_batches_acts_from_its_change_on() -> None:
    world = World()
    assert world.produce("x" * 2_000).error_code == ErrorCode.NONE
    world.alter(TOPIC, max_message_bytes="1000")
    assert world.produce("x" * 2_000).error_code == ErrorCode.MESSAGE_TOO_LARGE
    world.alter(TOPIC, max_message_bytes=None)
    assert world.produce("x" * 2_000).error_code == ErrorCode.NONE


def test_the_type_of_timestamps_acts_from_its_change_on() -> None:
    world = World()
    assert world.produce("a").log_append_time_ms == -1
    world.alter(TOPIC, message_timestamp_type="LogAppendTime")
    world.broker.clock.advance(5_000)
    assert world.produce("b").log_append_time_ms == world.now_ms


def test_the_codec_of_a_topic_acts_from_its_change_on() -> None:
    world = World()
    world.produce("a" * 500)
    world.alter(TOPIC, compression_type="gzip")
    world.produce("b" * 500)
    data = world.fetch(1).records
    assert data is not None
    assert read_batch(bytes(data)).compression == 1
    assert world.read() == ["a" * 500, "b" * 500]


def test_one_replica_satisfies_whatever_minimum_is_asked_for() -> None:
    """As in Kafka: the smaller of the setting and the number of replicas counts."""
    world = World()
    world.alter(TOPIC, min_insync_replicas="2")
    assert world.hosted().replica.min_insync_replicas == 2
    assert world.produce("v").error_code == ErrorCode.NONE


def test_configurations_outlive_a_restart() -> None:
    world = World()
    world.alter(TOPIC, max_message_bytes="1000")
    world.reopened(world.broker.crash)
    assert world.produce("x" * 2_000).error_code == ErrorCode.MESSAGE_TOO_LARGE


def test_epochs_rise_after_an_unclean_end_and_stay_after_a_clean_one() -> None:
    world = World()
    assert world.hosted().replica.leader_epoch == 0
    world.reopened(world.broker.stop)
    assert world.hosted().replica.leader_epoch == 0
    world.reopened(world.broker.kill)
    assert world.hosted().replica.leader_epoch == 1


def test_metadata_changes_are_answered_when_their_directory_has_failed_elsewhere() -> None:
    world = World()
    other = world.broker.connect()
    pending = other.send(requests.create_topic("new"), version=7)
    world.client.send(world.produce_request(world.batch("v")), version=13)
    world.broker.fs.fail_after(0, errno.EIO)
    world.broker.settle()
    answer = pending()
    assert isinstance(answer, CreateTopicsResponse)
    assert answer.topics[0].error_code == ErrorCode.KAFKA_STORAGE_ERROR
    again = other.ask(requests.create_topic("more"), CreateTopicsResponse, version=7)
    assert again.topics[0].error_code == ErrorCode.KAFKA_STORAGE_ERROR


def test_metadata_snapshots_are_written_and_started_from() -> None:
    world = World()
    log = world.broker.running.controller._log
    log._snapshot_bytes = 2_000
    for number in range(20):
        world.create(f"topic-{number}")
    found = [
        name
        for name in world.broker.fs.list("/data/__cluster_metadata-0")
        if name.endswith(".checkpoint")
    ]
    assert 1 <= len(found) <= 3
    world.reopened(world.broker.crash)
    assert len(world.broker.running.image.topics) == 21


def test_a_partition_that_found_no_space_is_made_once_there_is_some() -> None:
    """Its topic is committed; nobody should have to restart the broker for it."""
    for room_bytes in range(200, 2_000, 40):
        world = World()
        world.broker.fs.capacity_bytes = world.broker.fs.used_bytes + room_bytes
        world.ask(requests.create_topic("new", partitions=8), CreateTopicsResponse, 7)
        running = world.broker.running
        missing = [
            index
            for topic, index in running.image.hosted_by(1)
            if running.partitions.by_name(topic.name, index) is None
        ]
        if missing:
            break
    else:
        pytest.fail("no room was just too small")
    world.broker.advance(1_000)
    events = [event for event, _ in world.broker.notes]
    assert events.count("partition_not_created") == len(missing)
    world.broker.fs.capacity_bytes = None
    world.broker.advance(200)
    for index in missing:
        batch = requests.produce("new", world.topic_id("new"), {index: world.batch("v")})
        answer = world.ask(batch, ProduceResponse, 13)
        assert answer.responses[0].partition_responses[0].error_code == ErrorCode.NONE


def test_a_log_whose_topic_id_cannot_be_read_is_not_thrown_away() -> None:
    world = World()
    world.produce("kept")
    world.broker.stop()
    world.broker.fs.flip_bit(f"/data/{TOPIC}-0/partition.metadata", 0, bit=4)
    world.broker.start()
    world.client = world.broker.connect()
    assert world.read() == ["kept"]
    assert "topic_id_unreadable" in [event for event, _ in world.broker.notes]
    world.broker.notes.clear()
    world.reopened(world.broker.crash)
    assert world.read() == ["kept"]
    assert "topic_id_unreadable" not in [event for event, _ in world.broker.notes]
