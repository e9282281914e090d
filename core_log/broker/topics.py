"""Topics that the broker creates of its own accord, and what others must know of topics."""

from collections.abc import Callable, Sequence
from typing import Final, final

from ..controller.image import MetadataImage
from ..controller.names import topic_name_error
from ..kernel.errors import ApiError, ErrorCode, error_code
from ..kernel.ids import NO_TOPIC_ID
from ..protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from .config import BrokerConfig
from .deferred import Deferred
from .groups import OFFSETS_TOPIC
from .transactions import TRANSACTIONS_TOPIC

Create = Callable[[CreateTopicsRequest], Deferred[CreateTopicsResponse | ApiError]]
"""Submits a creation to the controller."""

BROKER_DEFAULT: Final = -1


@final
class InternalTopic:
    """A topic that a coordinator keeps its records in, made when it is first needed."""

    def __init__(
        self, spec: CreatableTopic, image: Callable[[], MetadataImage], create: Create
    ) -> None:
        self.spec: Final = spec
        self._image = image
        self._create = create
        self._waiting: list[Deferred[ApiError | None]] = []

    @property
    def name(self) -> str:
        return self.spec.name

    def partition_count(self) -> int:
        """0 while the topic does not exist."""
        topic = self._image().topic(self.name)
        return 0 if topic is None else len(topic.partitions)

    def leader_of(self, index: int) -> int:
        """The node that leads that partition, -1 when nobody does."""
        partition = self._image().partition(self.name, index)
        return -1 if partition is None else partition.leader

    def ensure(self) -> Deferred[ApiError | None]:
        """Resolved once the topic exists, with the reason when it cannot; created only once."""
        answer: Deferred[ApiError | None] = Deferred()
        if self.partition_count():
            answer.resolve(None)
            return answer
        self._waiting.append(answer)
        if len(self._waiting) == 1:
            self._create(CreateTopicsRequest(topics=[self.spec])).then(self._created)
        return answer

    def _created(self, response: CreateTopicsResponse | ApiError) -> None:
        waiting, self._waiting = self._waiting, []
        if isinstance(response, ApiError):
            error: ApiError | None = ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE, str(response))
        else:
            code = response.topics[0].error_code
            good = code in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)
            error = None if good else ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        for answer in waiting:
            answer.resolve(error)


@final
class OwnTopics:
    """Creates topics on behalf of clients that only asked for metadata, and knows the internal."""

    def __init__(
        self, config: BrokerConfig, image: Callable[[], MetadataImage], create: Create
    ) -> None:
        self._image = image
        self._create = create
        self.offsets: Final = InternalTopic(_offsets_topic(config), image, create)
        self.transactions: Final = InternalTopic(_transactions_topic(config), image, create)
        self._internal = {topic.name: topic for topic in (self.offsets, self.transactions)}

    # -- what the group coordinator asks ----------------------------------------------------

    def name_of(self, topic_id: bytes) -> str | None:
        topic = self._image().topic_by_id(topic_id)
        return None if topic is None else topic.name

    def id_of(self, name: str) -> bytes | None:
        topic_id = self._image().topic_id(name)
        return None if topic_id == NO_TOPIC_ID else topic_id

    def exists(self, name: str, partition: int) -> bool:
        return self._image().partition(name, partition) is not None

    # -- what the metadata handler asks -----------------------------------------------------

    def auto_create(self, names: Sequence[str]) -> Deferred[dict[str, ApiError]]:
        """Create topics with the broker's defaults; the errors by topic, once that is decided."""
        errors = {name: error for name in names if (error := topic_name_error(name)) is not None}
        wanted = [name for name in dict.fromkeys(names) if name not in errors]
        request = CreateTopicsRequest(
            topics=[
                self._internal[name].spec
                if name in self._internal
                else CreatableTopic(
                    name=name,
                    num_partitions=BROKER_DEFAULT,
                    replication_factor=BROKER_DEFAULT,
                )
                for name in wanted
            ]
        )

        def settled(response: CreateTopicsResponse | ApiError) -> dict[str, ApiError]:
            if isinstance(response, ApiError):
                return errors | dict.fromkeys(wanted, response)
            for topic in response.topics:
                if topic.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
                    errors[topic.name] = ApiError(error_code(topic.error_code), topic.error_message)
            return errors

        return self._create(request).map(settled)


def _offsets_topic(config: BrokerConfig) -> CreatableTopic:
    return _compacted(
        OFFSETS_TOPIC,
        partition_count=config.offsets_topic_partitions,
        configs={
            "compression.type": "producer",
            "segment.bytes": str(config.offsets_topic_segment_bytes),
        },
    )


def _transactions_topic(config: BrokerConfig) -> CreatableTopic:
    return _compacted(
        TRANSACTIONS_TOPIC,
        partition_count=config.transactions_topic_partitions,
        configs={
            "compression.type": "uncompressed",
            "min.insync.replicas": str(config.transactions_topic_min_isr),
            "segment.bytes": str(config.transactions_topic_segment_bytes),
            "unclean.leader.election.enable": "false",
        },
    )


def _compacted(name: str, *, partition_count: int, configs: dict[str, str]) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partition_count,
        replication_factor=BROKER_DEFAULT,
        configs=[
            CreatableTopicConfig(name=key, value=value)
            for key, value in {"cleanup.policy": "compact", **configs}.items()
        ],
    )
