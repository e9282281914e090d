"""Fetches: what there is, how much of it, how long they wait, and whom they refuse."""

from collections.abc import Callable

import pytest

from headwater.core_log.broker.handlers.fetch import HANDLER
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.delete_topics import DeleteTopicsResponse
from headwater.core_log.protocol.messages.fetch import FetchResponse, PartitionData
from headwater.core_log.protocol.schema import Message
from headwater.core_log.testing import requests

from ..world import FETCH, TOPIC, World

VERSIONS = range(HANDLER.version_min, HANDLER.version_max + 1)


def park(
    world: World, offset: int, *, min_bytes: int = 1, max_wait_ms: int = 500
) -> Callable[[], PartitionData | None]:
    """Send a fetch that waits; the result looks for its answer."""
    request = requests.fetch(
        TOPIC, world.topic_id(), {0: offset}, min_bytes=min_bytes, max_wait_ms=max_wait_ms
    )
    answer = world.broker.connect().send(request, version=FETCH)
    world.broker.settle()

    def look() -> PartitionData | None:
        response: Message | None = answer()
        if response is None:
            return None
        assert isinstance(response, FetchResponse)
        return response.responses[0].partitions[0]

    return look


@pytest.mark.parametrize("version", VERSIONS)
def test_what_was_produced_is_fetched(version: int) -> None:
    """By name up to version 12, by id from 13 on."""
    world = World()
    world.produce("a", "b")
    data = world.fetch(version=version)
    assert data.error_code == ErrorCode.NONE
    assert (data.high_watermark, data.last_stable_offset) == (2, 2)
    values = [record.value for record in requests.records_of(data.records)]
    assert values == [b"a", b"b"]


def test_an_offset_in_the_middle_gets_its_whole_batch() -> None:
    world = World()
    world.produce("a", "b", "c")
    offsets = [record.offset for record in requests.records_of(world.fetch(1).records)]
    assert offsets == [0, 1, 2]


def test_the_first_batch_comes_whole_however_small_the_bounds() -> None:
    """KIP-74: a consumer always makes progress."""
    world = World()
    world.produce("x" * 1000)
    world.produce("y" * 1000)
    data = world.fetch(partition_max_bytes=1, max_bytes=1)
    assert [r.offset for r in requests.records_of(data.records)] == [0]


def test_the_bytes_of_a_partition_are_bounded() -> None:
    world = World()
    for _ in range(10):
        world.produce("x" * 1000)
    data = world.fetch(partition_max_bytes=3500)
    assert data.records is not None
    assert len(data.records) <= 3500
    assert [r.offset for r in requests.records_of(data.records)] == [0, 1, 2]


def test_the_bytes_of_a_request_are_bounded_over_its_partitions() -> None:
    """Only the first partition with data gets a batch that is larger than what is left."""
    world = World(topic=False)
    world.create(TOPIC, partitions=3)
    for index in range(3):
        batch = world.batch("x" * 1000)
        world.client.send(requests.produce(TOPIC, world.topic_id(), {index: batch}), version=13)
    world.broker.settle()
    client = world.broker.connect()
    request = requests.fetch(TOPIC, world.topic_id(), {0: 0, 1: 0, 2: 0}, max_bytes=500)
    response = client.ask(request, FetchResponse, version=FETCH)
    sizes = [len(data.records or b"") for data in response.responses[0].partitions]
    assert sizes[0] > 1000
    assert sizes[1:] == [0, 0]


def test_an_append_wakes_a_waiting_fetch() -> None:
    world = World()
    look = park(world, 0)
    assert look() is None
    world.produce("now")
    data = look()
    assert data is not None
    assert [r.value for r in requests.records_of(data.records)] == [b"now"]


def test_a_fetch_waits_for_as_many_bytes_as_it_asked_for() -> None:
    world = World()
    look = park(world, 0, min_bytes=2000)
    world.produce("x" * 1000)
    assert look() is None
    world.produce("y" * 1000)
    data = look()
    assert data is not None
    assert [r.offset for r in requests.records_of(data.records)] == [0, 1]


def test_a_fetch_waits_no_longer_than_it_asked_to() -> None:
    world = World()
    look = park(world, 0, max_wait_ms=500)
    world.broker.advance(499)
    assert look() is None
    world.broker.advance(1)
    data = look()
    assert data is not None
    assert (data.error_code, bytes(data.records or b"")) == (ErrorCode.NONE, b"")


