"""Topics are created, deleted and grown with Kafka's checks, codes and words."""

import random

import pytest

from headwater.core_log.controller.decision import ControllerConfig
from headwater.core_log.controller.image import ConfigResource, ConfigResourceType, MetadataImage
from headwater.core_log.controller.topics import create_partitions, create_topics, delete_topics
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.kernel.ids import id_text
from headwater.core_log.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from headwater.core_log.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
)
from headwater.core_log.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState

from .cluster import CONFIG, after, broker, carried_out, cluster, directory_of, topic, with_topics

RNG = random.Random(7)


def created(
    image: MetadataImage, *topics: CreatableTopic, config: ControllerConfig = CONFIG
) -> tuple[MetadataImage, list[CreatableTopicResult]]:
    decision = create_topics(image, CreateTopicsRequest(topics=[*topics]), config, RNG)
    return after(image, decision.records), decision.response.topics


def test_a_topic_has_the_partitions_and_configs_it_was_asked_for() -> None:
    """Image and response agree, and a new partition is led by its first replica from epoch 0."""
    image, (result,) = created(cluster(), topic("a", 3, configs={"retention.ms": "77"}))

    assert (result.error_code, result.error_message) == (0, None)
    assert (result.num_partitions, result.replication_factor) == (3, 1)
    made = image.topics["a"]
    assert result.topic_id == made.topic_id
    assert len(made.partitions) == 3
    for partition in made.partitions:
        assert partition.replicas == partition.isr == (1,)
        assert (partition.leader, partition.leader_epoch, partition.partition_epoch) == (1, 0, 0)
        assert partition.directories == (directory_of(1),)
    assert image.topic_overrides("a") == {"retention.ms": "77"}
    assert {entry.name: entry.value for entry in result.configs or ()}["retention.ms"] == "77"
    assert len(result.configs or ()) == 33  # as Kafka 4.3 lists


def test_minus_one_means_the_brokers_default() -> None:
    """Partitions and replicas left open come from the settings."""
    config = ControllerConfig(node_id=1, num_partitions=5, default_replication_factor=2)

    image, (result,) = created(cluster(3), topic("a", -1, -1), config=config)

    assert (result.num_partitions, result.replication_factor) == (5, 2)
    assert all(len(partition.replicas) == 2 for partition in image.topics["a"].partitions)


REFUSALS: list[tuple[CreatableTopic, ErrorCode, str]] = [
    (
        topic("", 1),
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        "Topic name is invalid: the empty string is not allowed",
    ),
    (
        topic("a/../b"),
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        (
            "Topic name is invalid: 'a/../b' contains one or more characters other than ASCII "
            "alphanumerics, '.', '_' and '-'"
        ),
    ),
    (topic("there"), ErrorCode.TOPIC_ALREADY_EXISTS, "Topic 'there' already exists."),
    (
        topic("with_dot"),
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        "Topic 'with_dot' collides with existing topic: with.dot",
    ),
    (
        topic("__cluster_metadata"),
        ErrorCode.INVALID_REQUEST,
        "Creation of internal topic __cluster_metadata is prohibited.",
    ),
    (
        topic("a", 0),
        ErrorCode.INVALID_PARTITIONS,
        "Number of partitions was set to an invalid non-positive value.",
    ),
    (
        topic("a", -2),
        ErrorCode.INVALID_PARTITIONS,
        "Number of partitions was set to an invalid non-positive value.",
    ),
    (
        topic("a", 1, 0),
        ErrorCode.INVALID_REPLICATION_FACTOR,
        "Replication factor must be larger than 0, or -1 to use the default value.",
    ),
    (
        topic("a", 1, 2),
        ErrorCode.INVALID_REPLICATION_FACTOR,
        (
            "Unable to replicate the partition 2 time(s): The target replication factor of 2 "
            "cannot "
            "be reached because only 1 broker(s) are registered or some brokers have all their log "
            "directories cordoned."
        ),
    ),
    (
        topic("a", configs={"foo": "1"}),
        ErrorCode.INVALID_CONFIG,
        "Unknown topic config name: foo",
    ),
    (
        topic("a", configs={"retention.ms": "-5"}),
        ErrorCode.INVALID_CONFIG,
        "Invalid value -5 for configuration retention.ms: Value must be at least -1",
    ),
    (
        topic("a", configs={"retention.ms": None}),
        ErrorCode.INVALID_CONFIG,
        "Null value not supported for topic configs: retention.ms",
    ),
    (
        topic("a", 3, -1, assignments={0: [1]}),
        ErrorCode.INVALID_REQUEST,
        "A manual partition assignment was specified, but numPartitions was not set to -1.",
    ),
    (
        topic("a", -1, 1, assignments={0: [1]}),
        ErrorCode.INVALID_REQUEST,
        "A manual partition assignment was specified, but replication factor was not set to -1.",
    ),
    (
        topic("a", -1, -1, assignments={1: [1]}),
        ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        "partitions should be a consecutive 0-based integer sequence",
    ),
    (
        topic("a", -1, -1, assignments={0: [2]}),
        ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        "The manual partition assignment includes broker 2, but no such broker is registered.",
    ),
    (
        topic("a", -1, -1, assignments={0: []}),
        ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        "The manual partition assignment includes an empty replica list.",
    ),
    (
        topic("a", -1, -1, assignments={0: [1, 1]}),
        ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        "The manual partition assignment includes the broker 1 more than once.",
    ),
]
"""Asked of Apache Kafka 4.3 and written down."""


