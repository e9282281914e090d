"""Nodes: registration, fencing, and the blocks of producer ids they ask for.

Pure. A broker registers fenced (KIP-631) and is unfenced when it serves; a fenced broker leads
nothing. One node alone does both at its start, one behind the other.
"""

from collections.abc import Sequence
from typing import Final

from ..kernel.errors import ApiError, ErrorCode
from ..protocol.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from ..protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
    Listener,
)
from ..protocol.metadata.broker_registration_change_record import BrokerRegistrationChangeRecord
from ..protocol.metadata.partition_change_record import PartitionChangeRecord
from ..protocol.metadata.producer_ids_record import ProducerIdsRecord
from ..protocol.metadata.register_broker_record import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from ..protocol.schema import Message
from .decision import Decision
from .features import SUPPORTED
from .image import NO_LEADER, BrokerImage, EndpointImage, MetadataImage, PartitionImage

PRODUCER_ID_BLOCK: Final = 1000
"""Ids handed out at once; Kafka's number too (KIP-730)."""
PRODUCER_ID_MAX: Final = 2**63 - 1

_FENCED: Final = 1
_UNFENCED: Final = -1
_RECOVERED: Final = 0


def own_registration(
    *,
    broker_id: int,
    cluster_id: str,
    incarnation_id: bytes,
    endpoints: Sequence[EndpointImage],
    rack: str | None,
    log_dirs: Sequence[bytes],
) -> BrokerRegistrationRequest:
    """What a node of this software registers with; *log_dirs* are directory ids."""
    return BrokerRegistrationRequest(
        broker_id=broker_id,
        cluster_id=cluster_id,
        incarnation_id=incarnation_id,
        listeners=[
            Listener(
                name=endpoint.listener,
                host=endpoint.host,
                port=endpoint.port,
                security_protocol=endpoint.security_protocol,
            )
            for endpoint in endpoints
        ],
        features=[
            Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in SUPPORTED.items()
        ],
        rack=rack,
        log_dirs=[*log_dirs],
    )


def register_broker(
    image: MetadataImage, request: BrokerRegistrationRequest
) -> Decision[BrokerRegistrationResponse]:
    """Register a broker, fenced. Its epoch is the offset of its registration.

    Raises INCONSISTENT_CLUSTER_ID when the broker belongs to another cluster.
    """
    if request.cluster_id != image.cluster_id:
        raise ApiError(
            ErrorCode.INCONSISTENT_CLUSTER_ID,
            f"Expected cluster ID {image.cluster_id}, but got cluster ID {request.cluster_id}",
        )
    broker_epoch = image.last_offset + 1
    record = RegisterBrokerRecord(
        broker_id=request.broker_id,
        incarnation_id=request.incarnation_id,
        broker_epoch=broker_epoch,
        end_points=[
            BrokerEndpoint(
                name=listener.name,
                host=listener.host,
                port=listener.port,
                security_protocol=listener.security_protocol,
            )
            for listener in request.listeners
        ],
        features=[
            BrokerFeature(
                name=feature.name,
                min_supported_version=feature.min_supported_version,
                max_supported_version=feature.max_supported_version,
            )
            for feature in request.features
        ],
        rack=request.rack,
        fenced=True,
        log_dirs=[*request.log_dirs],
    )
    return Decision(
        records=(record,), response=BrokerRegistrationResponse(broker_epoch=broker_epoch)
    )


def unfence_broker(
    image: MetadataImage, broker_id: int, *, raise_leader_epochs: bool
) -> Decision[None]:
    """Let a registered broker serve, and lead what nobody leads and it has the data of.

    With *raise_leader_epochs* it also begins a new leader epoch where it leads already. After a
    stop that was not clean it must: records that were written but not flushed may be gone, others
    will take their offsets, and only the epoch lets a consumer notice (KIP-320).
    """
    broker = _registered(image, broker_id)
    records: list[Message] = [
        BrokerRegistrationChangeRecord(
            broker_id=broker_id, broker_epoch=broker.broker_epoch, fenced=_UNFENCED
        )
    ]
    for topic in image.topics.values():
        for index, partition in enumerate(topic.partitions):
            change = _taking_over(partition, broker_id, raise_leader_epochs=raise_leader_epochs)
            if change is not None:
                change.topic_id, change.partition_id = topic.topic_id, index
                records.append(change)
    return Decision(records=tuple(records), response=None)


