"""Questions one asks of an image."""

from headwater.core_log.controller.features import FeaturesImage
from headwater.core_log.controller.image import (
    BrokerImage,
    EndpointImage,
    MetadataDelta,
    collision_key,
)
from headwater.core_log.kernel.ids import NO_TOPIC_ID

from .cluster import cluster, topic, with_topics


def test_topics_are_found_by_name_and_by_id() -> None:
    """Unknown ones are None, or the zero id."""
    image = with_topics(cluster(), topic("a", 2))
    found = image.topics["a"]

    assert image.topic("a") is image.topic_by_id(found.topic_id) is found
    assert image.topic("b") is image.topic_by_id(bytes(16)) is None
    assert image.topic_id("a") == found.topic_id
    assert image.topic_id("b") == NO_TOPIC_ID


def test_partitions_are_found_within_bounds_only() -> None:
    """A number from a request is no index yet: -1 is not the last partition."""
    image = with_topics(cluster(), topic("a", 2))

    assert image.partition("a", 1) is image.topics["a"].partitions[1]
    assert image.partition("a", 2) is image.partition("a", -1) is image.partition("b", 0) is None


def test_a_node_hosts_the_partitions_it_has_replicas_of() -> None:
    """Others are not listed."""
    image = with_topics(
        cluster(3), topic("a", -1, -1, assignments={0: [1, 3], 1: [2, 3], 2: [2, 1]})
    )

    assert [(t.name, index) for t, index in image.hosted_by(1)] == [("a", 0), ("a", 2)]


def test_a_broker_has_one_endpoint_per_listener() -> None:
    """A listener it does not have is None."""
    here = EndpointImage(listener="A", host="h", port=1, security_protocol=0)
    broker = BrokerImage(
        broker_id=1,
        broker_epoch=1,
        incarnation_id=bytes(16),
        endpoints=(here,),
        features={},
        rack=None,
        fenced=False,
    )

    assert broker.endpoint("A") is here
    assert broker.endpoint("B") is None


def test_names_collide_when_only_dots_and_underscores_differ() -> None:
    """Names without either cannot collide."""
    assert collision_key("a.b_c") == collision_key("a_b.c") == "a_b_c"
    assert collision_key("abc") is None


def test_an_empty_delta_knows_it() -> None:
    """Nothing to act on."""
    assert MetadataDelta().is_empty
    assert not MetadataDelta(topics_created=("a",)).is_empty


def test_clients_see_only_levels_that_are_served() -> None:
    """A directory of Kafka's may finalize more than this software speaks."""
    features = FeaturesImage(
        levels={"metadata.version": 31, "transaction.version": 1, "share.version": 1}
    )

    assert features.finalized == {"metadata.version": 30, "transaction.version": 1}
    assert features.supported["transaction.version"] == (0, 2)


def test_reprs_are_short() -> None:
    """They stand in log lines."""
    image = with_topics(cluster(), topic("a", 500))

    assert repr(image) == "<MetadataImage after 501: 1 topics, 1 brokers>"
