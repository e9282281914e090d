"""DeleteRecords (key 21), versions 0-2: raises the log start offset of partitions (KIP-107).

Offset -1 means the high watermark. The new start is durable before the answer.
"""

from ...kernel.errors import ApiError, ErrorCode
from ...kernel.ids import NO_OFFSET
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..describe import INTERNAL_TOPICS
from ..handler import Handler

HIGH_WATERMARK = -1


def serve(
    broker: Broker, request: DeleteRecordsRequest, call: Call
) -> Deferred[DeleteRecordsResponse]:
    """The low watermark of each partition after the deletion."""
    del call
    response = DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                name=topic.name,
                partitions=[_delete(broker, topic.name, asked) for asked in topic.partitions],
            )
            for topic in request.topics
        ]
    )
    return broker.housekeeping.checkpoint().map(
        lambda errors: _settle(response, next((error for error in errors if error), None))
    )


def _delete(
    broker: Broker, topic: str, asked: DeleteRecordsPartition
) -> DeleteRecordsPartitionResult:
    index = asked.partition_index
    try:
        hosted = broker.hosted_by_name(topic, index)
        if topic in INTERNAL_TOPICS:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION)
        if not hosted.log.config.cleanup_delete:
            raise ApiError(ErrorCode.POLICY_VIOLATION)
        offset = hosted.high_watermark if asked.offset == HIGH_WATERMARK else asked.offset
        if not 0 <= offset <= hosted.high_watermark:
            raise ApiError(ErrorCode.OFFSET_OUT_OF_RANGE)
        hosted.log.raise_log_start(offset)
    except ApiError as error:
        return DeleteRecordsPartitionResult(
            partition_index=index, low_watermark=NO_OFFSET, error_code=error.code
        )
    return DeleteRecordsPartitionResult(
        partition_index=index,
        low_watermark=hosted.log.log_start_offset,
        error_code=ErrorCode.NONE,
    )


def _settle(response: DeleteRecordsResponse, error: ApiError | None) -> DeleteRecordsResponse:
    if error is not None:
        for topic in response.topics:
            for partition in topic.partitions:
                if partition.error_code == ErrorCode.NONE:
                    partition.error_code = error.code
                    partition.low_watermark = NO_OFFSET
    return response


HANDLER = Handler(api=API_BY_KEY[21], version_min=0, version_max=2, serve=serve)
