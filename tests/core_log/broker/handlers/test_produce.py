"""Produce: acknowledged when it is as safe as was asked for, and never twice."""

import errno

import pytest

from headwater.core_log.broker.handlers.produce import HANDLER
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.describe_log_dirs import (
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from headwater.core_log.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from headwater.core_log.protocol.messages.produce import PartitionProduceResponse, ProduceResponse
from headwater.core_log.protocol.schema import Message
from headwater.core_log.testing import requests

from ..world import PRODUCE, TOPIC, World

VERSIONS = [
    version
    for version in range(HANDLER.version_min, HANDLER.version_max + 1)
    if version in HANDLER.api.versions
]


def only(response: Message | None) -> PartitionProduceResponse:
    assert isinstance(response, ProduceResponse)
    return response.responses[0].partition_responses[0]


def work_without_disk(world: World) -> None:
    while world.broker.step(disk=False):
        pass


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("acks", [1, -1])
def test_an_append_is_answered_with_its_offset(version: int, acks: int) -> None:
    world = World()
    assert world.produce("a", "b", acks=acks, version=version).base_offset == 0
    answer = world.produce("c", acks=acks, version=version)
    assert (answer.error_code, answer.base_offset) == (ErrorCode.NONE, 2)
    assert answer.log_append_time_ms == -1
    assert world.read() == ["a", "b", "c"]


def test_acks_all_is_answered_when_the_disk_has_it_and_not_before() -> None:
    world = World()
    answer = world.client.send(world.produce_request(world.batch("v")), version=PRODUCE)
    work_without_disk(world)
    assert answer() is None
    world.broker.settle()
    assert only(answer()).error_code == ErrorCode.NONE
    world.reopened(world.broker.crash)
    assert world.read() == ["v"]


def test_acks_1_is_answered_when_it_is_written() -> None:
    world = World()
    answer = world.client.send(world.produce_request(world.batch("v"), acks=1), version=PRODUCE)
    assert answer() is None
    work_without_disk(world)
    assert only(answer()).base_offset == 0


def test_acks_0_is_not_answered() -> None:
    world = World()
    world.client.send(world.produce_request(world.batch("v"), acks=0), version=PRODUCE)
    world.broker.settle()
    assert world.client.receive_raw() is None
    assert world.client.closed is None
    assert world.read() == ["v"]


def test_an_error_with_acks_0_closes_the_connection() -> None:
    world = World()
    request = requests.produce("nothing", bytes(16), {0: world.batch("v")}, acks=0)
    world.client.send(request, version=PRODUCE)
    assert world.client.closed is not None


def test_acks_of_other_numbers_are_refused() -> None:
    world = World()
    assert world.produce("v", acks=2).error_code == ErrorCode.INVALID_REQUIRED_ACKS
    assert world.read() == []


def test_a_batch_sent_again_is_answered_again_and_stored_once() -> None:
    world = World()
    pid = world.producer_id()
    first = world.produce_batch(world.batch("a", "b", producer_id=pid))
    world.produce_batch(world.batch("c", producer_id=pid, sequence=2))
    again = world.produce_batch(world.batch("a", "b", producer_id=pid))
    assert (again.error_code, again.base_offset) == (ErrorCode.NONE, first.base_offset)
    assert world.read() == ["a", "b", "c"]


@pytest.mark.parametrize("end", ["stop", "kill", "crash"])
def test_a_batch_sent_again_after_a_restart_is_stored_once(end: str) -> None:
    world = World()
    pid = world.producer_id()
    world.produce_batch(world.batch("a", producer_id=pid))
    world.reopened(getattr(world.broker, end))
    again = world.produce_batch(world.batch("a", producer_id=pid))
    assert (again.error_code, again.base_offset) == (ErrorCode.NONE, 0)
    assert world.read() == ["a"]


def test_a_duplicate_waits_for_the_disk_like_the_first() -> None:
    """The retry of a batch that is not flushed yet must not be acknowledged early."""
    world = World()
    pid = world.producer_id()
    first = world.client.send(
        world.produce_request(world.batch("a", producer_id=pid)), version=PRODUCE
    )
    other = world.broker.connect()
    again = other.send(world.produce_request(world.batch("a", producer_id=pid)), version=PRODUCE)
    work_without_disk(world)
    assert first() is None
    assert again() is None
    world.broker.settle()
    assert only(first()).base_offset == only(again()).base_offset == 0


def test_a_gap_in_the_sequence_is_refused() -> None:
    world = World()
    pid = world.producer_id()
    world.produce_batch(world.batch("a", producer_id=pid))
    answer = world.produce_batch(world.batch("c", producer_id=pid, sequence=2))
    assert answer.error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert world.read() == ["a"]


def test_one_request_may_not_name_a_partition_twice() -> None:
    world = World()
    request = requests.produce(TOPIC, world.topic_id(), {0: world.batch("a")})
    request.topic_data[0].partition_data *= 2
    response = world.ask(request, ProduceResponse, PRODUCE)
    codes = [answer.error_code for answer in response.responses[0].partition_responses]
    assert ErrorCode.INVALID_REQUEST in codes
    assert len(world.read()) <= 1


def test_what_was_altered_on_its_way_is_refused() -> None:
    world = World()
    batch = world.batch("v")
    batch[-1] ^= 1
    assert world.produce_batch(batch).error_code == ErrorCode.CORRUPT_MESSAGE
    assert world.read() == []


def test_nobody_but_a_coordinator_writes_to_its_topic() -> None:
    """What a client would put there, the coordinator would take for its own."""
    world = World()
    find = FindCoordinatorRequest(key_type=1, coordinator_keys=["t"])
    world.ask(find, FindCoordinatorResponse, 6)
    answer = world.produce("a", topic="__transaction_state")
    assert answer.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert world.hosted("__transaction_state").log.log_end_offset == 0


def test_a_hanging_disk_lets_appends_time_out() -> None:
    """Each by its own deadline; what then is committed all the same stays in the log."""
    world = World()
    slow = requests.produce(TOPIC, world.topic_id(), {0: world.batch("a")}, timeout_ms=9_000)
    quick = requests.produce(TOPIC, world.topic_id(), {0: world.batch("b")}, timeout_ms=1_000)
    first = world.client.send(slow, version=PRODUCE)
    second = world.broker.connect().send(quick, version=PRODUCE)
    work_without_disk(world)
    world.broker.clock.advance(1_500)
    work_without_disk(world)
    assert first() is None
    assert only(second()).error_code == ErrorCode.REQUEST_TIMED_OUT
    world.broker.settle()
    assert only(first()).error_code == ErrorCode.NONE
    assert world.read() == ["a", "b"]


def test_a_full_disk_refuses_appends_and_serves_reads_until_there_is_space() -> None:
    world = World()
    world.produce("before")
    world.broker.fs.capacity_bytes = world.broker.fs.used_bytes + 10
    for _ in range(2):
        assert world.produce("x" * 1000).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert world.read() == ["before"]
    assert world.broker.failures == []
    assert "disk_full" in [event for event, _ in world.broker.notes]
    world.broker.fs.capacity_bytes = None
    assert world.produce("after").base_offset == 1
    assert world.read() == ["before", "after"]
    world.reopened(world.broker.crash)
    assert world.read() == ["before", "after"]


def test_what_fitted_before_the_disk_was_full_is_committed() -> None:
    """One turn appends to two segments and only the first finds room: its answer still comes."""
    world = World(topic=False)
    world.create(TOPIC, configs={"segment.bytes": "1048576"})
    half = "x" * 700_000
    fits = world.client.send(world.produce_request(world.batch(half)), version=PRODUCE)
    other = world.broker.connect()
    refused = other.send(world.produce_request(world.batch(half)), version=PRODUCE)
    world.broker.fs.capacity_bytes = world.broker.fs.used_bytes + 800_000
    world.broker.settle()
    assert only(fits()).error_code == ErrorCode.NONE
    assert only(refused()).error_code == ErrorCode.KAFKA_STORAGE_ERROR


@pytest.mark.parametrize("operation", ["write", "flush"])
def test_a_failing_disk_takes_the_directory_offline(operation: str) -> None:
    """No append is acknowledged, nothing is tried again, and the host is told."""
    world = World()
    world.produce("before")
    answer = world.client.send(world.produce_request(world.batch("v")), version=PRODUCE)
    world.broker.fs.fail_after({"write": 0, "flush": 1}[operation], errno.EIO)
    world.broker.settle()
    assert only(answer()).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert [failure.path for failure in world.broker.failures][:1] == ["/data"]
    assert world.produce("later").error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert world.fetch().error_code == ErrorCode.KAFKA_STORAGE_ERROR
    described = world.ask(DescribeLogDirsRequest(topics=None), DescribeLogDirsResponse, 4)
    assert described.results[0].error_code == ErrorCode.KAFKA_STORAGE_ERROR
    world.reopened(world.broker.crash)
    assert world.read()[:1] == ["before"]
