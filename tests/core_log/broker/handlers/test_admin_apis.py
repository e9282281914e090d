"""The APIs of administrators, each in every version, seen through the whole broker."""

import pytest

from headwater.core_log.broker.handlers import HANDLERS
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResponse,
)
from headwater.core_log.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from headwater.core_log.protocol.messages.create_topics import CreateTopicsResponse
from headwater.core_log.protocol.messages.delete_topics import DeleteTopicsResponse
from headwater.core_log.protocol.messages.describe_cluster import (
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from headwater.core_log.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from headwater.core_log.protocol.messages.describe_log_dirs import (
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from headwater.core_log.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    TopicRequest,
)
from headwater.core_log.protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)
from headwater.core_log.protocol.messages.incremental_alter_configs import (
    IncrementalAlterConfigsResponse,
)
from headwater.core_log.protocol.messages.init_producer_id import InitProducerIdResponse
from headwater.core_log.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from headwater.core_log.testing import requests

from ..world import TOPIC, World


def versions(key: int) -> range:
    return range(HANDLERS[key].version_min, HANDLERS[key].version_max + 1)


@pytest.mark.parametrize("version", versions(19))
def test_a_topic_is_created_once(version: int) -> None:
    world = World(topic=False)
    request = requests.create_topic("new", partitions=2, configs={"retention.ms": "5"})
    first = world.ask(request, CreateTopicsResponse, version).topics[0]
    assert first.error_code == ErrorCode.NONE
    again = world.ask(request, CreateTopicsResponse, version).topics[0]
    assert again.error_code == ErrorCode.TOPIC_ALREADY_EXISTS
    assert world.hosted("new", 1).log.config.retention_ms == 5


@pytest.mark.parametrize("version", versions(20))
def test_a_topic_is_deleted_once(version: int) -> None:
    world = World()
    request = requests.delete_topic(TOPIC, version=version)
    first = world.ask(request, DeleteTopicsResponse, version).responses[0]
    assert first.error_code == ErrorCode.NONE
    again = world.ask(request, DeleteTopicsResponse, version).responses[0]
    assert again.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert world.broker.running.partitions.by_name(TOPIC, 0) is None


@pytest.mark.parametrize("version", versions(37))
def test_a_topic_only_grows(version: int) -> None:
    world = World()
    for count, code in [(2, ErrorCode.NONE), (1, ErrorCode.INVALID_PARTITIONS)]:
        request = CreatePartitionsRequest(
            topics=[CreatePartitionsTopic(name=TOPIC, count=count, assignments=None)],
            timeout_ms=1_000,
        )
        answer = world.ask(request, CreatePartitionsResponse, version)
        assert answer.results[0].error_code == code


@pytest.mark.parametrize("version", versions(44))
def test_configurations_change_one_by_one(version: int) -> None:
    world = World()
    steps: list[tuple[dict[str, str | None], int]] = [
        ({"retention.ms": "7"}, 7),
        ({"max.message.bytes": "5000"}, 7),
        ({"retention.ms": None}, 7 * 24 * 60 * 60 * 1000),
    ]
    for configs, retention_ms in steps:
        request = requests.alter_topic(TOPIC, configs)
        answer = world.ask(request, IncrementalAlterConfigsResponse, version)
        assert answer.responses[0].error_code == ErrorCode.NONE
        assert world.hosted().log.config.retention_ms == retention_ms
    bad = requests.alter_topic(TOPIC, {"retention.ms": "soon"})
    answer = world.ask(bad, IncrementalAlterConfigsResponse, version)
    assert answer.responses[0].error_code == ErrorCode.INVALID_CONFIG


@pytest.mark.parametrize("version", versions(33))
def test_configurations_are_replaced_as_a_whole(version: int) -> None:
    world = World()
    world.alter(TOPIC, retention_ms="7")
    request = AlterConfigsRequest(
        resources=[
            AlterConfigsResource(
                resource_type=requests.TOPIC_RESOURCE,
                resource_name=TOPIC,
                configs=[AlterableConfig(name="max.message.bytes", value="5000")],
            )
        ]
    )
    answer = world.ask(request, AlterConfigsResponse, version)
    assert answer.responses[0].error_code == ErrorCode.NONE
    assert world.hosted().policy.message_bytes_max == 5_000
    assert world.hosted().log.config.retention_ms != 7