@pytest.mark.parametrize(
    ("asked", "code", "message"), REFUSALS, ids=[str(number) for number in range(len(REFUSALS))]
)
def test_a_topic_is_refused_in_kafkas_words(
    asked: CreatableTopic, code: ErrorCode, message: str
) -> None:
    """One bad topic changes nothing, and the good one beside it is created."""
    before = with_topics(cluster(), topic("there"), topic("with.dot"))

    image, (bad, good) = created(before, asked, topic("good"))

    assert good.error_code == 0
    assert set(image.topics) == {"there", "with.dot", "good"}
    assert (bad.name, bad.error_code, bad.error_message) == (asked.name, code, message)
    assert (bad.num_partitions, bad.replication_factor) == (-1, -1)


def test_a_name_given_twice_is_refused_once() -> None:
    """Neither of the two is created; one error says so."""
    image, results = created(cluster(), topic("a"), topic("a", 2))

    assert [(r.error_code, r.error_message) for r in results] == [
        (ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
    ]
    assert not image.topics


def test_names_of_one_request_must_not_collide() -> None:
    """Unlike in Kafka the second of two colliding names is refused within one request too."""
    image, results = created(cluster(), topic("a.b"), topic("a_b"))

    assert [r.error_code for r in results] == [0, ErrorCode.INVALID_TOPIC_EXCEPTION]
    assert set(image.topics) == {"a.b"}


def test_a_deleted_name_collides_no_more() -> None:
    """Names are free again after deletion, also for look-alikes."""
    before = with_topics(cluster(), topic("a.b"))
    removal = delete_topics(before, DeleteTopicsRequest(topic_names=["a.b"]), CONFIG)

    _, (result,) = created(carried_out(before, removal), topic("a_b"))

    assert result.error_code == 0


def test_validate_only_writes_nothing() -> None:
    """The answer is that of a creation, and the records are none."""
    request = CreateTopicsRequest(topics=[topic("a", 2)], validate_only=True)

    decision = create_topics(cluster(), request, CONFIG, RNG)

    assert decision.records == ()
    assert decision.response.topics[0].num_partitions == 2


def test_topic_ids_are_fresh_and_make_no_option() -> None:
    """Ids are version 4 UUIDs whose text a command line does not take for an option."""
    image, _ = created(cluster(), *(topic(f"t{number}") for number in range(300)))

    assert len(image.topic_names) == 300
    for topic_id in image.topic_names:
        assert not id_text(topic_id).startswith("-")
        assert topic_id[6] >> 4 == 4


def test_partitions_by_hand_lie_where_they_were_put() -> None:
    """Fenced replicas are assigned but not in sync, and do not lead."""
    image = after(cluster(2), [broker(3, fenced=True)])

    image, (result,) = created(image, topic("a", -1, -1, assignments={0: [3, 2], 1: [1, 2]}))

    assert (result.num_partitions, result.replication_factor) == (2, 2)
    first, second = image.topics["a"].partitions
    assert (first.replicas, first.isr, first.leader) == ((3, 2), (2,), 2)
    assert (second.replicas, second.isr, second.leader) == ((1, 2), (1, 2), 1)


def test_partitions_by_hand_agree_in_their_number_of_replicas_and_have_one_alive() -> None:
    """A topic has one replication factor, and somebody must lead."""
    image = after(cluster(2), [broker(3, fenced=True)])

    _, (uneven, dead) = created(
        image,
        topic("a", -1, -1, assignments={0: [1, 2], 1: [1]}),
        topic("b", -1, -1, assignments={0: [3]}),
    )

    assert uneven.error_code == dead.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert "not consistent with previous partitions, which have 2" in str(uneven.error_message)
    assert "partition 0 are fenced or in controlled shutdown" in str(dead.error_message)


def test_ten_thousand_partitions_are_created_at_once() -> None:
    """The bound is on records, a topic's own among them; the image stays linear to build."""
    image, (result,) = created(cluster(), topic("a", 9_999))

    assert result.error_code == 0
    assert len(image.topics["a"].partitions) == 9_999


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([10_000], "Unable to perform excessively large batch operation."),
        ([10_001], "Excessively large number of partitions per request."),
        ([5_000, 5_001], "Excessively large number of partitions per request."),
    ],
)
def test_more_than_a_batch_of_partitions_is_refused(counts: list[int], message: str) -> None:
    """One request makes at most ten thousand records."""
    topics = [topic(f"t{number}", count) for number, count in enumerate(counts)]

    image, results = created(cluster(), *topics)

    assert {r.error_code for r in results} == {ErrorCode.POLICY_VIOLATION}
    assert {r.error_message for r in results} == {message}
    assert not image.topics


