"""Produce (key 0), versions 3-13; 0-2 are listed and refused.

Versions 0-2 stay in the advertised range because older librdkafka takes their absence for a broker
without compression (KAFKA-18659). acks=0 gets no answer: an error closes the connection instead,
as in Kafka. acks=1 is answered once the batch is in the file, acks=all once it is on disk.

A batch of a transaction is let in by the transaction's coordinator first (see ``admission``); until
then the connection's later requests keep their place behind it.
"""

from collections.abc import Mapping
from typing import Final

from ...kernel.errors import ApiError, ErrorCode
from ...kernel.ids import NO_OFFSET, NO_TIMESTAMP
from ...kernel.ports import Buffer
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from ...records.batch import Batch, CorruptBatch, read_batch
from ...records.validate import InvalidRecords, admit, read_produced
from ...storage.log import Appended
from ..admission import Admitted, produce_support
from ..admission import admit as admit_to_transaction
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..describe import INTERNAL_TOPICS
from ..handler import Handler
from ..partitions import ACKS_ALL, Hosted
from ..session import ProtocolViolation

_ACKS: Final = (0, 1, ACKS_ALL)
IDS_SINCE: Final = 13
EPOCH_RAISED_SINCE: Final = 12
"""The version whose sender speaks transaction version 2."""
_NOT_YET: Final = (
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.NETWORK_EXCEPTION,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)
"""Answers of a coordinator that pass; NOT_ENOUGH_REPLICAS makes every producer send again."""


def serve(broker: Broker, request: ProduceRequest, call: Call) -> Deferred[ProduceResponse] | None:
    """Append every partition's batch; the answer comes when the last of them is safe."""
    if request.transactional_id is not None:
        return _serve_transaction(broker, request, call, request.transactional_id)
    if _request_error(request) is None:
        topics = request.topic_data
        if request.acks and len(topics) == 1 and len(topics[0].partition_data) == 1:
            return _serve_one(broker, request, call.api_version)
    return _serve_many(broker, request, call.api_version)


class _OneAppend(Deferred[ProduceResponse]):
    """The answer to a request with one batch, which is what busy producers send."""

    __slots__ = ("answer", "topic")

    def __init__(self, topic: TopicProduceData, answer: PartitionProduceResponse) -> None:
        super().__init__()
        self.topic = topic
        self.answer = answer

    def done(self, hosted: Hosted, appended: Appended, error: ApiError | None) -> None:
        del hosted, appended
        self.settle(error)

    def settle(self, error: ApiError | None) -> None:
        if error is not None:
            _fill_error(self.answer, error)
        topic = TopicProduceResponse(
            name=self.topic.name,
            topic_id=self.topic.topic_id,
            partition_responses=[self.answer],
        )
        self.resolve(ProduceResponse(responses=[topic]))


def _serve_one(broker: Broker, request: ProduceRequest, version: int) -> Deferred[ProduceResponse]:
    topic = request.topic_data[0]
    data = topic.partition_data[0]
    answer = PartitionProduceResponse(index=data.index, base_offset=NO_OFFSET)
    waiting = _OneAppend(topic, answer)
    try:
        hosted = broker.hosted(topic.name, topic.topic_id, data.index, by_id=version >= IDS_SINCE)
        appended = _append(broker, hosted, data.records, request.acks, answer, version, None)
    except ApiError as error:
        waiting.settle(error)
    else:
        hosted.wait(
            appended, request.acks, waiting, broker.clock.monotonic_ms() + request.timeout_ms
        )
    return waiting


def _serve_transaction(
    broker: Broker, request: ProduceRequest, call: Call, transactional_id: str
) -> Deferred[ProduceResponse] | None:
    """Append within the producer's transaction, once its coordinator knows all partitions."""
    producers = _transactional_producers(broker, request, call.api_version)
    if len(set(producers.values())) != 1:
        # No such batch, or of several producers, which no client sends.
        codes = dict.fromkeys(
            ((hosted.topic, hosted.index) for hosted in producers),
            ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        )
        return _serve_many(broker, request, call.api_version, codes)
    producer_id, producer_epoch = next(iter(producers.values()))
    admission = admit_to_transaction(
        broker,
        transactional_id=transactional_id,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        partitions=list(producers),
        support=produce_support(call.api_version),
        call=call,
    )
    answer: Deferred[ProduceResponse] = Deferred()
    session = call.session
    session.hold()

    def append(admitted: Admitted) -> None:
        try:
            appended = _serve_many(broker, request, call.api_version, admitted)
            if appended is not None:
                appended.then(answer.resolve)
        except ProtocolViolation as violation:
            session.close(str(violation))
        finally:
            session.release()

    admission.then(append)
    return answer if request.acks else None


