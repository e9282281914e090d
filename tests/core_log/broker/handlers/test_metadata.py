"""Metadata: who leads what, and topics that come into being by being asked for."""

import pytest

from headwater.core_log.broker.handlers.metadata import HANDLER
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)

from ..world import TOPIC, World


def request_for(*names: str, create: bool = True) -> MetadataRequest:
    return MetadataRequest(
        topics=[MetadataRequestTopic(name=name) for name in names],
        allow_auto_topic_creation=create,
    )


@pytest.mark.parametrize("version", range(HANDLER.version_min, HANDLER.version_max + 1))
def test_leaders_and_brokers_are_told_in_every_version(version: int) -> None:
    world = World()
    answer = world.ask(request_for(TOPIC), MetadataResponse, version)
    assert [(node.node_id, node.host, node.port) for node in answer.brokers] == [
        (1, "broker", 9092)
    ]
    topic = answer.topics[0]
    assert (topic.error_code, topic.name) == (ErrorCode.NONE, TOPIC)
    partition = topic.partitions[0]
    assert (partition.leader_id, partition.replica_nodes, partition.isr_nodes) == (1, [1], [1])
    if version >= 10:
        assert topic.topic_id == world.topic_id()


def test_version_0_takes_an_empty_list_for_all_topics_and_later_ones_for_none() -> None:
    world = World()
    assert len(world.ask(MetadataRequest(topics=[]), MetadataResponse, 0).topics) == 1
    assert len(world.ask(MetadataRequest(topics=[]), MetadataResponse, 1).topics) == 0
    assert len(world.ask(MetadataRequest(topics=None), MetadataResponse, 1).topics) == 1


@pytest.mark.parametrize("version", [0, 3, 4, 9, 12])
def test_an_unknown_topic_is_made_with_the_defaults_of_the_broker(version: int) -> None:
    world = World(configs={"num.partitions": "3"})
    topic = world.ask(request_for("new"), MetadataResponse, version).topics[0]
    assert (topic.error_code, len(topic.partitions)) == (ErrorCode.NONE, 3)


def test_nothing_is_made_where_client_or_broker_forbid_it() -> None:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    world = World()
    answer = world.ask(request_for("new", create=False), MetadataResponse, 9)
    assert answer.topics[0].error_code == unknown
    strict = World(configs={"auto.create.topics.enable": "false"})
    assert strict.ask(request_for("new"), MetadataResponse, 9).topics[0].error_code == unknown
    assert "new" not in strict.broker.running.image.topics


def test_a_name_that_no_topic_may_have_is_refused_beside_one_that_may() -> None:
    world = World()
    answer = world.ask(request_for("sp ace", "new"), MetadataResponse, 9)
    codes = {topic.name: topic.error_code for topic in answer.topics}
    assert codes == {"sp ace": ErrorCode.INVALID_TOPIC_EXCEPTION, "new": ErrorCode.NONE}


def test_topics_are_found_by_id_from_version_12_on() -> None:
    world = World()
    by_id = MetadataRequest(topics=[MetadataRequestTopic(name=None, topic_id=world.topic_id())])
    assert world.ask(by_id, MetadataResponse, 12).topics[0].name == TOPIC
    for version in (10, 11):
        refused = world.ask(by_id, MetadataResponse, version).topics[0]
        assert refused.error_code == ErrorCode.INVALID_REQUEST
    unknown = MetadataRequest(topics=[MetadataRequestTopic(name=None, topic_id=b"\x07" * 16)])
    answer = world.ask(unknown, MetadataResponse, 12)
    assert answer.topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_operations_are_told_to_those_who_ask() -> None:
    world = World()
    request = request_for(TOPIC)
    request.include_topic_authorized_operations = True
    assert world.ask(request, MetadataResponse, 9).topics[0].topic_authorized_operations > 0
    plain = world.ask(request_for(TOPIC), MetadataResponse, 9).topics[0]
    assert plain.topic_authorized_operations == -(2**31)
