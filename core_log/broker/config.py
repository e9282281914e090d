"""What a broker is told at its start, as values; the server builds it from settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..kernel.limits import DECODE_ELEMENTS_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where clients of one listener connect to."""

    listener: str
    host: str
    port: int
    security_protocol: str = "PLAINTEXT"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerConfig:
    """Static settings of one node. Times in milliseconds, sizes in bytes."""

    node_id: int
    rack: str | None = None
    advertised: tuple[Endpoint, ...] = ()
    static_configs: Mapping[str, str] = field(default_factory=dict)
    """Kafka broker configs given at the start, by name: topic defaults and what tools ask for."""
    auto_create_topics: bool = True
    num_partitions: int = 1
    default_replication_factor: int = 1
    offsets_topic_partitions: int = 50
    offsets_topic_segment_bytes: int = 100 * 1024 * 1024
    transactions_topic_partitions: int = 50
    transactions_topic_segment_bytes: int = 100 * 1024 * 1024
    transactions_topic_min_isr: int = 2
    fetch_bytes_max: int = 55 * 1024 * 1024
    unread_bytes_max: int = 512 * 1024 * 1024
    """Answers held for peers that do not read them before fetches get no records any more."""
    fetch_sessions_max: int = 1000
    request_elements_max: int = DECODE_ELEMENTS_MAX
    delete_topic_enable: bool = True