def _transactional_producers(
    broker: Broker, request: ProduceRequest, version: int
) -> Mapping[Hosted, tuple[int, int]]:
    """Producer id and epoch of every transactional batch, as far as it can be appended at all."""
    producers: dict[Hosted, tuple[int, int]] = {}
    for topic in request.topic_data:
        for data in topic.partition_data:
            try:
                hosted = broker.hosted(
                    topic.name, topic.topic_id, data.index, by_id=version >= IDS_SINCE
                )
                batch = read_batch(data.records or b"")
            except (ApiError, CorruptBatch):
                continue  # refused when it is to be appended
            if batch.is_transactional:
                producers[hosted] = (batch.producer_id, batch.producer_epoch)
    return producers


def _serve_many(
    broker: Broker, request: ProduceRequest, version: int, admitted: Admitted | None = None
) -> Deferred[ProduceResponse] | None:
    pending = _PendingProduce()
    acks = request.acks
    refusal = _request_error(request)
    deadline_ms = broker.clock.monotonic_ms() + request.timeout_ms
    responses: list[TopicProduceResponse] = []
    for topic in request.topic_data:
        answers: list[PartitionProduceResponse] = []
        for data in topic.partition_data:
            answer = PartitionProduceResponse(index=data.index, base_offset=NO_OFFSET)
            answers.append(answer)
            try:
                if refusal is not None:
                    raise refusal
                hosted = broker.hosted(
                    topic.name, topic.topic_id, data.index, by_id=version >= IDS_SINCE
                )
                if hosted in pending.answers:
                    raise ApiError(ErrorCode.INVALID_REQUEST, "one request names a partition twice")
                appended = _append(broker, hosted, data.records, acks, answer, version, admitted)
                if acks:
                    pending.add(hosted, answer)
                    hosted.wait(appended, acks, pending, deadline_ms)
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

    __slots__ = ("_deferred", "_response", "_waiting", "answers")

    def __init__(self) -> None:
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
    version: int,
    admitted: Admitted | None,
) -> Appended:
    hosted.replica.check_may_append(acks)
    if hosted.topic in INTERNAL_TOPICS:
        raise ApiError(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"Cannot append to internal topic {hosted.topic}: only its coordinator does",
        )
    batch = read_produced(records, hosted.policy, api_version=version)
    if batch.is_transactional:
        _check_admitted(hosted, admitted)
    # From here on Kafka names the log start also beside errors.
    answer.log_start_offset = hosted.log.log_start_offset
    now_ms = broker.clock.now_ms()
    batch = admit(batch, hosted.policy, now_ms)
    if batch.is_transactional and version >= EPOCH_RAISED_SINCE and batch.base_sequence > 0:
        _check_first(hosted, batch)
    appended = hosted.append(batch, now_ms=now_ms)
    broker.stats.produced(hosted.topic, batch.size_bytes, batch.record_count)
    answer.base_offset = appended.base_offset
    answer.log_append_time_ms = appended.log_append_time_ms
    broker.partitions.touched(hosted)
    return appended


def _request_error(request: ProduceRequest) -> ApiError | None:
    if request.acks not in _ACKS:
        return ApiError(
            ErrorCode.INVALID_REQUIRED_ACKS, f"acks is 0, 1 or -1 (all), not {request.acks}"
        )
    return None


def _check_admitted(hosted: Hosted, admitted: Admitted | None) -> None:
    """Raises ApiError unless the batch's transaction may write to the partition."""
    if admitted is None:
        raise ApiError(
            ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
            "the batch is transactional and the request names no transactional id",
        )
    # A partition that came only while the coordinator was asked is asked for the next time.
    code = admitted.get((hosted.topic, hosted.index), ErrorCode.CONCURRENT_TRANSACTIONS)
    if code in _NOT_YET:
        raise ApiError(
            ErrorCode.NOT_ENOUGH_REPLICAS,
            f"the transaction coordinator cannot let the batch in now: {code.name}",
        )
    if code is ErrorCode.INVALID_TXN_STATE:
        raise ApiError(code, "Partition was not added to the transaction")
    if code is not ErrorCode.NONE:
        raise ApiError(code)


def _check_first(hosted: Hosted, batch: Batch) -> None:
    """Raises OUT_OF_ORDER_SEQUENCE_NUMBER when the batches before this one are missing.

    Every transaction of version 2 begins at sequence 0, and while it is open the log remembers its
    producer (KIP-890). With older ones a log that has forgotten a producer takes any sequence.
    """
    if not hosted.log.knows_producer(batch.producer_id):
        raise ApiError(
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            f"producer {batch.producer_id} is new here and begins at sequence "
            f"{batch.base_sequence}; a transaction begins at 0",
        )


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
