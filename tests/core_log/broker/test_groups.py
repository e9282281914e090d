"""The coordinator's runtime: answers wait for the disk, and memory says what the log says."""

import errno

import pytest

from headwater.core_log.broker import coordinator as runtime
from headwater.core_log.broker.groups import OFFSETS_TOPIC
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.delete_topics import DeleteTopicsResponse
from headwater.core_log.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from headwater.core_log.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from headwater.core_log.protocol.messages.offset_commit import OffsetCommitResponse
from headwater.core_log.protocol.messages.offset_fetch import OffsetFetchResponse
from headwater.core_log.protocol.schema import Message
from headwater.core_log.testing import requests

from .world import TOPIC, World

GROUP = "g"


def grouped(**configs: str) -> World:
    """A world whose offsets topic exists, with one partition."""
    world = World(
        configs={"offsets.topic.num.partitions": "1"}
        | {key.replace("_", "."): value for key, value in configs.items()}
    )
    find = FindCoordinatorRequest(key_type=0, coordinator_keys=[GROUP])
    found = world.ask(find, FindCoordinatorResponse, 4).coordinators[0]
    assert (found.error_code, found.node_id, found.port) == (ErrorCode.NONE, 1, 9092)
    return world


def commit(world: World, offset: int) -> int:
    request = requests.commit_offset(GROUP, TOPIC, world.topic_id(), {0: offset})
    answer = world.ask(request, OffsetCommitResponse, 9)
    return answer.topics[0].partitions[0].error_code


def committed(world: World) -> int:
    request = requests.fetch_offsets(GROUP, TOPIC, [0], version=8)
    group = world.ask(request, OffsetFetchResponse, 8).groups[0]
    assert group.error_code == ErrorCode.NONE
    return group.topics[0].partitions[0].committed_offset


def code_of(answer: Message | None) -> int | None:
    if answer is None:
        return None
    assert isinstance(answer, OffsetCommitResponse)
    return answer.topics[0].partitions[0].error_code


def test_the_offsets_topic_is_made_when_the_first_group_is_looked_for() -> None:
    world = World(configs={"offsets.topic.num.partitions": "3"})
    assert OFFSETS_TOPIC not in world.broker.running.image.topics
    find = FindCoordinatorRequest(key_type=0, key=GROUP)
    clients = [world.broker.connect() for _ in range(3)]
    answers = [client.send(find, version=1) for client in clients]
    world.broker.settle()
    for answer in answers:
        response = answer()
        assert isinstance(response, FindCoordinatorResponse)
        assert response.error_code == ErrorCode.NONE
    assert len(world.broker.running.image.topics[OFFSETS_TOPIC].partitions) == 3


def test_a_commit_is_answered_when_it_is_on_disk_and_not_before() -> None:
    world = grouped()
    request = requests.commit_offset(GROUP, TOPIC, world.topic_id(), {0: 7})
    answer = world.client.send(request, version=9)
    while world.broker.step(disk=False):
        pass
    assert answer() is None
    world.broker.settle()
    assert code_of(answer()) == ErrorCode.NONE


@pytest.mark.parametrize("end", ["stop", "kill", "crash"])
def test_commits_outlive_every_end(end: str) -> None:
    world = grouped()
    for offset in (3, 5, 9):
        assert commit(world, offset) == ErrorCode.NONE
    world.reopened(getattr(world.broker, end))
    assert committed(world) == 9


def test_a_long_log_is_loaded_in_steps_and_clients_are_told_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = grouped()
    for offset in range(50):
        commit(world, offset)
    monkeypatch.setattr(runtime, "LOAD_STEP_BYTES", 500)
    world.broker.stop()
    world.broker.start()
    world.client = world.broker.connect()
    request = requests.fetch_offsets(GROUP, TOPIC, [0], version=8)
    early = world.client.send(request, version=8)
    listing = world.broker.connect().send(ListGroupsRequest(), version=4)
    world.broker.settle()
    answer, listed = early(), listing()
    assert isinstance(answer, OffsetFetchResponse)
    assert answer.groups[0].error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert isinstance(listed, ListGroupsResponse)
    assert listed.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert committed(world) == 49


def test_a_commit_that_found_no_space_never_was() -> None:
    """The shard starts over from its log, and serves on."""
    world = grouped()
    commit(world, 3)
    world.broker.fs.capacity_bytes = world.broker.fs.used_bytes
    assert commit(world, 5) == ErrorCode.NOT_COORDINATOR
    assert committed(world) == 3
    world.broker.fs.capacity_bytes = None
    assert commit(world, 6) == ErrorCode.NONE
    assert committed(world) == 6


def test_a_commit_that_timed_out_is_known_once_it_is_on_disk() -> None:
    """Until then the shard answers that it is loading: it cannot know what will be committed."""
    world = grouped()
    request = requests.commit_offset(GROUP, TOPIC, world.topic_id(), {0: 5})
    answer = world.client.send(request, version=9)

    def work_without_disk() -> None:
        for _ in range(100):
            if not world.broker.step(disk=False):
                return

    work_without_disk()
    world.broker.clock.advance(6_000)
    work_without_disk()
    assert code_of(answer()) == ErrorCode.COORDINATOR_NOT_AVAILABLE
    look_up = requests.fetch_offsets(GROUP, TOPIC, [0], version=8)
    early = world.client.send(look_up, version=8)
    work_without_disk()
    response = early()
    assert isinstance(response, OffsetFetchResponse)
    assert response.groups[0].error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    world.broker.advance(100)
    assert committed(world) == 5


def test_a_failing_disk_answers_who_waits() -> None:
    world = grouped()
    request = requests.commit_offset(GROUP, TOPIC, world.topic_id(), {0: 5})
    answer = world.client.send(request, version=9)
    world.broker.fs.fail_after(1, errno.EIO)
    world.broker.settle()
    assert code_of(answer()) == ErrorCode.NOT_COORDINATOR


def test_offsets_of_a_deleted_topic_are_forgotten() -> None:
    world = grouped()
    commit(world, 5)
    world.ask(requests.delete_topic(TOPIC, version=6), DeleteTopicsResponse, 6)
    assert committed(world) == -1


def test_other_kinds_of_coordinators_are_refused() -> None:
    world = World()
    find = FindCoordinatorRequest(key_type=2, coordinator_keys=["t"])
    answer = world.ask(find, FindCoordinatorResponse, 6).coordinators[0]
    assert answer.error_code == ErrorCode.INVALID_REQUEST
