"""Admin operations as pure functions: the image and a request in, records and a response out.

Each function decides one operation (``create_topics`` … in the modules beside this one). It changes
nothing: the controller proposes the records, and the response leaves when they are committed.
Requests and responses are the wire's own messages, so that a request forwarded by another broker
takes the same way. Error codes and messages follow Apache Kafka 4.3.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from ..protocol.metadata import MetadataRecord

R = TypeVar("R")

RECORDS_MAX: Final = 10_000
"""Records one operation may write; Kafka's bound too, so that one batch holds them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Generic[R]):
    """What an operation comes to: records to commit, then the response to send."""

    records: tuple[MetadataRecord, ...] = ()
    response: R


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerConfig:
    """Static settings that operations depend on."""

    num_partitions: int = 1
    default_replication_factor: int = 1
    delete_topic_enable: bool = True
    static_configs: Mapping[str, str] = field(default_factory=dict)
    """Broker configs as given at the start, by Kafka's names."""