@pytest.mark.parametrize("version", versions(32))
def test_configurations_are_described(version: int) -> None:
    world = World()
    world.alter(TOPIC, retention_ms="7")
    request = DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(
                resource_type=requests.TOPIC_RESOURCE,
                resource_name=TOPIC,
                configuration_keys=["retention.ms", "segment.bytes"],
            )
        ]
    )
    result = world.ask(request, DescribeConfigsResponse, version).results[0]
    values = {config.name: config.value for config in result.configs}
    assert values == {"retention.ms": "7", "segment.bytes": str(1024**3)}


@pytest.mark.parametrize("version", versions(60))
def test_the_cluster_is_described(version: int) -> None:
    world = World()
    request = DescribeClusterRequest(include_cluster_authorized_operations=True)
    answer = world.ask(request, DescribeClusterResponse, version)
    assert (answer.error_code, answer.controller_id) == (ErrorCode.NONE, 1)
    assert [(node.broker_id, node.host) for node in answer.brokers] == [(1, "broker")]
    assert answer.cluster_authorized_operations > 0


def test_controllers_are_not_described_on_this_listener() -> None:
    world = World()
    for endpoint_type, code in [
        (2, ErrorCode.MISMATCHED_ENDPOINT_TYPE),
        (9, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE),
    ]:
        request = DescribeClusterRequest(endpoint_type=endpoint_type)
        assert world.ask(request, DescribeClusterResponse, 2).error_code == code


@pytest.mark.parametrize("version", versions(35))
def test_directories_are_described_with_their_sizes(version: int) -> None:
    world = World()
    world.produce("x" * 1_000)
    answer = world.ask(DescribeLogDirsRequest(topics=None), DescribeLogDirsResponse, version)
    result = answer.results[0]
    assert (result.error_code, result.log_dir) == (ErrorCode.NONE, "/data")
    partition = result.topics[0].partitions[0]
    assert partition.partition_size > 1_000
    assert (partition.offset_lag, partition.is_future_key) == (0, False)


@pytest.mark.parametrize("version", versions(22))
def test_identities_are_given_and_a_transactional_one_only_by_its_coordinator(version: int) -> None:
    world = World(topic=False)
    request = requests.new_producer_id()
    answer = world.ask(request, InitProducerIdResponse, version)
    assert (answer.error_code, answer.producer_epoch) == (ErrorCode.NONE, 0)
    request.transactional_id = "t"
    refused = world.ask(request, InitProducerIdResponse, version)
    assert refused.error_code == ErrorCode.NOT_COORDINATOR


@pytest.mark.parametrize("version", versions(23))
def test_the_end_of_an_epoch_is_told(version: int) -> None:
    world = World()
    world.produce("a", "b")
    world.reopened(world.broker.kill)
    world.produce("c")
    request = OffsetForLeaderEpochRequest(
        topics=[
            OffsetForLeaderTopic(
                topic=TOPIC,
                partitions=[
                    OffsetForLeaderPartition(partition=0, leader_epoch=epoch) for epoch in (0, 1, 5)
                ],
            )
        ]
    )
    answer = world.ask(request, OffsetForLeaderEpochResponse, version)
    ends = [(end.leader_epoch, end.end_offset) for end in answer.topics[0].partitions]
    assert ends == [(0, 2), (1, 3), (-1, -1)]


def test_producers_of_a_partition_are_described() -> None:
    world = World()
    pid = world.producer_id()
    world.produce_batch(world.batch("a", "b", producer_id=pid))
    request = DescribeProducersRequest(topics=[TopicRequest(name=TOPIC, partition_indexes=[0, 9])])
    known, unknown = world.ask(request, DescribeProducersResponse, 0).topics[0].partitions
    assert [(p.producer_id, p.last_sequence) for p in known.active_producers] == [(pid, 1)]
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_partitions_are_described_in_pages() -> None:
    """Following the cursor gives every partition once, in order."""
    world = World(topic=False)
    for name in ("b", "a", "c"):
        world.create(name, partitions=3)
    found: list[tuple[str | None, int]] = []
    cursor: Cursor | None = None
    for _ in range(10):
        request = DescribeTopicPartitionsRequest(
            topics=[], response_partition_limit=2, cursor=cursor
        )
        answer = world.ask(request, DescribeTopicPartitionsResponse, 0)
        page = [(t.name, p.partition_index) for t in answer.topics for p in t.partitions]
        assert len(page) <= 2
        found += page
        cursor = answer.next_cursor
        if cursor is None:
            break
    assert found == [(name, index) for name in "abc" for index in range(3)]