def test_topics_are_deleted_by_name_and_by_id() -> None:
    """Name and id are both in the answer, and the topic's configs go with it."""
    before = with_topics(cluster(), topic("a", configs={"retention.ms": "1"}), topic("b"))
    b = before.topics["b"].topic_id
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name="a"), DeleteTopicState(topic_id=b)])

    decision = delete_topics(before, request, CONFIG)

    image = carried_out(before, decision)
    assert not image.topics
    assert not image.topic_names
    assert ConfigResource(ConfigResourceType.TOPIC, "a") not in image.configs
    assert [(r.name, r.error_code) for r in decision.response.responses] == [("a", 0), ("b", 0)]
    assert decision.response.responses[1].topic_id == b


@pytest.mark.parametrize(
    ("states", "code", "message"),
    [
        (
            [DeleteTopicState(name="none")],
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.meaning,
        ),
        (
            [DeleteTopicState(topic_id=bytes(15) + b"\x07")],
            ErrorCode.UNKNOWN_TOPIC_ID,
            ErrorCode.UNKNOWN_TOPIC_ID.meaning,
        ),
        (
            [DeleteTopicState(name="a"), DeleteTopicState(name="a")],
            ErrorCode.INVALID_REQUEST,
            "Duplicate topic name.",
        ),
        (
            [DeleteTopicState(name="a", topic_id=bytes(15) + b"\x07")],
            ErrorCode.INVALID_REQUEST,
            "You may not specify both topic name and topic id.",
        ),
        (
            [DeleteTopicState()],
            ErrorCode.INVALID_REQUEST,
            "Neither topic name nor id were specified.",
        ),
    ],
)
def test_a_deletion_is_refused(
    states: list[DeleteTopicState], code: ErrorCode, message: str
) -> None:
    """Once for each name or id, and nothing is removed."""
    image = with_topics(cluster(), topic("a"))

    decision = delete_topics(image, DeleteTopicsRequest(topics=states), CONFIG)

    (result,) = decision.response.responses
    assert (result.error_code, result.error_message) == (code, message)
    assert decision.records == ()


