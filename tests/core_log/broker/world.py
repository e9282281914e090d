"""A broker in memory with one client, in the words of these tests."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from headwater.core_log.broker.partitions import Hosted
from headwater.core_log.kernel.errors import ErrorCode
from headwater.core_log.protocol.apis import API_BY_KEY
from headwater.core_log.protocol.messages.create_topics import CreateTopicsResponse
from headwater.core_log.protocol.messages.fetch import FetchResponse, PartitionData
from headwater.core_log.protocol.messages.incremental_alter_configs import (
    IncrementalAlterConfigsResponse,
)
from headwater.core_log.protocol.messages.init_producer_id import InitProducerIdResponse
from headwater.core_log.protocol.messages.list_offsets import ListOffsetsResponse
from headwater.core_log.protocol.messages.produce import PartitionProduceResponse, ProduceResponse
from headwater.core_log.protocol.schema import Message
from headwater.core_log.testing import requests
from headwater.core_log.testing.local_broker import LocalBroker, LocalConnection

M = TypeVar("M", bound=Message)

TOPIC = "t"
PRODUCE, FETCH = 13, 18


class World:
    """A running broker, restarted at will, and the client of the test."""

    def __init__(
        self, *, seed: int = 0, configs: Mapping[str, str] | None = None, topic: bool = True
    ) -> None:
        self.broker = LocalBroker(seed=seed, configs=configs)
        self.broker.start()
        self.broker.settle()
        self.client = self.broker.connect()
        if topic:
            self.create(TOPIC)

    @property
    def now_ms(self) -> int:
        return self.broker.clock.now_ms()

    def reopened(self, how: Callable[[], None]) -> LocalConnection:
        """End the broker by *how*, start it again and connect."""
        how()
        self.broker.start()
        self.broker.settle()
        self.client = self.broker.connect()
        return self.client

    def ask(self, request: Message, response_class: type[M], version: int | None = None) -> M:
        newest = API_BY_KEY[request.API_KEY].versions.last
        return self.client.ask(
            request, response_class, version=newest if version is None else version
        )

    def create(
        self, name: str, *, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> None:
        request = requests.create_topic(name, partitions=partitions, configs=configs)
        for result in self.ask(request, CreateTopicsResponse).topics:
            assert result.error_code == ErrorCode.NONE, result

    def alter(self, name: str, **configs: str | None) -> None:
        """Topic configurations; write ``_`` for ``.``."""
        dotted = {key.replace("_", "."): value for key, value in configs.items()}
        answer = self.ask(requests.alter_topic(name, dotted), IncrementalAlterConfigsResponse)
        assert answer.responses[0].error_code == ErrorCode.NONE, answer

    def topic_id(self, name: str = TOPIC) -> bytes:
        return self.broker.running.image.topics[name].topic_id

    def hosted(self, name: str = TOPIC, index: int = 0) -> Hosted:
        return self.broker.running.hosted_by_name(name, index)

    def batch(self, *values: str, producer_id: int = -1, sequence: int = 0) -> bytearray:
        return requests.batch_of(
            values or ("v",), now_ms=self.now_ms, producer_id=producer_id, sequence=sequence
        )

    def produce_request(self, batch: bytearray, *, acks: int = -1, topic: str = TOPIC) -> Message:
        return requests.produce(topic, self.topic_id(topic), {0: batch}, acks=acks)

    def produce(
        self, *values: str, acks: int = -1, topic: str = TOPIC, version: int = PRODUCE
    ) -> PartitionProduceResponse:
        return self.produce_batch(self.batch(*values), acks=acks, topic=topic, version=version)

    def produce_batch(
        self, batch: bytearray, *, acks: int = -1, topic: str = TOPIC, version: int = PRODUCE
    ) -> PartitionProduceResponse:
        request = self.produce_request(batch, acks=acks, topic=topic)
        answer = self.ask(request, ProduceResponse, version)
        return answer.responses[0].partition_responses[0]

    def producer_id(self) -> int:
        return self.ask(requests.new_producer_id(), InitProducerIdResponse, 5).producer_id

    def fetch(
        self,
        offset: int = 0,
        *,
        topic: str = TOPIC,
        version: int = FETCH,
        partition_max_bytes: int = 1024 * 1024,
        max_bytes: int = 1024 * 1024,
        leader_epoch: int = -1,
        last_fetched_epoch: int = -1,
        read_committed: bool = False,
    ) -> PartitionData:
        """What partition 0 has now."""
        request = requests.fetch(
            topic,
            self.topic_id(topic),
            {0: offset},
            partition_max_bytes=partition_max_bytes,
            max_bytes=max_bytes,
            leader_epoch=leader_epoch,
            last_fetched_epoch=last_fetched_epoch,
            read_committed=read_committed,
        )
        return self.ask(request, FetchResponse, version).responses[0].partitions[0]

    def read(self, topic: str = TOPIC, offset: int | None = None) -> list[str]:
        """The values from an offset, or from the log's start, up to its end."""
        start = self.hosted(topic).log.log_start_offset if offset is None else offset
        values: list[str] = []
        while records := list(requests.records_of(self.fetch(start, topic=topic).records)):
            values += [
                (record.value or b"").decode() for record in records if record.offset >= start
            ]
            start = records[-1].offset + 1
        return values

    def offset_at(self, timestamp: int, topic: str = TOPIC) -> int:
        answer = self.ask(requests.list_offset(topic, 0, timestamp), ListOffsetsResponse, 11)
        return answer.topics[0].partitions[0].offset

    def unhandled(self) -> list[dict[str, object]]:
        return [facts for event, facts in self.broker.notes if event == "unhandled_error"]
