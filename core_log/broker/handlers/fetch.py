"""Fetch (key 1), versions 4-18.

Record batches leave as they are stored: the first batch of the first partition always whole, the
last one of an answer possibly cut, as clients expect (KIP-74). A partition is read up to its high
watermark, or its last stable offset for ``read_committed``. Topics go by id from version 13
(KIP-516); epochs are checked as KIP-320 asks and divergence is answered from version 12.
"""

from collections.abc import Sequence
from typing import final

from ...kernel.errors import ApiError, ErrorCode
from ...kernel.ids import NO_OFFSET
from ...protocol.apis import API_BY_KEY
from ...protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from ...storage.log import LogSlice
from ..broker import Broker
from ..call import Call
from ..deferred import Deferred
from ..handler import Handler
from ..partitions import Hosted
from ..purgatory import ParkedFetch

READ_COMMITTED = 1
_UNKNOWN = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID)
"""Kafka answers these with an empty list of aborted transactions, other errors with none."""


def serve(
    broker: Broker, request: FetchRequest, call: Call
) -> FetchResponse | Deferred[FetchResponse]:
    """Read what is there; wait for more when it is less than the client asked to wait for."""
    if request.session_epoch > 0:  # sessions are not kept, so none can be continued
        return FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND, responses=[])
    fetch = _Fetch(broker, request, call.api_version)
    replica_id = request.replica_id if call.api_version < 15 else request.replica_state.replica_id
    if replica_id >= 0:
        return fetch.refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    if fetch.attempt(last=request.max_wait_ms <= 0):
        return fetch.result
    deadline_ms = broker.clock.monotonic_ms() + request.max_wait_ms
    parked = ParkedFetch(
        lambda last: fetch.attempt(last=last), fetch.watched, broker.timers, deadline_ms=deadline_ms
    )
    call.session.on_disconnect = parked.abandon
    return fetch.result