def fence_broker(image: MetadataImage, broker_id: int) -> Decision[None]:
    """Take a broker out of service: it leads nothing and leaves every ISR that others are in."""
    broker = _registered(image, broker_id)
    records: list[Message] = [
        BrokerRegistrationChangeRecord(
            broker_id=broker_id, broker_epoch=broker.broker_epoch, fenced=_FENCED
        )
    ]
    for topic in image.topics.values():
        for index, partition in enumerate(topic.partitions):
            change = _leaving(image, partition, broker_id)
            if change is not None:
                change.topic_id, change.partition_id = topic.topic_id, index
                records.append(change)
    return Decision(records=tuple(records), response=None)


def allocate_producer_ids(
    image: MetadataImage, request: AllocateProducerIdsRequest
) -> Decision[AllocateProducerIdsResponse]:
    """A block of producer ids that nobody else has got or will get.

    Raises BROKER_ID_NOT_REGISTERED, STALE_BROKER_EPOCH.
    """
    broker = _registered(image, request.broker_id)
    if request.broker_epoch != broker.broker_epoch:
        raise ApiError(
            ErrorCode.STALE_BROKER_EPOCH,
            f"Expected broker epoch {broker.broker_epoch}, but got broker epoch "
            f"{request.broker_epoch}",
        )
    start = image.next_producer_id
    if start > PRODUCER_ID_MAX - PRODUCER_ID_BLOCK:
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, "Exhausted all producerIds.")
    record = ProducerIdsRecord(
        broker_id=request.broker_id,
        broker_epoch=request.broker_epoch,
        next_producer_id=start + PRODUCER_ID_BLOCK,
    )
    return Decision(
        records=(record,),
        response=AllocateProducerIdsResponse(
            producer_id_start=start, producer_id_len=PRODUCER_ID_BLOCK
        ),
    )


def _registered(image: MetadataImage, broker_id: int) -> BrokerImage:
    broker = image.broker(broker_id)
    if broker is None:
        raise ApiError(
            ErrorCode.BROKER_ID_NOT_REGISTERED, f"Broker ID {broker_id} is not currently registered"
        )
    return broker


def _taking_over(
    partition: PartitionImage, broker_id: int, *, raise_leader_epochs: bool
) -> PartitionChangeRecord | None:
    """How the broker becomes, or stays, leader of the partition; None when it does neither."""
    if partition.leader == broker_id:
        return _staying(partition, broker_id, raise_leader_epochs=raise_leader_epochs)
    if partition.leader != NO_LEADER:
        return None
    if broker_id in partition.isr:
        return PartitionChangeRecord(leader=broker_id, leader_recovery_state=_RECOVERED)
    if partition.isr:
        return None
    if broker_id in partition.eligible_leader_replicas:  # KIP-966: it holds all that is committed
        others = [node for node in partition.eligible_leader_replicas if node != broker_id]
        return PartitionChangeRecord(
            leader=broker_id, isr=[broker_id], eligible_leader_replicas=others, last_known_elr=[]
        )
    if not partition.eligible_leader_replicas and partition.last_known_elr == (broker_id,):
        # The last leader came back from an unclean stop; Kafka elects it as a last resort.
        return PartitionChangeRecord(leader=broker_id, isr=[broker_id], last_known_elr=[])
    return None


def _staying(
    partition: PartitionImage, broker_id: int, *, raise_leader_epochs: bool
) -> PartitionChangeRecord | None:
    recovers = partition.leader_recovery_state != _RECOVERED
    if not recovers and not raise_leader_epochs:
        return None
    record = PartitionChangeRecord()
    if raise_leader_epochs:
        record.leader = broker_id
    if recovers:
        # Opening the log has recovered it; nothing else remains to be done (KIP-704).
        record.leader_recovery_state = _RECOVERED
    return record


def _leaving(
    image: MetadataImage, partition: PartitionImage, broker_id: int
) -> PartitionChangeRecord | None:
    isr = [node for node in partition.isr if node != broker_id]
    leaves_isr = broker_id in partition.isr and bool(isr)
    if partition.leader != broker_id:
        return PartitionChangeRecord(isr=isr) if leaves_isr else None
    heirs = [
        node
        for node in partition.replicas
        if node in isr and (heir := image.broker(node)) is not None and not heir.fenced
    ]
    return PartitionChangeRecord(
        leader=heirs[0] if heirs else NO_LEADER, isr=isr if leaves_isr else None
    )
