"""What groups must know of topics: a port that the broker fills from its metadata image."""

from typing import Protocol


class TopicNames(Protocol):
    """The topics of this moment. Answers may change between two steps, never within one."""

    def name_of(self, topic_id: bytes) -> str | None:
        """The name of the topic with this id, None when there is none."""
        ...

    def id_of(self, name: str) -> bytes | None:
        """The sixteen bytes of the id of the topic with this name, None when there is none."""
        ...

    def exists(self, name: str, partition: int) -> bool:
        """Whether the topic has this partition."""
        ...