@final
class _Fetch:
    """One fetch request and its (repeated) attempts to answer it."""

    __slots__ = ("_broker", "_request", "_version", "result", "watched")

    def __init__(self, broker: Broker, request: FetchRequest, version: int) -> None:
        self._broker = broker
        self._request = request
        self._version = version
        self.result: Deferred[FetchResponse] = Deferred()
        self.watched: list[Hosted] = []

    def attempt(self, *, last: bool) -> bool:
        """Answer if there is enough to answer with, or if this is the *last* attempt."""
        request = self._request
        broker = self._broker
        bytes_left = min(request.max_bytes, broker.config.fetch_bytes_max)
        # Peers that ask for records and do not read them must not fill the memory: beyond the
        # bound everybody waits its time and gets none.
        is_tight = broker.unread_bytes() > broker.config.unread_bytes_max
        found_bytes = 0
        has_error = False
        self.watched = watched = []
        slices: list[tuple[PartitionData, LogSlice]] = []
        responses: list[FetchableTopicResponse] = []
        for topic in request.topics:
            parts: list[PartitionData] = []
            for asked in topic.partitions:
                data, hosted, piece = self._read(
                    topic,
                    asked,
                    0 if is_tight else bytes_left - found_bytes,
                    at_least_one=not (found_bytes or is_tight),
                )
                parts.append(data)
                if hosted is not None:
                    watched.append(hosted)
                if piece is not None and piece.size_bytes:
                    found_bytes += piece.size_bytes
                    slices.append((data, piece))
                # A divergence is an answer of its own, as urgent as an error.
                has_error |= data.error_code != 0 or data.diverging_epoch.epoch >= 0
            responses.append(
                FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id, partitions=parts)
            )
        enough = found_bytes >= request.min_bytes or has_error or not responses
        if not (enough or last):
            return False
        self._load(slices, FetchResponse(responses=responses))
        return True

    def refused(self, code: ErrorCode) -> FetchResponse:
        """Every partition of the request with one error."""
        return FetchResponse(
            responses=[
                FetchableTopicResponse(
                    topic=topic.topic,
                    topic_id=topic.topic_id,
                    partitions=[_error(asked.partition, code) for asked in topic.partitions],
                )
                for topic in self._request.topics
            ]
        )

    def _read(
        self, topic: FetchTopic, asked: FetchPartition, bytes_left: int, *, at_least_one: bool
    ) -> tuple[PartitionData, Hosted | None, LogSlice | None]:
        broker = self._broker
        try:
            hosted = broker.hosted(
                topic.topic, topic.topic_id, asked.partition, by_id=self._version >= 13
            )
            hosted.replica.check_leader_epoch(asked.current_leader_epoch)
            if hosted.offline_reason is not None:
                raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, hosted.offline_reason)
            diverging = _divergence(hosted, asked)
            high_watermark = hosted.high_watermark
            data = PartitionData(
                partition_index=asked.partition,
                high_watermark=high_watermark,
                last_stable_offset=hosted.last_stable_offset,
                log_start_offset=hosted.log.log_start_offset,
                aborted_transactions=None,
                records=b"",
            )
            if diverging is not None:
                data.diverging_epoch = diverging
                return data, hosted, None
            committed_only = self._request.isolation_level == READ_COMMITTED
            end_offset = data.last_stable_offset if committed_only else high_watermark
            # From the end offset on, up to the end of the log, there is nothing to read *yet*.
            piece = hosted.log.read(
                asked.fetch_offset,
                bytes_max=max(0, min(asked.partition_max_bytes, bytes_left)),
                end_offset=end_offset,
                at_least_one=at_least_one,
            )
            if committed_only:
                read_end = min(piece.end_offset, end_offset)
                data.aborted_transactions = [
                    AbortedTransaction(
                        producer_id=entry.producer_id, first_offset=entry.first_offset
                    )
                    for entry in hosted.log.aborted_transactions(asked.fetch_offset, read_end)
                    if read_end > asked.fetch_offset
                ]
        except ApiError as error:
            return _error(asked.partition, error.code), None, None
        return data, hosted, piece

    def _load(
        self, slices: Sequence[tuple[PartitionData, LogSlice]], response: FetchResponse
    ) -> None:
        """Put the bytes in: from the page cache at once, otherwise by way of the disk threads."""
        cold: list[tuple[PartitionData, LogSlice]] = []
        for data, piece in slices:
            records = piece.read_cached()
            if records is None:
                cold.append((data, piece))
            else:
                data.records = records
                self._broker.stats.fetched(len(records))
        if cold:
            self._broker.disk.read(
                [piece for _, piece in cold],
                lambda results: self._loaded(cold, results, response),
            )
        else:
            self.result.resolve(response)

    def _loaded(
        self,
        cold: list[tuple[PartitionData, LogSlice]],
        results: list[bytes | OSError],
        response: FetchResponse,
    ) -> None:
        for (data, _), result in zip(cold, results, strict=True):
            if isinstance(result, bytes):
                data.records = result
                self._broker.stats.fetched(len(result))
            else:
                data.error_code = ErrorCode.KAFKA_STORAGE_ERROR
        self.result.resolve(response)


def _divergence(hosted: Hosted, asked: FetchPartition) -> EpochEndOffset | None:
    """Where the client's history parts from the log's (KIP-595), None when it does not."""
    if asked.last_fetched_epoch < 0:
        return None
    epoch, end_offset = hosted.log.end_offset_for_epoch(asked.last_fetched_epoch)
    if epoch < 0 or end_offset < 0:
        raise ApiError(ErrorCode.OFFSET_OUT_OF_RANGE)
    if epoch < asked.last_fetched_epoch or end_offset < asked.fetch_offset:
        return EpochEndOffset(epoch=epoch, end_offset=end_offset)
    return None


def _error(partition: int, code: ErrorCode) -> PartitionData:
    return PartitionData(
        partition_index=partition,
        error_code=code,
        high_watermark=NO_OFFSET,
        aborted_transactions=[] if code in _UNKNOWN else None,
        records=b"",
    )


HANDLER = Handler(api=API_BY_KEY[1], version_min=4, version_max=18, serve=serve)