def test_a_topic_named_by_name_and_by_id_is_not_deleted_twice() -> None:
    """Neither entry is carried out: Kafka takes the request for a mistake."""
    image = with_topics(cluster(), topic("a"), topic("b"))
    twice = image.topics["a"].topic_id
    states = [
        DeleteTopicState(name="a"),
        DeleteTopicState(topic_id=twice),
        DeleteTopicState(name="b"),
    ]

    decision = delete_topics(image, DeleteTopicsRequest(topics=states), CONFIG)

    codes = [result.error_code for result in decision.response.responses]
    assert codes == [ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_REQUEST, ErrorCode.NONE]
    assert set(carried_out(image, decision).topics) == {"a"}


def test_a_cluster_can_forbid_deletion() -> None:
    """delete.topic.enable=false keeps every topic."""
    image = with_topics(cluster(), topic("a"))
    config = ControllerConfig(node_id=1, delete_topic_enable=False)

    decision = delete_topics(image, DeleteTopicsRequest(topic_names=["a"]), config)

    assert decision.response.responses[0].error_code == ErrorCode.TOPIC_DELETION_DISABLED
    assert decision.records == ()


def test_new_partitions_follow_the_old_ones() -> None:
    """Their numbers continue, their replicas are as many as before."""
    before = with_topics(cluster(3), topic("a", 2, 2))
    request = CreatePartitionsRequest(topics=[CreatePartitionsTopic(name="a", count=5)])
    request.topics[0].assignments = None

    decision = create_partitions(before, request, RNG)

    image = carried_out(before, decision)
    assert decision.response.results[0].error_code == 0
    assert len(image.topics["a"].partitions) == 5
    assert image.topics["a"].partitions[:2] == before.topics["a"].partitions
    assert all(len(partition.replicas) == 2 for partition in image.topics["a"].partitions)


@pytest.mark.parametrize(
    ("name", "count", "assignments", "code", "message"),
    [
        ("none", 3, None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None),
        ("a", 3, None, ErrorCode.INVALID_PARTITIONS, "Topic already has 3 partition(s)."),
        (
            "a",
            2,
            None,
            ErrorCode.INVALID_PARTITIONS,
            "The topic a currently has 3 partition(s); 2 would not be an increase.",
        ),
        (
            "a",
            -1,
            None,
            ErrorCode.INVALID_PARTITIONS,
            "The topic a currently has 3 partition(s); -1 would not be an increase.",
        ),
        (
            "a",
            5,
            [[1]],
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "Attempted to add 2 additional partition(s), but only 1 assignment(s) were specified.",
        ),
        (
            "a",
            4,
            [[2]],
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "The manual partition assignment includes broker 2, but no such broker is registered.",
        ),
        (
            "a",
            20_000,
            None,
            ErrorCode.POLICY_VIOLATION,
            "Unable to perform excessively large batch operation.",
        ),
    ],
)
def test_growth_is_refused_in_kafkas_words(
    name: str, count: int, assignments: list[list[int]] | None, code: ErrorCode, message: str | None
) -> None:
    """A topic never loses partitions and never gets ones that nobody can hold."""
    image = with_topics(cluster(), topic("a", 3))
    asked = CreatePartitionsTopic(name=name, count=count)
    asked.assignments = (
        None
        if assignments is None
        else [CreatePartitionsAssignment(broker_ids=brokers) for brokers in assignments]
    )

    decision = create_partitions(image, CreatePartitionsRequest(topics=[asked]), RNG)

    (result,) = decision.response.results
    assert (result.error_code, result.error_message) == (code, message)
    assert decision.records == ()


def test_growth_asked_for_twice_or_only_to_see_writes_nothing() -> None:
    """A duplicate is refused, validate_only just answers."""
    image = with_topics(cluster(), topic("a", 3))
    asked = CreatePartitionsTopic(name="a", count=4, assignments=None)

    twice = create_partitions(image, CreatePartitionsRequest(topics=[asked, asked]), RNG)
    tried = create_partitions(
        image, CreatePartitionsRequest(topics=[asked], validate_only=True), RNG
    )

    assert [r.error_message for r in twice.response.results] == ["Duplicate topic name."]
    assert tried.response.results[0].error_code == 0
    assert twice.records == tried.records == ()