def test_nobody_reads_what_is_not_on_disk() -> None:
    """The high watermark waits for the flush, and so does the parked fetch."""
    world = World()
    look = park(world, 0)
    world.client.send(world.produce_request(world.batch("v"), acks=1), version=13)
    while world.broker.step(disk=False):
        pass
    assert world.hosted().log.written_offset == 1
    assert look() is None
    world.broker.settle()
    assert look() is not None


def test_between_the_high_watermark_and_the_end_there_is_nothing_yet() -> None:
    """A producer with acks=1 may name such an offset; its consumer waits, and is not reset."""
    world = World()
    world.client.send(world.produce_request(world.batch("a", "b"), acks=1), version=13)
    while world.broker.step(disk=False):
        pass
    client = world.broker.connect()
    answer = client.send(requests.fetch(TOPIC, world.topic_id(), {0: 2}), version=FETCH)
    while world.broker.step(disk=False):
        pass
    response = answer()
    assert isinstance(response, FetchResponse)
    data = response.responses[0].partitions[0]
    assert (data.error_code, data.high_watermark) == (ErrorCode.NONE, 0)


@pytest.mark.parametrize("offset", [-1, 3, 100])
def test_an_offset_outside_the_log_is_refused_at_once(offset: int) -> None:
    world = World()
    world.produce("a", "b")
    data = park(world, offset)()
    assert data is not None
    assert data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_epochs_behind_and_ahead_are_told_apart() -> None:
    """KIP-320: a client that is behind asks for metadata, one that is ahead waits for us."""
    world = World()
    world.produce("a")
    world.reopened(world.broker.kill)
    epoch = world.hosted().replica.leader_epoch
    assert epoch == 1
    assert world.fetch(leader_epoch=epoch).error_code == ErrorCode.NONE
    assert world.fetch(leader_epoch=epoch - 1).error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert world.fetch(leader_epoch=epoch + 1).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH


def test_a_client_whose_history_differs_learns_where_it_parts() -> None:
    """KIP-595: the largest epoch not above the client's, and where it ends."""
    world = World()
    world.produce("a", "b")
    world.reopened(world.broker.kill)
    world.produce("c")
    same = world.fetch(2, last_fetched_epoch=0)
    assert same.diverging_epoch.epoch == -1
    beyond = world.fetch(3, last_fetched_epoch=0)
    assert (beyond.diverging_epoch.epoch, beyond.diverging_epoch.end_offset) == (0, 2)
    assert bytes(beyond.records or b"") == b""


def test_unknown_topics_and_partitions_are_refused() -> None:
    world = World()
    by_name = requests.fetch("nothing", bytes(16), {0: 0})
    by_id = requests.fetch("", b"\x07" * 16, {0: 0})
    index = requests.fetch(TOPIC, world.topic_id(), {7: 0})
    for request, version, code in [
        (by_name, 12, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (by_id, 13, ErrorCode.UNKNOWN_TOPIC_ID),
        (index, 13, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (index, 12, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]:
        response = world.ask(request, FetchResponse, version)
        assert response.responses[0].partitions[0].error_code == code


def test_a_deleted_topic_wakes_those_who_wait_for_it() -> None:
    world = World()
    look = park(world, 0, max_wait_ms=30_000)
    world.ask(requests.delete_topic(TOPIC, version=6), DeleteTopicsResponse, 6)
    data = look()
    assert data is not None
    assert data.error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_followers_are_not_served_and_sessions_are_not_kept() -> None:
    world = World()
    request = requests.fetch(TOPIC, world.topic_id(), {0: 0})
    request.session_id, request.session_epoch = 7, 1
    answer = world.ask(request, FetchResponse, FETCH)
    assert answer.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    follower = requests.fetch(TOPIC, world.topic_id(), {0: 0})
    follower.replica_id = 2
    refused = world.ask(follower, FetchResponse, 12).responses[0].partitions[0]
    assert refused.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def test_cold_pages_are_read_by_the_disk_threads() -> None:
    world = World()
    world.produce("cold")
    world.broker.fs.is_cold = True
    assert world.read() == ["cold"]


def test_read_committed_says_that_no_transaction_was_aborted() -> None:
    world = World()
    world.produce("a")
    assert world.fetch(read_committed=True).aborted_transactions == []
    assert world.fetch().aborted_transactions is None


def test_a_disconnected_client_leaves_nothing_behind() -> None:
    world = World()
    request = requests.fetch(TOPIC, world.topic_id(), {0: 0}, max_wait_ms=30_000)
    client = world.broker.connect()
    client.send(request, version=FETCH)
    assert world.hosted().fetches
    client.disconnect()
    assert not world.hosted().fetches
