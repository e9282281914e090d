"""Produce (key 0), versions 3-13; 0-2 are listed and refused.

Versions 0-2 stay in the advertised range because older librdkafka takes their absence for a broker
without compression (KAFKA-18659). acks=0 gets no answer: an error closes the connection instead,
as in Kafka. acks=1 is answered once the batch is in the file, acks=all once it is on disk.
"""

from ...kernel.errors import ApiError, ErrorCode
from ...kernel.ids import NO_OFFSET, NO_TIMESTAMP
from ...kernel.ports import Buffer
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from ...records.validate import InvalidRecords, validate_produced
from ...storage.log import Appended
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..handler import Handler
from ..partitions import ACKS_ALL, Hosted
from ..session import ProtocolViolation

_ACKS = (0, 1, ACKS_ALL)


def serve(broker: Broker, request: ProduceRequest, call: Call) -> Deferred[ProduceResponse] | None:
    """Append every partition's batch; the answer comes when the last of them is safe."""
    pending = _PendingProduce(broker.clock.monotonic_ms() + request.timeout_ms)
    acks = request.acks
    refusal = _request_error(request, acks)
    version = call.api_version
    now_ms = broker.clock.now_ms()
    responses: list[TopicProduceResponse] = []
    for topic in request.topic_data:
        answers: list[PartitionProduceResponse] = []
        for data in topic.partition_data:
            answer = PartitionProduceResponse(index=data.index, error_code=0, base_offset=NO_OFFSET)
            answers.append(answer)
            try:
                if refusal is not None:
                    raise refusal
                hosted = broker.hosted(topic.name, topic.topic_id, data.index, by_id=version >= 13)
                _append(broker, hosted, data.records, acks, answer, pending, version, now_ms)
            except ApiError as error:
                if acks == 0:
                    raise ProtocolViolation(
                        f"a produce request with acks=0 failed: {error.code.name}"
                    ) from error
                _fill_error(answer, error)
        responses.append(
            TopicProduceResponse(
                name=topic.name, topic_id=topic.topic_id, partition_responses=answers
            )
        )
    if acks == 0:
        return None
    return pending.complete(ProduceResponse(responses=responses))


class _PendingProduce:
    """Counts the partitions of one request that are not safe yet."""

    __slots__ = ("_deferred", "_response", "_waiting", "answers", "deadline_ms")

    def __init__(self, deadline_ms: int) -> None:
        self.deadline_ms = deadline_ms
        self.answers: dict[Hosted, PartitionProduceResponse] = {}
        self._waiting = 0
        self._response: ProduceResponse | None = None
        self._deferred: Deferred[ProduceResponse] = Deferred()

    def add(self, hosted: Hosted, answer: PartitionProduceResponse) -> None:
        self.answers[hosted] = answer
        self._waiting += 1

    def done(self, hosted: Hosted, appended: Appended, error: ApiError | None) -> None:
        del appended
        if error is not None:
            _fill_error(self.answers[hosted], error)
        self._waiting -= 1
        if not self._waiting and self._response is not None:
            self._deferred.resolve(self._response)

    def complete(self, response: ProduceResponse) -> Deferred[ProduceResponse]:
        self._response = response
        if not self._waiting:
            self._deferred.resolve(response)
        return self._deferred


def _append(
    broker: Broker,
    hosted: Hosted,
    records: Buffer | None,
    acks: int,
    answer: PartitionProduceResponse,
    pending: _PendingProduce,
    version: int,
    now_ms: int,
) -> None:
    if hosted in pending.answers:
        raise ApiError(ErrorCode.INVALID_REQUEST, "one request names a partition twice")
    hosted.replica.check_may_append(acks)
    batch = validate_produced(records, hosted.policy, now_ms, api_version=version)
    if batch.is_transactional:
        raise ApiError(
            ErrorCode.INVALID_TXN_STATE,
            "transactions are not served by this broker",
        )
    appended = hosted.append(batch, now_ms=now_ms)
    broker.stats.produced(hosted.topic, batch.size_bytes, batch.record_count)
    answer.base_offset = appended.base_offset
    answer.log_append_time_ms = appended.log_append_time_ms
    answer.log_start_offset = hosted.log.log_start_offset
    broker.partitions.touched(hosted)
    if acks:
        pending.add(hosted, answer)
        hosted.wait(appended, acks, pending, pending.deadline_ms)


def _request_error(request: ProduceRequest, acks: int) -> ApiError | None:
    if acks not in _ACKS:
        return ApiError(ErrorCode.INVALID_REQUIRED_ACKS, f"acks is 0, 1 or -1 (all), not {acks}")
    if request.transactional_id is not None:
        return ApiError(
            ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
            "transactions are not served by this broker",
        )
    return None


def _fill_error(answer: PartitionProduceResponse, error: ApiError) -> None:
    answer.error_code = error.code
    answer.error_message = error.message
    answer.base_offset = NO_OFFSET
    answer.log_append_time_ms = NO_TIMESTAMP
    if isinstance(error, InvalidRecords):
        answer.record_errors = [
            BatchIndexAndErrorMessage(batch_index=index, batch_index_error_message=message)
            for index, message in error.records
        ]


HANDLER = Handler(api=API_BY_KEY[0], version_min=0, version_max=13, serve=serve, mutes=False)
