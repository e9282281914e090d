"""WriteTxnMarkers (key 27), versions 1-2: another coordinator, or a tool, ends transactions here.

``kafka-transactions abort`` ends a transaction that its coordinator has forgotten this way.
"""

from ...kernel.errors import ErrorCode
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred, gather
from ..handler import Handler
from ..markers import Marker


def serve(
    broker: Broker, request: WriteTxnMarkersRequest, call: Call
) -> Deferred[WriteTxnMarkersResponse]:
    """One error code for each partition, once its marker is committed."""
    del call
    return gather([_write(broker, marker) for marker in request.markers]).map(
        lambda results: WriteTxnMarkersResponse(markers=results)
    )


def _write(broker: Broker, wanted: WritableTxnMarker) -> Deferred[WritableTxnMarkerResult]:
    marker = Marker(
        producer_id=wanted.producer_id,
        producer_epoch=wanted.producer_epoch,
        coordinator_epoch=wanted.coordinator_epoch,
        is_commit=wanted.transaction_result,
        transaction_version=wanted.transaction_version,
    )
    topics = [
        gather([_write_one(broker, topic.name, index, marker) for index in topic.partition_indexes])
        for topic in wanted.topics
    ]
    return gather(topics).map(
        lambda results: WritableTxnMarkerResult(
            producer_id=wanted.producer_id,
            topics=[
                WritableTxnMarkerTopicResult(name=topic.name, partitions=partitions)
                for topic, partitions in zip(wanted.topics, results, strict=True)
            ],
        )
    )


def _write_one(
    broker: Broker, topic: str, index: int, marker: Marker
) -> Deferred[WritableTxnMarkerPartitionResult]:
    result: Deferred[WritableTxnMarkerPartitionResult] = Deferred()

    def done(code: ErrorCode) -> None:
        if code is ErrorCode.NOT_LEADER_OR_FOLLOWER and not broker.own_topics.exists(topic, index):
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        result.resolve(WritableTxnMarkerPartitionResult(partition_index=index, error_code=code))

    broker.transactions.markers.write(topic, index, marker, done)
    return result


HANDLER = Handler(api=API_BY_KEY[27], version_min=1, version_max=2, serve=serve)
