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

Create = Callable[[CreateTopicsRequest], Deferred[CreateTopicsResponse | ApiError]]
"""Submits a creation to the controller."""

BROKER_DEFAULT: Final = -1


@final
class OwnTopics:
    """Creates topics on behalf of clients that only asked for metadata, and the offsets topic."""

    def __init__(
        self, config: BrokerConfig, image: Callable[[], MetadataImage], create: Create
    ) -> None:
        self._config = config
        self._image = image
        self._create = create
        self._offsets_topic: list[Deferred[ApiError | None]] = []

    # -- what the group coordinator asks ----------------------------------------------------

    def partition_count(self) -> int:
        """Partitions of the offsets topic, 0 while it does not exist."""
        topic = self._image().topic(OFFSETS_TOPIC)
        return 0 if topic is None else len(topic.partitions)

    def leader_of(self, index: int) -> int:
        """The node that leads that partition of the offsets topic, -1 when nobody does."""
        partition = self._image().partition(OFFSETS_TOPIC, index)
        return -1 if partition is None else partition.leader

    def create(self) -> Deferred[ApiError | None]:
        """Create the offsets topic, once for everybody who waits for it."""
        answer: Deferred[ApiError | None] = Deferred()
        self._offsets_topic.append(answer)
        if len(self._offsets_topic) == 1:
            self._create(CreateTopicsRequest(topics=[self._offsets_topic_spec()])).then(
                self._offsets_topic_created
            )
        return answer

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
                self._offsets_topic_spec()
                if name == OFFSETS_TOPIC
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

    def _offsets_topic_spec(self) -> CreatableTopic:
        configs = {
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": str(self._config.offsets_topic_segment_bytes),
        }
        return CreatableTopic(
            name=OFFSETS_TOPIC,
            num_partitions=self._config.offsets_topic_partitions,
            replication_factor=BROKER_DEFAULT,
            configs=[
                CreatableTopicConfig(name=name, value=value) for name, value in configs.items()
            ],
        )

    def _offsets_topic_created(self, response: CreateTopicsResponse | ApiError) -> None:
        waiting, self._offsets_topic = self._offsets_topic, []
        if isinstance(response, ApiError):
            error: ApiError | None = ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE, str(response))
        else:
            code = response.topics[0].error_code
            good = code in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)
            error = None if good else ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        for answer in waiting:
            answer.resolve(error)
