"""Brokers register, take and leave the lead; producer ids are given once."""

import pytest

from headwater.core_log.controller.image import EndpointImage, PartitionImage
from headwater.core_log.controller.nodes import (
    allocate_producer_ids,
    fence_broker,
    own_registration,
    register_broker,
    unfence_broker,
)
from headwater.core_log.kernel.errors import ApiError, ErrorCode
from headwater.core_log.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from headwater.core_log.protocol.messages.broker_registration import BrokerRegistrationRequest
from headwater.core_log.protocol.metadata.broker_registration_change_record import (
    BrokerRegistrationChangeRecord,
)
from headwater.core_log.protocol.metadata.partition_change_record import PartitionChangeRecord

from .cluster import after, carried_out, cluster, directory_of, topic, with_topics


def registration(cluster_id: str = "cluster") -> BrokerRegistrationRequest:
    return own_registration(
        broker_id=1,
        cluster_id=cluster_id,
        incarnation_id=directory_of(42),
        endpoints=[EndpointImage(listener="L", host="h", port=9092, security_protocol=0)],
        rack="r1",
        log_dirs=[directory_of(1)],
    )


def test_a_broker_registers_fenced_with_the_offset_as_its_epoch() -> None:
    """The epoch of every registration is higher than the one before."""
    image = cluster(3)

    decision = register_broker(image, registration())

    found = carried_out(image, decision).brokers[1]
    assert decision.response.broker_epoch == found.broker_epoch == image.last_offset + 1
    assert found.fenced
    assert (found.rack, found.incarnation_id) == ("r1", directory_of(42))
    assert found.endpoint("L") == EndpointImage(
        listener="L", host="h", port=9092, security_protocol=0
    )
    assert found.features["metadata.version"][1] == 30


def test_a_broker_of_another_cluster_is_refused() -> None:
    """Mixing two clusters' directories would mix their data."""
    with pytest.raises(ApiError) as refused:
        register_broker(cluster(), registration("other"))

    assert refused.value.code == ErrorCode.INCONSISTENT_CLUSTER_ID


def partition_after(*changes: PartitionChangeRecord, raise_epochs: bool = False) -> PartitionImage:
    """Broker 1's partition, changed, once broker 1 has been unfenced."""
    image = with_topics(cluster(2), topic("a", -1, -1, assignments={0: [1, 2]}))
    for change in changes:
        change.topic_id, change.partition_id = image.topics["a"].topic_id, 0
    image = after(image, changes)
    return (
        carried_out(image, unfence_broker(image, 1, raise_leader_epochs=raise_epochs))
        .topics["a"]
        .partitions[0]
    )


def test_a_broker_that_leads_goes_on_leading() -> None:
    """After a clean stop nothing is written; after another one each partition gets a new epoch."""
    assert partition_after().leader_epoch == 0
    raised = partition_after(raise_epochs=True)
    assert (raised.leader, raised.leader_epoch) == (1, 1)


def test_a_broker_takes_over_what_nobody_leads() -> None:
    """If it is in sync, or eligible, or the last known leader where nobody else is."""
    in_sync = partition_after(PartitionChangeRecord(leader=-1))
    eligible = partition_after(
        PartitionChangeRecord(leader=-1, isr=[], eligible_leader_replicas=[1, 2])
    )
    last = partition_after(PartitionChangeRecord(leader=-1, isr=[], last_known_elr=[1]))

    assert (in_sync.leader, in_sync.isr, in_sync.leader_epoch) == (1, (1, 2), 2)
    assert (eligible.leader, eligible.isr) == (1, (1,))
    assert eligible.eligible_leader_replicas == (2,)
    assert (last.leader, last.isr, last.last_known_elr) == (1, (1,), ())


@pytest.mark.parametrize(
    "change",
    [
        PartitionChangeRecord(leader=2),
        PartitionChangeRecord(leader=-1, isr=[2]),
        PartitionChangeRecord(leader=-1, isr=[2], last_known_elr=[1]),
        PartitionChangeRecord(leader=-1, isr=[], eligible_leader_replicas=[2]),
        PartitionChangeRecord(leader=-1, isr=[], eligible_leader_replicas=[2], last_known_elr=[1]),
        PartitionChangeRecord(leader=-1, isr=[], last_known_elr=[2]),
        PartitionChangeRecord(leader=-1, isr=[]),
    ],
)
def test_a_broker_does_not_take_what_others_may_know_better(change: PartitionChangeRecord) -> None:
    """Whoever lacks committed records must not lead."""
    assert change.leader != 1
    assert partition_after(change).leader == change.leader


def test_a_recovering_partition_is_recovered_when_its_leader_serves() -> None:
    """Opening the log was the recovery; the mark does not stay for ever."""
    found = partition_after(PartitionChangeRecord(leader_recovery_state=1))

    assert (found.leader_recovery_state, found.leader, found.leader_epoch) == (0, 1, 0)


def test_unfencing_clears_the_fence() -> None:
    """And carries the broker's epoch, as Kafka expects."""
    image = cluster()
    image = carried_out(image, register_broker(image, registration()))

    decision = unfence_broker(image, 1, raise_leader_epochs=False)

    (record,) = decision.records
    assert isinstance(record, BrokerRegistrationChangeRecord)
    assert record.broker_epoch == image.brokers[1].broker_epoch
    assert not carried_out(image, decision).brokers[1].fenced


def test_a_fenced_broker_leaves_the_lead_to_the_next_in_sync() -> None:
    """The last member of an ISR stays in it, without a leader."""
    image = with_topics(
        cluster(3), topic("a", -1, -1, assignments={0: [1, 2, 3], 1: [2, 1, 3], 2: [3, 2, 1]})
    )
    lone = with_topics(image, topic("b", -1, -1, assignments={0: [1]}))

    fenced = carried_out(lone, fence_broker(lone, 1))

    a, b = fenced.topics["a"].partitions, fenced.topics["b"].partitions
    assert [(p.leader, p.isr) for p in a] == [(2, (2, 3)), (2, (2, 3)), (3, (3, 2))]
    assert [p.leader_epoch for p in a] == [1, 0, 0]
    assert [(p.leader, p.isr) for p in b] == [(-1, (1,))]
    again = carried_out(fenced, unfence_broker(fenced, 1, raise_leader_epochs=False))
    assert again.topics["b"].partitions[0].leader == 1


def test_blocks_of_producer_ids_never_overlap() -> None:
    """The next block begins where the last one ended, whoever asks."""
    image = cluster(2)
    starts = []
    for broker_id in (1, 2, 1):
        request = AllocateProducerIdsRequest(broker_id=broker_id, broker_epoch=broker_id)
        decision = allocate_producer_ids(image, request)
        assert decision.response.producer_id_len == 1000
        starts.append(decision.response.producer_id_start)
        image = carried_out(image, decision)

    assert starts == [0, 1000, 2000]
    assert image.next_producer_id == 3000


@pytest.mark.parametrize(
    ("broker_id", "broker_epoch", "code"),
    [
        (9, 1, ErrorCode.BROKER_ID_NOT_REGISTERED),
        (1, 0, ErrorCode.STALE_BROKER_EPOCH),
    ],
)
def test_a_stranger_gets_no_producer_ids(
    broker_id: int, broker_epoch: int, code: ErrorCode
) -> None:
    """An old incarnation of a broker might hand out ids twice."""
    request = AllocateProducerIdsRequest(broker_id=broker_id, broker_epoch=broker_epoch)

    with pytest.raises(ApiError) as refused:
        allocate_producer_ids(cluster(), request)

    assert refused.value.code == code
