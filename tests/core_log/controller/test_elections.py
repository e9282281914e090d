"""ElectLeaders as Kafka answers it."""

import pytest

from headwater.core_log.controller.elections import ElectionType, elect_leaders
from headwater.core_log.controller.image import MetadataImage
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from headwater.core_log.protocol.metadata.partition_change_record import PartitionChangeRecord

from .cluster import after, broker, carried_out, cluster, topic, with_topics


def changed(*, leader: int, isr: list[int], down: tuple[int, ...] = ()) -> MetadataImage:
    """Topic a, one partition on brokers 1 and 2, with that leader and ISR."""
    image = with_topics(cluster(2), topic("a", -1, -1, assignments={0: [1, 2]}))
    change = PartitionChangeRecord(
        topic_id=image.topics["a"].topic_id, partition_id=0, leader=leader, isr=isr
    )
    return after(image, [change, *(broker(number, fenced=True) for number in down)])


def outcome(image: MetadataImage, kind: int, name: str = "a", index: int = 0) -> tuple[int, int]:
    """The error code and the leader afterwards."""
    asked = [TopicPartitions(topic=name, partitions=[index])]
    decision = elect_leaders(image, ElectLeadersRequest(election_type=kind, topic_partitions=asked))
    (result,) = decision.response.replica_election_results[0].partition_result
    found = carried_out(image, decision).partition("a", 0)
    assert found is not None
    return result.error_code, found.leader


PREFERRED, UNCLEAN = ElectionType.PREFERRED, ElectionType.UNCLEAN


@pytest.mark.parametrize(
    ("image", "kind", "expected"),
    [
        (changed(leader=1, isr=[1, 2]), PREFERRED, (ErrorCode.ELECTION_NOT_NEEDED, 1)),
        (changed(leader=2, isr=[1, 2]), PREFERRED, (ErrorCode.NONE, 1)),
        (changed(leader=2, isr=[2]), PREFERRED, (ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, 2)),
        (
            changed(leader=2, isr=[1, 2], down=(1,)),
            PREFERRED,
            (ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, 2),
        ),
        (changed(leader=2, isr=[2]), UNCLEAN, (ErrorCode.ELECTION_NOT_NEEDED, 2)),
        (changed(leader=-1, isr=[2]), UNCLEAN, (ErrorCode.NONE, 2)),
        (changed(leader=-1, isr=[2], down=(2,)), UNCLEAN, (ErrorCode.NONE, 1)),
        (
            changed(leader=-1, isr=[2], down=(1, 2)),
            UNCLEAN,
            (ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, -1),
        ),
        (changed(leader=1, isr=[1]), 5, (ErrorCode.INVALID_REQUEST, 1)),
    ],
)
def test_an_election_happens_where_it_is_needed_and_possible(
    image: MetadataImage, kind: int, expected: tuple[int, int]
) -> None:
    """The error says why not, and nothing changes then."""
    assert outcome(image, kind) == expected


def test_an_unclean_leader_is_alone_in_its_isr_and_recovering() -> None:
    """Others may hold what it lacks, so they start over from it."""
    image = changed(leader=-1, isr=[2], down=(2,))
    asked = [TopicPartitions(topic="a", partitions=[0])]
    decision = elect_leaders(
        image, ElectLeadersRequest(election_type=UNCLEAN, topic_partitions=asked)
    )

    found = carried_out(image, decision).topics["a"].partitions[0]
    assert (found.isr, found.leader_recovery_state) == ((1,), 1)


@pytest.mark.parametrize(("name", "index"), [("none", 0), ("a", 7), ("a", -1)])
def test_unknown_partitions_are_named(name: str, index: int) -> None:
    """Kafka's code for both."""
    code, _ = outcome(changed(leader=1, isr=[1]), PREFERRED, name, index)

    assert code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_asked_for_all_only_those_that_changed_are_listed() -> None:
    """Each topic is there, partitions that need no election are not."""
    image = with_topics(changed(leader=2, isr=[1, 2]), topic("b", 2))

    decision = elect_leaders(image, ElectLeadersRequest(topic_partitions=None))

    listed = {
        result.topic: [(p.partition_id, p.error_code) for p in result.partition_result]
        for result in decision.response.replica_election_results
    }
    assert listed == {"a": [(0, 0)], "b": []}
    assert len(decision.records) == 1


def test_an_unknown_kind_of_election_fails_as_a_whole() -> None:
    """The error stands above the partitions too."""
    asked = [TopicPartitions(topic="a", partitions=[0])]
    request = ElectLeadersRequest(election_type=5, topic_partitions=asked)

    decision = elect_leaders(changed(leader=1, isr=[1]), request)

    assert decision.response.error_code == ErrorCode.INVALID_REQUEST
