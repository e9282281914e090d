"""Moves of partitions begin, are listed and are cancelled."""

import pytest

from headwater.core_log.controller.image import MetadataImage
from headwater.core_log.controller.reassignments import (
    alter_partition_reassignments,
    list_partition_reassignments,
)
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from headwater.core_log.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)

from .cluster import carried_out, cluster, directory_of, topic, with_topics


def moved(
    image: MetadataImage,
    replicas: list[int] | None,
    *,
    name: str = "a",
    index: int = 0,
    may_change_factor: bool = True,
) -> tuple[MetadataImage, int, str | None]:
    """The image after asking for one move, and what the answer says."""
    request = AlterPartitionReassignmentsRequest(
        topics=[
            ReassignableTopic(
                name=name,
                partitions=[ReassignablePartition(partition_index=index, replicas=replicas)],
            )
        ],
        allow_replication_factor_change=may_change_factor,
    )
    decision = alter_partition_reassignments(image, request)
    assert decision.response.error_code == 0
    (result,) = decision.response.responses[0].partitions
    return carried_out(image, decision), result.error_code, result.error_message


ALONE = with_topics(cluster(), topic("a"))
THREE = with_topics(cluster(3), topic("a", -1, -1, assignments={0: [1, 2]}))


@pytest.mark.parametrize(
    ("replicas", "code", "message"),
    [
        ([1], ErrorCode.NONE, None),
        (None, ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, None),
        (
            [2],
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "The manual partition assignment includes broker 2, but no such broker is registered.",
        ),
        (
            [],
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "The manual partition assignment includes an empty replica list.",
        ),
        (
            [1, 1],
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "The manual partition assignment includes the broker 1 more than once.",
        ),
        (
            [-1],
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "The manual partition assignment includes broker -1, but no such broker is registered.",
        ),
    ],
)
def test_on_one_node_a_partition_stays(
    replicas: list[int] | None, code: ErrorCode, message: str | None
) -> None:
    """Moving it to where it is does nothing, anything else is refused as Kafka does."""
    image, found, text = moved(ALONE, replicas)

    assert (found, text) == (code, message)
    assert image.topics == ALONE.topics


@pytest.mark.parametrize(
    ("name", "index", "message"),
    [("none", 0, "Unable to find a topic named none."), ("a", 9, "Unable to find partition a:9.")],
)
def test_unknown_partitions_do_not_move(name: str, index: int, message: str) -> None:
    """The message names what is missing."""
    _, code, text = moved(ALONE, [1], name=name, index=index)

    assert (code, text) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)


def test_a_move_adds_first_and_removes_later() -> None:
    """Until the new replica is in sync the old ones stay, and the leader goes on."""
    image, code, _ = moved(THREE, [3, 2])

    (found,) = image.topics["a"].partitions
    assert code == 0
    assert found.replicas == (3, 2, 1)
    assert (found.adding_replicas, found.removing_replicas) == ((3,), (1,))
    assert (found.leader, found.isr, found.leader_epoch) == (1, (1, 2), 0)
    assert found.directories == (directory_of(3), directory_of(2), directory_of(1))


def test_a_move_can_be_cancelled() -> None:
    """All is as before but for the partition epoch."""
    image, code, _ = moved(moved(THREE, [3])[0], None)

    (before,), (found,) = THREE.topics["a"].partitions, image.topics["a"].partitions
    assert code == 0
    assert set(found.replicas) == set(before.replicas)
    assert (found.adding_replicas, found.removing_replicas) == ((), ())
    assert set(found.isr) == set(before.isr)
    assert found.leader == before.leader


def test_the_replication_factor_can_be_held_fast() -> None:
    """KIP-860: a move that would change it is refused when asked so."""
    _, code, _ = moved(THREE, [1, 2, 3], may_change_factor=False)

    assert code == ErrorCode.INVALID_REPLICATION_FACTOR


def test_moves_under_way_are_listed() -> None:
    """By name or all of them; what is not moving or not there is left out."""
    image, _, _ = moved(with_topics(THREE, topic("b")), [3, 2])
    one = ListPartitionReassignmentsTopics(name="a", partition_indexes=[0, 9])
    other = ListPartitionReassignmentsTopics(name="b", partition_indexes=[0])
    none = ListPartitionReassignmentsTopics(name="none", partition_indexes=[0])

    for topics in (None, [one, other, none]):
        response = list_partition_reassignments(
            image, ListPartitionReassignmentsRequest(topics=topics)
        )
        (listed,) = response.topics
        (found,) = listed.partitions
        assert (listed.name, found.partition_index) == ("a", 0)
        assert (found.adding_replicas, found.removing_replicas) == ([3], [1])
    quiet = ListPartitionReassignmentsRequest(topics=None)
    assert list_partition_reassignments(THREE, quiet).topics == []
